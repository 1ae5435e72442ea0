"""The strategic store as files and back without loss; histories, restores and what an edited heuristic may not say."""

from __future__ import annotations

import hashlib
import tomllib
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from hypothesis import given
from hypothesis import strategies as st

from memory_app.actions.consolidate import consolidate
from memory_app.actions.restore_directive import restore_directive, write_directive
from memory_app.actions.store_strategy import get_strategy, render_strategy, store_strategy
from memory_app.actions.update_directive import update_directive
from memory_app.heuristic_text import apply_heuristics, list_heuristics, render_heuristics
from memory_app.json_text import dump_toml
from memory_app.models import Directive, Insight, Strategy
from memory_app.models.directive import Document
from memory_app.provenance import Provenance
from memory_app.strategy_files import export_files, import_files
from permits_app.approvals.second_factor import check_code
from tests import factories
from tests.memory_app.factories import NOW, make_golem, remember
from tests.permits_app.approvals.people import give_device, next_code
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry

GOOD: dict[str, Any] = {"prediction": {"a": "1000"}, "outcome": {"a": "1000", "succeeded": True}}
_TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=30)
_VALUES = st.recursive(
    st.integers(-(2**63) + 1, 2**63 - 1) | st.booleans() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_TEXT, _VALUES, max_size=4))
def test_any_parameters_come_back_from_toml_unchanged(values: dict[str, Any]) -> None:
    assert tomllib.loads(dump_toml(values)) == values


def fill(golem: Any) -> None:
    for document, text in (
        (Document.PLAYBOOK, "## Sizing\n\nHalf.\n\n## Ω\n\n- a\n- b"),
        (Document.STRATEGY, "## Aim\n\nCalm"),
    ):
        write_directive(golem_id=golem.pk, document=document, text=text, reason="x", actor="owner:1", now=NOW)
    for _ in range(5):
        remember(golem, f"swap {uuid.uuid4()}", permit_id=uuid.uuid4(), **GOOD)
    consolidate(golem_id=golem.pk, now=NOW)
    store_strategy(
        golem_id=golem.pk,
        name="eth-range",
        parameters={"width": "0.12", "steps": [1, 2]},
        description='Wide "range"',
        chains=[31337],
        token_pairs=["USDC/WETH"],
        now=NOW,
        provenance=Provenance("owner:1"),
    )


@pytest.mark.django_db
def test_files_read_back_unchanged_change_nothing_and_fill_another_golem_alike(tmp_path: Path) -> None:
    golem, heir = make_golem(), make_golem()
    fill(golem)
    paths = export_files(golem_id=golem.pk, folder=tmp_path, actor="owner:1", now=NOW)
    assert [path.name for path in paths] == ["PLAYBOOK.md", "STRATEGY.md", "HEURISTICS.toml", "eth-range.toml"]
    done = import_files(golem_id=golem.pk, folder=tmp_path, actor="owner:1", reason="back", now=NOW)
    assert (done.documents, done.heuristics, done.strategies) == (0, 0, 0)
    before = {path.name: path.read_bytes() for path in paths}
    done = import_files(golem_id=heir.pk, folder=tmp_path, actor="owner:1", reason="moved", now=NOW)
    assert (done.documents, done.heuristics, done.strategies) == (2, 1, 1)
    again = export_files(golem_id=heir.pk, folder=tmp_path / "again", actor="owner:1", now=NOW)
    assert {path.name: path.read_bytes() for path in again} == before


@pytest.mark.django_db
def test_the_command_writes_files_and_reads_them_back(tmp_path: Path, capsys: Any) -> None:
    golem = make_golem()
    fill(golem)
    give_device(golem.owner)
    owner, code = golem.owner.get_username(), next_code(golem.owner)
    call_command("strategic_files", "export", str(golem.pk), str(tmp_path), owner=owner, code=code)
    (tmp_path / "PLAYBOOK.md").write_text("## Sizing\n\nA quarter.\n")
    call_command("strategic_files", "import", golem.name, str(tmp_path))
    assert "1 documents, 0 heuristics and 0 strategies changed" in capsys.readouterr().out
    newest = Directive.objects.filter(golem=golem, document="PLAYBOOK").latest("version")
    assert (newest.version, "-Half." in newest.diff, "+A quarter." in newest.diff) == (2, True, True)


@pytest.mark.django_db
def test_strategies_leave_only_with_an_owners_code_and_the_audit_log_says_who_took_what(tmp_path: Path) -> None:
    golem, stranger = make_golem(), factories.make_owner(name="stranger")
    fill(golem)
    for person in (golem.owner, stranger):
        give_device(person)
    owner = golem.owner.get_username()
    used = next_code(golem.owner)
    check_code(user=golem.owner, code=used, now=clock.now())
    asked: list[dict[str, str]] = [
        {},
        {"owner": owner, "code": ""},
        {"owner": owner, "code": used},
        {"owner": "stranger", "code": next_code(stranger)},
        {"owner": "nobody", "code": "123456"},
    ]
    for signed in asked:
        with pytest.raises(CommandError):
            call_command("strategic_files", "export", str(golem.pk), str(tmp_path), **signed)
    assert list(tmp_path.iterdir()) == []
    assert not AuditEntry.objects.filter(event="StrategiesExported").exists()
    code = next_code(golem.owner)
    call_command("strategic_files", "export", str(golem.pk), str(tmp_path), owner=owner, code=code)
    [entry] = AuditEntry.objects.filter(golem_id=golem.pk, event="StrategiesExported")
    assert entry.actor == f"owner:{golem.owner.pk}"
    written = (tmp_path / "strategies" / "eth-range.toml").read_bytes()
    assert entry.data["files"]["strategies/eth-range.toml"] == hashlib.sha256(written).hexdigest()


@pytest.mark.django_db
def test_an_older_version_is_restored_as_a_new_one() -> None:
    golem = make_golem()
    for number in (1, 2):
        update_directive(
            golem_id=golem.pk, section="Sizing", change=f"Part {number}", reason="x", actor="key:1", now=NOW
        )
    first = Directive.objects.get(golem=golem, version=1)
    fresh = restore_directive(directive=first, reason="better", actor="owner:1", now=NOW)
    assert (fresh.version, fresh.text, fresh.reason) == (3, first.text, "better")
    assert restore_directive(directive=first, reason="again", actor="owner:1", now=NOW).version == 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("factor_bps = 9000", "factor_bps = 20000"),
        ("factor_bps = 9000", "factor_bps = 100"),
        ('parameter = "slippage_bps"', 'parameter = "recipient"'),
        ("confidence_percent = 60", "confidence_percent = 400"),
        ("chain_id = 31337", 'recipient = "0xbad"'),
        ("[[heuristic]]", "[[heuristic"),
    ],
)
def test_an_edited_heuristic_stays_inside_what_the_database_allows(old: str, new: str) -> None:
    golem = make_golem()
    fill(golem)
    text = render_heuristics(list_heuristics(golem_id=golem.pk))
    assert old in text
    before = list(Insight.objects.filter(golem=golem).order_by("pk").values())
    with pytest.raises(InvalidParams):
        apply_heuristics(golem_id=golem.pk, text=text.replace(old, new), actor="owner:1", reason="x", now=NOW)
    assert list(Insight.objects.filter(golem=golem).order_by("pk").values()) == before


@pytest.mark.django_db
def test_a_heuristic_left_out_is_archived_and_each_move_is_a_version() -> None:
    golem = make_golem()
    fill(golem)
    assert Directive.objects.get(golem=golem, document="HEURISTICS").version == 1
    assert apply_heuristics(golem_id=golem.pk, text="", actor="owner:1", reason="none", now=NOW) == 1
    assert Insight.objects.get(golem=golem, kind="HEURISTIC").archived_at == NOW
    for _ in range(5):
        remember(golem, f"swap {uuid.uuid4()}", permit_id=uuid.uuid4(), **GOOD)
    consolidate(golem_id=golem.pk, now=NOW + timedelta(hours=5))
    assert Insight.objects.get(golem=golem, kind="HEURISTIC").factor_bps == 9_000


@pytest.mark.django_db
def test_a_broken_file_changes_nothing_at_all(tmp_path: Path) -> None:
    golem = make_golem()
    fill(golem)
    export_files(golem_id=golem.pk, folder=tmp_path, actor="owner:1", now=NOW)
    (tmp_path / "PLAYBOOK.md").write_text("## Other\n\ntext\n")
    (tmp_path / "strategies" / "eth-range.toml").write_text("name = 1\n")
    with pytest.raises(InvalidParams):
        import_files(golem_id=golem.pk, folder=tmp_path, actor="owner:1", reason="x", now=NOW)
    assert Directive.objects.filter(golem=golem, document="PLAYBOOK").count() == 1
    assert Strategy.objects.filter(golem=golem).count() == 1
    found = get_strategy(golem_id=golem.pk, name="eth-range")
    assert found is not None and 'description = "Wide \\"range\\""' in render_strategy(found)

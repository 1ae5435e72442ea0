"""Archetypes as TOML: what goes out comes back in, and nothing malformed gets through."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.actions.export_archetypes import describe_archetype, export_archetypes
from archetypes_app.actions.import_archetypes import import_archetypes, read_archetype_files
from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.archetype_toml import MOST_BYTES, ArchetypeFile, parse_archetype, render_archetype
from archetypes_app.models import Archetype, Golem
from archetypes_app.models.archetype import ArchetypeCategory
from tests.archetypes_app.test_toolset import PROFILES
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry
from tools_app.toolkit.enums import Category

CATEGORIES = list(ArchetypeCategory.values)
GOOD = """
name = "my-trader"
description = "Trades"
category = "execution"
default_tier = "T2"
tool_categories = ["data", "trading"]
delegates_to = ["safety-guardian"]

[system_prompt]
role = "Trade."
safety_rules = ["Slowly."]

[tools]
profile = "trader,vault"
enable = ["get_quote"]
disable = ["uniswap_check_allowance"]
"""


def parse(text: str | bytes) -> ArchetypeFile:
    raw = text if isinstance(text, bytes) else text.encode()
    return parse_archetype(raw, source="f.toml", categories=CATEGORIES)


def write(folder: Path, *texts: str) -> Path:
    for index, text in enumerate(texts):
        (folder / f"{index}.toml").write_text(text)
    return folder


def bring(path: Path, *, owner: Any = None, replace: bool = False) -> tuple[Archetype, ...]:
    files = read_archetype_files(path)
    return import_archetypes(files=files, owner=owner, actor="test", now=clock.now(), replace_existing=replace)


def minimal(name: str, *lines: str) -> str:
    return "\n".join([f'name = "{name}"', 'category = "research"', *lines])


def test_profile_enable_and_disable_become_profiles_includes_and_excludes() -> None:
    file = parse(GOOD)
    assert file.profiles == ("trader", "vault")
    assert (file.includes, file.excludes) == (("get_quote",), ("uniswap_check_allowance",))


text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)


@given(
    description=text,
    role=text,
    rules=st.lists(text, max_size=3).map(tuple),
    categories=st.lists(st.sampled_from(sorted(Category)), unique=True, max_size=5).map(tuple),
    profiles=st.lists(st.sampled_from(sorted(PROFILES)), unique=True, max_size=3).map(tuple),
    is_terminal=st.booleans(),
)
def test_whatever_is_written_reads_back_the_same(
    description: str,
    role: str,
    rules: tuple[str, ...],
    categories: tuple[str, ...],
    profiles: tuple[str, ...],
    is_terminal: bool,
) -> None:
    file = ArchetypeFile(
        name="any",
        category="vault",
        description=description,
        role=role,
        safety_rules=rules,
        expertise=rules,
        tool_categories=categories,
        profiles=profiles,
        is_terminal=is_terminal,
        is_read_only=is_terminal,
    )
    assert parse(render_archetype(file)) == file


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GOOD + "\n[surprise]\nkey = 1\n", "INVALID_TOML"),
        (GOOD.replace("description", "descripion"), "INVALID_TOML"),
        (GOOD + '\nrole2 = "x"\n', "INVALID_TOML"),
        (GOOD.replace('["data", "trading"]', '["data", "tradin"]'), "UNKNOWN_CATEGORY"),
        (GOOD.replace('"execution"', '"executioner"'), "UNKNOWN_CATEGORY"),
        (GOOD.replace('"T2"', '"T9"'), "INVALID_TOML"),
        (GOOD.replace('"my-trader"', '"My Trader"'), "INVALID_TOML"),
        (GOOD.replace('"my-trader"', '"../../etc/passwd"'), "INVALID_TOML"),
        (GOOD.replace('"my-trader"', "7"), "INVALID_TOML"),
        (GOOD.replace('["safety-guardian"]', '"safety-guardian"'), "INVALID_TOML"),
        (GOOD + 'name = "twice"', "INVALID_TOML"),
        ("name = ", "INVALID_TOML"),
        ("", "INVALID_TOML"),
        (b"name = '\xff'", "INVALID_TOML"),
        ("x = " + "[" * 1_000_000, "INVALID_TOML"),
        ("x = " + "[" * (MOST_BYTES - 10), "INVALID_TOML"),
        ("x = " + "{a=" * (MOST_BYTES // 3 - 10), "INVALID_TOML"),
        ("a." * (MOST_BYTES // 2 - 10) + "b = 1", "INVALID_TOML"),
        ("[" + "a." * 20_000 + "b]", "INVALID_TOML"),
        ("x = {" + "a . " * 10_000 + "b = 1}", "INVALID_TOML"),
        ('"a".' * 10_000 + "b = 1", "INVALID_TOML"),
        ("a" * (MOST_BYTES + 1), "INVALID_TOML"),
    ],
)
def test_a_malformed_file_is_refused_with_a_typed_error(text: str | bytes, code: str) -> None:
    with pytest.raises(GolemError) as refused:
        parse(text)
    assert refused.value.code == code
    assert len(refused.value.detail) < 500


@pytest.fixture
def builtins(db: None) -> None:
    sync_builtins()


@pytest.mark.usefixtures("builtins")
class TestStored:
    def test_every_builtin_goes_out_and_comes_back_unchanged(self, tmp_path: Path) -> None:
        written = export_archetypes(folder=tmp_path)
        files = read_archetype_files(tmp_path)
        assert len(written) == len(files) == 41
        for file in files:
            assert file == describe_archetype(Archetype.objects.get(name=file.name))

    def test_an_import_writes_relations_and_canonical_tool_names(self, tmp_path: Path) -> None:
        (row,) = bring(write(tmp_path, GOOD))
        assert {each.name for each in row.delegates_to.all()} == {"safety-guardian"}
        assert {each.name for each in row.profiles.all()} == {"trader", "vault"}
        assert dict(row.tool_overrides.values_list("tool_name", "mode")) == {
            "uniswap_get_quote": "INCLUDE",
            "uniswap_check_allowance": "EXCLUDE",
        }

    @pytest.mark.parametrize(
        ("texts", "code"),
        [
            ([minimal("a", 'delegates_to = ["a"]')], "DELEGATION_CYCLE"),
            ([minimal("a", 'delegates_to = ["b"]'), minimal("b", 'delegates_to = ["a"]')], "DELEGATION_CYCLE"),
            (
                [minimal(f"n{i}", f'delegates_to = ["n{(i + 1) % 5}"]') for i in range(5)],
                "DELEGATION_CYCLE",
            ),
            (
                [minimal(f"n{i}", f'delegates_to = ["n{i + 1}"]') for i in range(4)] + [minimal("n4")],
                "DELEGATION_DEPTH_EXCEEDED",
            ),
            (
                [minimal("a", 'delegates_to = ["golem-instance"]'), minimal("b", 'delegates_to = ["a"]')],
                "DELEGATION_DEPTH_EXCEEDED",
            ),
            ([minimal("a", "terminal = true", 'delegates_to = ["risk-assessor"]')], "TERMINAL_WITH_DELEGATES"),
            ([minimal("a", 'delegates_to = ["ghost"]')], "MISSING_DELEGATION_TARGET"),
            ([minimal("a", 'tool_categories = ["trading"]')], "GUARDIAN_UNREACHABLE"),
            ([minimal("a", 'profile = "tradr"')], "UNKNOWN_PROFILE"),
            ([minimal("a", '[tool_overrides]\ninclude = ["uniswap_get_qote"]')], "UNKNOWN_TOOL_NAME"),
            (
                [minimal("a", '[tool_overrides]\ninclude = ["get_quote"]\nexclude = ["uniswap_get_quote"]')],
                "OVERRIDE_CONFLICT",
            ),
            ([minimal("a"), minimal("a")], "ARCHETYPE_EXISTS"),
            ([minimal("trade-executor")], "ARCHETYPE_EXISTS"),
        ],
    )
    def test_a_bad_import_writes_nothing(self, tmp_path: Path, texts: list[str], code: str) -> None:
        with pytest.raises(GolemError) as refused:
            bring(write(tmp_path, *texts, minimal("innocent")))
        assert refused.value.code == code
        assert Archetype.objects.count() == 41

    def test_an_unknown_tool_is_answered_with_near_names(self, tmp_path: Path) -> None:
        with pytest.raises(GolemError) as refused:
            bring(write(tmp_path, minimal("a", '[tools]\nenable = ["uniswap_get_qote"]')))
        assert "uniswap_get_quote" in refused.value.detail

    def test_replacing_is_asked_for_and_is_told_to_the_golems_it_touches(self, tmp_path: Path) -> None:
        owner = get_user_model().objects.create(username="ana")
        path = write(tmp_path, minimal("mine", 'tool_categories = ["data"]'))
        (row,) = bring(path, owner=owner)
        golem = Golem.objects.create(name="g", owner=owner, archetype=row)
        write(
            tmp_path,
            minimal(
                "mine", 'tool_categories = ["data", "identity"]', 'profile = "lp"', 'delegates_to = ["safety-guardian"]'
            ),
        )
        with pytest.raises(GolemError) as refused:
            bring(path, owner=owner)
        assert refused.value.code == "ARCHETYPE_EXISTS"
        bring(path, owner=owner, replace=True)
        row.refresh_from_db()
        assert row.version == 2
        (entry,) = AuditEntry.objects.filter(golem_id=golem.pk, event="ToolsetChanged")
        assert "uniswap_get_quote" in entry.data["added"]

    def test_another_owners_archetype_is_never_replaced(self, tmp_path: Path) -> None:
        ana, ben = (get_user_model().objects.create(username=name) for name in ("ana", "ben"))
        path = write(tmp_path, minimal("hers"))
        bring(path, owner=ana)
        with pytest.raises(GolemError) as refused:
            bring(path, owner=ben, replace=True)
        assert refused.value.code == "ARCHETYPE_EXISTS"

    def test_the_command_moves_archetypes_out_and_in(self, tmp_path: Path) -> None:
        out = StringIO()
        call_command("archetypes", "export", str(tmp_path / "out"), "trade-executor", stdout=out)
        file = tmp_path / "out" / "trade-executor.toml"
        file.write_text(file.read_text().replace('"trade-executor"', '"other-executor"'))
        call_command("archetypes", "import", str(file), stdout=out)
        assert Archetype.objects.get(name="other-executor").delegates_to.count() == 2
        with pytest.raises(CommandError, match="ARCHETYPE_EXISTS"):
            call_command("archetypes", "import", str(file), stdout=out)
        with pytest.raises(CommandError, match="ARCHETYPE_NOT_FOUND"):
            call_command("archetypes", "import", str(tmp_path / "nowhere.toml"), stdout=out)
        with pytest.raises(CommandError, match="ARCHETYPE_NOT_FOUND"):
            call_command("archetypes", "export", str(tmp_path), "ghost", stdout=out)

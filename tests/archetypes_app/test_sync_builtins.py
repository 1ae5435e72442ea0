"""Built-ins are written once, kept up to date where nobody edited them, and left alone where somebody did."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from archetypes_app.actions import sync_builtins as module
from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.models import Archetype, ToolOverride, ToolProfile
from archetypes_app.models.override import OverrideMode
from archetypes_app.stored_delegation_graph import find_stored_violations, read_builtin_nodes, read_nodes
from tools_app.core.hashing import hash_canonical

pytestmark = pytest.mark.django_db


def test_the_first_run_creates_everything_and_the_second_nothing() -> None:
    first, second = sync_builtins(), sync_builtins()
    assert len(first.created) == len(BUILTIN_ARCHETYPES) + len(BUILTIN_PROFILES)
    assert (second.created, second.updated, second.differing) == ([], [], [])


def test_what_is_stored_is_the_graph_that_is_shipped() -> None:
    sync_builtins()
    assert sorted(read_nodes(), key=str) == sorted(read_builtin_nodes(), key=str)
    assert find_stored_violations() == ()


def test_an_edited_row_is_left_alone_and_reported_by_field() -> None:
    sync_builtins()
    row = Archetype.objects.get(name="trade-executor")
    row.role = "Sing."
    row.save()
    row.delegates_to.remove(Archetype.objects.get(name="risk-assessor"))
    ToolProfile.objects.filter(name="trader").update(categories=["trading"])
    report = sync_builtins()
    assert {(each.row, each.field) for each in report.differing} == {
        ("archetype trade-executor", "role"),
        ("archetype trade-executor", "delegates_to"),
        ("profile trader", "categories"),
    }
    row.refresh_from_db()
    assert row.role == "Sing."
    assert [delegate.name for delegate in row.delegates_to.all()] == ["safety-guardian"]


def test_an_override_that_an_operator_added_survives_and_is_reported() -> None:
    sync_builtins()
    row = Archetype.objects.get(name="trade-executor")
    ToolOverride.objects.create(archetype=row, tool_name="uniswap_get_quote", mode=OverrideMode.EXCLUDE)
    report = sync_builtins()
    assert [(each.row, each.field, each.here) for each in report.differing] == [
        ("archetype trade-executor", "excludes", ["uniswap_get_quote"])
    ]
    assert row.tool_overrides.count() == 1


def test_a_new_version_updates_what_nobody_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    sync_builtins()
    edited = Archetype.objects.get(name="pnl-analyst")
    edited.role = "Mine."
    edited.save()
    changed = tuple(
        type(each)(**{**{name: getattr(each, name) for name in each.__slots__}, "role": "New words."})
        if each.name in ("pnl-analyst", "token-analyst")
        else each
        for each in BUILTIN_ARCHETYPES
    )
    monkeypatch.setattr(module, "BUILTIN_ARCHETYPES", changed)
    report = sync_builtins()
    assert report.updated == ["archetype token-analyst"]
    assert Archetype.objects.get(name="token-analyst").role == "New words."
    assert Archetype.objects.get(name="token-analyst").version == 2
    assert Archetype.objects.get(name="pnl-analyst").role == "Mine."
    assert sync_builtins().updated == []


def test_a_row_of_somebody_with_a_builtin_name_is_never_taken_over() -> None:
    Archetype.objects.create(name="trade-executor", category="execution", role="Somebody's.")
    report = sync_builtins()
    assert "archetype trade-executor" not in report.created
    assert [each.field for each in report.differing] == ["is_builtin"]
    assert Archetype.objects.get(name="trade-executor").role == "Somebody's."


def test_the_command_reports_as_text_and_as_json() -> None:
    call_command("sync_builtins", stdout=StringIO())
    Archetype.objects.filter(name="lp-strategist").update(workflow="Other.")
    out = StringIO()
    call_command("sync_builtins", stdout=out)
    assert "left as edited: archetype lp-strategist: workflow is 'Other.' here" in out.getvalue()
    out = StringIO()
    call_command("sync_builtins", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert [each["field"] for each in told["differing"]] == ["workflow"]
    assert told["violations"] == []


def test_a_row_from_before_archetypes_had_expertise_gets_it() -> None:
    sync_builtins()
    row = Archetype.objects.get(name="trade-executor")
    state = module._archetype_state(row)
    del state["expertise"]
    Archetype.objects.filter(pk=row.pk).update(expertise=[], builtin_digest=hash_canonical(state))
    assert sync_builtins().updated == ["archetype trade-executor"]
    row.refresh_from_db()
    assert row.expertise and sync_builtins().updated == []

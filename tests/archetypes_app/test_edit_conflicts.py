"""Edits of who a golem is: effects shown before they are saved, names checked, two editors at once."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction

from archetypes_app.actions.make_copy import copy_archetype, copy_tool_profile
from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.delegation import Node
from archetypes_app.edit_conflicts import bump_version, check_unchanged
from archetypes_app.errors import (
    DelegationCycle,
    EditConflict,
    OverrideConflict,
    UnknownProfile,
    UnknownToolName,
)
from archetypes_app.models import Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.profiles import (
    is_conservative,
    list_effective_profiles,
    list_new_golem_profiles,
    parse_profiles,
    writes_per_hour_cap,
)
from archetypes_app.stored_delegation_graph import check_proposal, find_stored_violations
from archetypes_app.tool_names import check_overrides, check_tool_names
from archetypes_app.toolset import (
    list_warnings,
    make_profile_rule,
    read_archetype_rule,
    read_inputs,
    resolve,
    resolve_toolset,
)
from archetypes_app.toolset_diff import (
    Change,
    list_golems_of_archetype,
    list_golems_of_profile,
    preview_effect,
    record_change,
    replace_archetype,
    replace_own,
    replace_profile,
)
from tests.broken_link import find_broken_link
from tools_app.core.models import AuditEntry

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
SWAP = "uniswap_execute_swap"


@pytest.fixture
def owner(db: None) -> Any:
    sync_builtins()
    return get_user_model().objects.create(username="ana")


def make_golem(owner: Any, name: str, archetype: str = "trade-executor", profiles: Iterable[str] = ()) -> Golem:
    golem = Golem.objects.create(
        name=name, owner=owner, archetype=Archetype.objects.get(name=archetype), address=WALLET
    )
    golem.profiles.set(ToolProfile.objects.filter(name__in=profiles))
    return golem


# ---- effects -------------------------------------------------------------------------------------------------------


def test_a_profile_change_is_shown_for_every_golem_it_touches_and_no_other(owner: Any) -> None:
    trader = ToolProfile.objects.get(name="trader")
    mine = Archetype.objects.create(name="mine", category="execution", owner=owner)
    mine.profiles.add(trader)
    golems = [
        make_golem(owner, "own", profiles=["trader"]),
        make_golem(owner, "by its kind", archetype="mine"),
        make_golem(owner, "kind replaced", archetype="mine", profiles=["vault"]),
        make_golem(owner, "other", profiles=["lp"]),
    ]
    rule = make_profile_rule(ToolProfile(name="trader", categories=["safety"]))
    before = {golem.name: resolve_toolset(golem).names() for golem in golems}
    effects = preview_effect(replace_profile("trader", rule), list_golems_of_profile(trader))
    assert [effect.golem.name for effect in effects] == ["by its kind", "own"]
    assert all(SWAP in [each.name for each in effect.diff.removed] for effect in effects)
    assert {golem.name: resolve_toolset(golem).names() for golem in golems} == before
    ToolProfile.objects.filter(pk=trader.pk).update(categories=["safety"])
    for effect in effects:
        assert resolve(read_inputs(Golem.objects.get(pk=effect.golem.pk))).names() == resolve(effect.after).names()


def test_an_archetype_change_reaches_golems_with_profiles_of_their_own_by_its_overrides(owner: Any) -> None:
    archetype = Archetype.objects.get(name="trade-executor")
    make_golem(owner, "plain")
    make_golem(owner, "with profiles", profiles=["trader"])
    rule = replace(read_archetype_rule(archetype), is_read_only=True)
    effects = preview_effect(replace_archetype(rule), list_golems_of_archetype(archetype))
    assert {effect.golem.name: SWAP in [t.name for t in effect.diff.removed] for effect in effects} == {
        "plain": True,
        "with profiles": True,
    }


@pytest.mark.parametrize(
    ("change", "added", "removed"),
    [
        (replace_own(includes=["memory_search"]), {"memory_search"}, set()),
        (replace_own(excludes=[SWAP]), set(), {SWAP}),
        (replace_own(allowed_protocols=["aave"]), set(), {SWAP, "uniswap_get_quote", "data_get_pool_info"}),
    ],
)
def test_a_golems_own_change_is_shown(owner: Any, change: Change, added: set[str], removed: set[str]) -> None:
    golem = make_golem(owner, "g")
    (effect,) = preview_effect(change, [golem])
    assert added <= {each.name for each in effect.diff.added}
    assert removed <= {each.name for each in effect.diff.removed}


def test_what_changes_nothing_has_no_effect(owner: Any) -> None:
    assert preview_effect(replace_own(), [make_golem(owner, "g")]) == ()


def test_a_saved_change_is_an_entry_in_each_touched_golems_log(owner: Any) -> None:
    golem = make_golem(owner, "g")
    effects = preview_effect(replace_own(excludes=[SWAP]), [golem])
    assert record_change(effects, subject="golem g", actor="owner:1", now=NOW) == 1
    entries = list(AuditEntry.objects.filter(golem_id=golem.pk).order_by("seq"))
    assert [(entry.event, entry.actor, entry.data) for entry in entries] == [
        ("ToolsetChanged", "owner:1", {"subject": "golem g", "added": [], "removed": [SWAP]})
    ]
    assert find_broken_link(entries) is None


# ---- names ---------------------------------------------------------------------------------------------------------


def test_an_unknown_tool_is_refused_with_near_names() -> None:
    with pytest.raises(UnknownToolName) as refused:
        check_tool_names(["uniswap_execute_swop", "zzz"])
    assert SWAP in refused.value.data["suggestions"]["uniswap_execute_swop"]
    assert "did you mean" in refused.value.detail


def test_a_name_that_never_answers_is_refused_to_its_owner_with_the_reason() -> None:
    with pytest.raises(UnknownToolName, match="private databases of their issuers") as refused:
        check_tool_names([SWAP, " lrt_get_restaking_points "])
    assert refused.value.data["suggestions"] == {" lrt_get_restaking_points ": ["eigenlayer_get_position"]}


def test_aliases_become_canonical_names_once() -> None:
    assert check_tool_names(["get_quote", " uniswap_get_quote "]) == ("uniswap_get_quote",)


def test_a_tool_both_included_and_excluded_is_refused_under_any_name() -> None:
    with pytest.raises(OverrideConflict):
        check_overrides(includes=["get_quote"], excludes=["uniswap_get_quote"], subject="g")


def test_the_database_refuses_a_second_override_of_one_tool(owner: Any) -> None:
    golem = make_golem(owner, "g")
    ToolOverride.objects.create(golem=golem, tool_name=SWAP, mode="INCLUDE")
    with pytest.raises(IntegrityError), transaction.atomic():
        ToolOverride.objects.create(golem=golem, tool_name=SWAP, mode="EXCLUDE")
    with pytest.raises(IntegrityError), transaction.atomic():
        ToolOverride.objects.create(golem=golem, archetype=golem.archetype, tool_name="x", mode="EXCLUDE")


# ---- profiles ------------------------------------------------------------------------------------------------------


def test_composite_text_names_each_profile_once(owner: Any) -> None:
    assert parse_profiles(" Trader,vault ,trader,") == ("trader", "vault")
    assert parse_profiles("") == ()
    with pytest.raises(UnknownProfile) as refused:
        parse_profiles("trader,valt")
    assert refused.value.data["suggestions"] == ["vault"]


def test_new_golems_start_with_what_the_environment_says(owner: Any, settings: Any) -> None:
    settings.GOLEM_NEW_GOLEM_PROFILES = "trader,vault"
    assert [profile.name for profile in list_new_golem_profiles()] == ["trader", "vault"]
    settings.GOLEM_NEW_GOLEM_PROFILES = ""
    assert list_new_golem_profiles() == []


def test_a_copy_of_the_conservative_profile_is_as_conservative(owner: Any) -> None:
    copy = copy_tool_profile(profile=ToolProfile.objects.get(name="conservative"), owner=owner)
    golem = make_golem(owner, "g")
    assert writes_per_hour_cap(golem) is None
    golem.profiles.set([copy])
    assert is_conservative(golem)
    assert writes_per_hour_cap(golem) == 10
    assert [profile.name for profile in list_effective_profiles(golem)] == [copy.name]
    golem.profiles.set([ToolProfile.objects.get(name="conservative")])
    by_original = resolve_toolset(golem).names()
    golem.profiles.set([copy])
    assert resolve_toolset(Golem.objects.get(pk=golem.pk)).names() == by_original


def test_a_copied_terminal_keeps_reads_only(owner: Any) -> None:
    copy = copy_archetype(archetype=Archetype.objects.get(name="memory-consolidator"), owner=owner)
    assert (copy.is_read_only, copy.keeps_local_writes, copy.is_terminal_node) == (True, True, True)


def test_a_trader_without_a_wallet_is_warned_by_name(owner: Any) -> None:
    golem = make_golem(owner, "g", profiles=["trader"])
    golem.address = ""
    golem.save()
    toolset = resolve_toolset(golem)
    assert not toolset.has_writes
    assert any("wallet is not set up" in warning and SWAP in warning for warning in list_warnings(toolset))


# ---- two editors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [Archetype, ToolProfile, Golem])
def test_the_second_editor_gets_a_conflict_and_nothing_is_lost(owner: Any, model: Any) -> None:
    make_golem(owner, "g")
    row = model.objects.first()
    opened = row.version
    with transaction.atomic():
        bump_version(check_unchanged(row, version=opened))
    with pytest.raises(EditConflict) as refused, transaction.atomic():
        check_unchanged(row, version=opened)
    assert (refused.value.http_status, refused.value.data["found"]) == (409, opened + 1)


def test_a_row_deleted_meanwhile_is_a_conflict(owner: Any) -> None:
    row = Archetype.objects.create(name="gone", category="research")
    Archetype.objects.filter(pk=row.pk).delete()
    with pytest.raises(EditConflict), transaction.atomic():
        check_unchanged(row, version=1)


@pytest.mark.django_db(transaction=True)
def test_of_eight_editors_at_once_exactly_one_saves() -> None:
    row = Archetype.objects.create(name="shared", category="research", role="old")
    start = threading.Barrier(8)
    results: list[str] = []

    def edit(number: int) -> None:
        start.wait()
        try:
            with transaction.atomic():
                locked = check_unchanged(row, version=1)
                Archetype.objects.filter(pk=locked.pk).update(role=f"editor {number}")
                bump_version(locked)
            results.append(f"editor {number}")
        except EditConflict:
            results.append("conflict")
        finally:
            connection.close()

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    saved = [result for result in results if result != "conflict"]
    row.refresh_from_db()
    assert len(saved) == 1
    assert (row.role, row.version) == (saved[0], 2)


@pytest.mark.django_db(transaction=True)
def test_two_edges_that_close_a_circle_together_are_not_both_saved() -> None:
    rows = {name: Archetype.objects.create(name=name, category="research") for name in ("left", "right")}
    start = threading.Barrier(2)
    results: list[str] = []

    def connect(asking: str, asked: str) -> None:
        start.wait()
        try:
            with transaction.atomic():
                check_proposal([Node(asking, (asked,))])
                rows[asking].delegates_to.add(rows[asked])
            results.append("saved")
        except DelegationCycle:
            results.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=connect, args=pair) for pair in (("left", "right"), ("right", "left"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["refused", "saved"]
    assert find_stored_violations() == ()

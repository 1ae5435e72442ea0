"""Editing what decides a golem's tools: seen before it is saved, written down with it, never over somebody's edit."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype, Golem, PhaseTransition, ToolOverride, ToolProfile
from archetypes_app.toolset import resolve_toolset
from permits_app.models import ChangeRequest
from tests import factories
from tests.admin.rows import page
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db
SEEN = {"_tools_seen": "1"}


@pytest.fixture
def owner() -> Any:
    return factories.make_owner()


@pytest.fixture
def client(owner: Any) -> Client:
    browser = Client()
    browser.force_login(owner)
    return browser


def _profile_body(profile: ToolProfile, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": profile.name,
        "description": "",
        "categories": profile.categories,
        "edit_version": profile.version,
    }
    return {**body, **changes}


def _changes(golem: Golem) -> list[dict[str, Any]]:
    return [entry.data for entry in AuditEntry.objects.filter(golem_id=golem.pk, event="ToolsetChanged")]


def test_a_profile_edit_shows_which_tools_each_golem_gains_before_anything_is_saved(client: Client, owner: Any) -> None:
    profile = factories.make_profile(name="mine", categories=["data"], owner=owner)
    golem = factories.make_golem(owner=owner, profiles=[profile], address="0x" + "11" * 20)
    body = _profile_body(profile, categories=["data", "trading"])
    shown = client.post(page("archetypes_app.toolprofile", "change", profile.pk), body)
    text = shown.content.decode()
    profile.refresh_from_db()
    assert shown.status_code == 200
    assert "uniswap_execute_swap" in text
    assert "Before it is saved" in text
    assert (profile.categories, profile.version) == (["data"], 1)
    assert _changes(golem) == []


def test_a_seen_edit_is_saved_and_in_the_audit_log_of_every_golem_it_touches(client: Client, owner: Any) -> None:
    profile = factories.make_profile(name="mine", categories=["data"], owner=owner)
    golem = factories.make_golem(owner=owner, profiles=[profile], address="0x" + "11" * 20)
    body = _profile_body(profile, categories=["data", "trading"]) | SEEN
    answer = client.post(page("archetypes_app.toolprofile", "change", profile.pk), body)
    profile.refresh_from_db()
    assert answer.status_code == 302
    assert (sorted(profile.categories), profile.version) == (["data", "trading"], 2)
    assert "uniswap_execute_swap" in resolve_toolset(Golem.objects.get(pk=golem.pk))
    assert "uniswap_execute_swap" in _changes(golem)[0]["added"]
    assert _changes(golem)[0]["subject"] == "tool profile mine"


def test_an_edit_that_changes_no_tools_is_saved_at_once(client: Client, owner: Any) -> None:
    profile = factories.make_profile(name="mine", categories=["data"], owner=owner)
    factories.make_golem(owner=owner, profiles=[profile])
    answer = client.post(
        page("archetypes_app.toolprofile", "change", profile.pk), _profile_body(profile, description="reads")
    )
    assert answer.status_code == 302
    assert ToolProfile.objects.get(pk=profile.pk).description == "reads"


def test_of_two_editors_the_second_is_told_and_nothing_is_lost(client: Client, owner: Any) -> None:
    profile = factories.make_profile(name="mine", categories=["data"], owner=owner)
    url = page("archetypes_app.toolprofile", "change", profile.pk)
    first = client.post(url, _profile_body(profile, description="the first"))
    second = client.post(url, _profile_body(profile, description="the second"))
    text = second.content.decode()
    assert first.status_code == 302
    assert second.status_code == 409
    assert "saved by somebody else" in text
    assert "the second" in text
    assert ToolProfile.objects.get(pk=profile.pk).description == "the first"


def test_an_operator_sees_how_many_golems_an_edit_of_a_builtin_touches() -> None:
    root = Client()
    root.force_login(factories.make_operator())
    profile = factories.make_profile(name="shared", categories=["data"], is_builtin=True)
    for name in ("ana", "ben"):
        factories.make_golem(owner=factories.make_owner(name=name), profiles=[profile], address="0x" + "11" * 20)
    shown = root.post(
        page("archetypes_app.toolprofile", "change", profile.pk), _profile_body(profile, categories=["data", "trading"])
    )
    assert "tools of 2 golems" in shown.content.decode()


def _archetype_body(archetype: Archetype, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": archetype.name,
        "description": "",
        "category": archetype.category,
        "role": "",
        "workflow": "",
        "inference_tier": archetype.inference_tier,
        "tool_categories": archetype.tool_categories,
        "output_format": "",
        "profiles": [],
        "safety_rules_text": "",
        "edit_version": archetype.version,
        "delegates_to": [delegate.pk for delegate in archetype.delegates_to.all()],
        "tool_overrides-TOTAL_FORMS": "0",
        "tool_overrides-INITIAL_FORMS": "0",
    }
    return {**body, **changes}


def test_a_cycle_of_delegation_is_refused_in_the_form_and_named(client: Client, owner: Any) -> None:
    first = factories.make_archetype(name="first", owner=owner)
    second = factories.make_archetype(name="second", owner=owner)
    second.delegates_to.add(first)
    url = page("archetypes_app.archetype", "change", first.pk)
    answer = client.post(url, _archetype_body(first, delegates_to=[second.pk]))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "these delegate in a circle" in text
    assert first.delegates_to.count() == 0


def test_an_archetype_that_delegates_to_itself_or_is_terminal_with_delegates_is_refused(
    client: Client, owner: Any
) -> None:
    own = factories.make_archetype(name="own", owner=owner)
    other = factories.make_archetype(name="other", owner=owner)
    url = page("archetypes_app.archetype", "change", own.pk)
    to_itself = client.post(url, _archetype_body(own, delegates_to=[own.pk]))
    terminal = client.post(url, _archetype_body(own, delegates_to=[other.pk], is_terminal_node="on"))
    assert (to_itself.status_code, terminal.status_code) == (200, 200)
    assert own.delegates_to.count() == 0


def test_an_archetype_with_writes_must_reach_the_guardian(client: Client, owner: Any) -> None:
    sync_builtins()
    own = factories.make_archetype(name="own", owner=owner)
    guardian = Archetype.objects.get(name="safety-guardian")
    url = page("archetypes_app.archetype", "change", own.pk)
    refused = client.post(url, _archetype_body(own, tool_categories=["data", "trading"]))
    allowed = client.post(url, _archetype_body(own, tool_categories=["data", "trading"], delegates_to=[guardian.pk]))
    assert "safety-guardian" in refused.content.decode()
    assert refused.status_code == 200
    assert allowed.status_code == 302


def test_a_tool_cannot_be_both_included_and_excluded(client: Client, owner: Any) -> None:
    own = factories.make_archetype(name="own", owner=owner)
    rows = {
        "tool_overrides-TOTAL_FORMS": "2",
        "tool_overrides-0-tool_name": "uniswap_get_quote",
        "tool_overrides-0-mode": "INCLUDE",
        "tool_overrides-1-tool_name": "uniswap_get_quote",
        "tool_overrides-1-mode": "EXCLUDE",
    }
    answer = client.post(page("archetypes_app.archetype", "change", own.pk), _archetype_body(own, **rows))
    assert answer.status_code == 200
    assert "listed twice" in answer.content.decode()
    assert not ToolOverride.objects.exists()


def test_an_override_of_a_tool_that_does_not_exist_is_refused(client: Client, owner: Any) -> None:
    own = factories.make_archetype(name="own", owner=owner)
    rows = {
        "tool_overrides-TOTAL_FORMS": "1",
        "tool_overrides-0-tool_name": "print_money",
        "tool_overrides-0-mode": "INCLUDE",
    }
    answer = client.post(page("archetypes_app.archetype", "change", own.pk), _archetype_body(own, **rows))
    assert answer.status_code == 200
    assert not ToolOverride.objects.exists()


def test_a_worse_phase_holds_at_once_and_a_better_one_is_asked_for(client: Client, owner: Any) -> None:
    golem = factories.make_golem(owner=owner)
    url = page("archetypes_app.golem", "phase", golem.pk)
    client.post(url, {"to": "SURVIVAL", "reason": ""})
    before = Golem.objects.get(pk=golem.pk).phase
    client.post(url, {"to": "SURVIVAL", "reason": "careful now"})
    client.post(url, {"to": "THRIVING", "reason": "topped up"})
    request = ChangeRequest.objects.get(golem=golem)
    assert (before, Golem.objects.get(pk=golem.pk).phase) == ("THRIVING", "SURVIVAL")
    assert PhaseTransition.objects.get(golem=golem).reason == "careful now"
    assert (request.kind, request.change["to"], request.reason) == ("phase", "THRIVING", "topped up")


def test_a_golem_edit_shows_what_it_loses(client: Client, owner: Any) -> None:
    profile = factories.make_profile(name="mine", categories=["data", "trading"], owner=owner)
    golem = factories.make_golem(owner=owner, profiles=[profile], address="0x" + "11" * 20)
    body = {
        "name": golem.name,
        "archetype": golem.archetype.pk,
        "profiles": [],
        "home_chain_id": golem.home_chain_id,
        "base_asset": "USDC",
        "permit_ttl_seconds": "60",
        "is_memory_enabled": "on",
        "edit_version": golem.version,
        "simulation_engine": "pyevm",
        "tool_overrides-TOTAL_FORMS": "0",
        "tool_overrides-INITIAL_FORMS": "0",
    }
    url = page("archetypes_app.golem", "change", golem.pk)
    shown = client.post(url, body)
    kept = golem.profiles.count()
    saved = client.post(url, body | SEEN)
    assert "It loses" in shown.content.decode()
    assert "uniswap_execute_swap" in shown.content.decode()
    assert (kept, golem.profiles.count(), saved.status_code) == (1, 0, 302)
    edit = AuditEntry.objects.get(golem_id=golem.pk, event="AdminEdit").data
    assert edit["fields"]["simulation_engine"] == {"from": "auto", "to": "pyevm"}

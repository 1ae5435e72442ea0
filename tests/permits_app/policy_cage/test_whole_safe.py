"""What else acts for a Safe than its cage is seen with the next look, judged, told, and shown until owners note it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.topics import tell_event
from permits_app.policy_cage.safe_tx import DISABLE_MODULE, ENABLE_MODULE
from permits_app.policy_cage.safe_watch import SENTINEL, SafeState, list_bypasses, list_changes
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.proof.caged.engines import make_account
from tools_app.chain.abi import encode_call
from tools_app.core.models import AuditEntry, OutboxEvent

ADD_OWNER = "function addOwnerWithThreshold(address owner, uint256 threshold)"
SET_HANDLER = "function setFallbackHandler(address handler)"
SET_GUARD = "function setGuard(address guard)"


@pytest.fixture
def caged(live_golem: LiveGolem) -> CagedGolem:
    live_golem.owner.groups.add(ensure_owner_group())
    return CagedGolem(live_golem)


def own(caged: CagedGolem, text: str, *args: Any) -> None:
    """The owners' own transaction on the real Safe."""
    caged.safe.owner_call(caged.safe.address, encode_call(text, *args))


def told(caged: CagedGolem) -> list[str]:
    rows = AuditEntry.objects.filter(golem_id=caged.live.golem.pk, event="SafeChanged").order_by("pk")
    return [line for row in rows for line in row.data["lines"]]


def test_the_cage_alone_is_no_bypass(caged: CagedGolem) -> None:
    seen = SafeState.from_dict(caged.sync().safe)
    assert seen.threshold == 1 and caged.mirror.contract in seen.modules
    assert list_bypasses(seen, caged.mirror.contract) == []
    assert told(caged) == []


def test_a_module_past_the_cage_is_seen_told_and_shown_until_it_is_noted(caged: CagedGolem) -> None:
    caged.sync()
    stranger = make_account("a module past the cage").address
    own(caged, ENABLE_MODULE, stranger)
    caged.sync()
    assert told(caged) == [f"module: none became {stranger}"]
    event = OutboxEvent.objects.get(golem_id=caged.live.golem.pk, type="safe:changed")
    line, is_urgent = tell_event("safe:changed", event.payload, golem="Ada")
    assert is_urgent and "Safe that it acts through changed in 1 ways" in line
    # Seen twice, told once.
    caged.sync()
    assert len(told(caged)) == 1

    browser = Client()
    browser.force_login(caged.live.owner)
    page = reverse("admin:archetypes_app_golem_cage", args=[caged.live.golem.pk])
    shown = browser.get(page).content.decode()
    assert "no rule of the cage bounds it" in shown and stranger in shown and "weaker" in shown
    note = reverse("admin:archetypes_app_golem_note_safe", args=[caged.live.golem.pk])
    assert browser.post(note, {"note-safe-reason": "ours"}).status_code == 302
    caged.mirror.refresh_from_db()
    assert caged.mirror.safe == caged.mirror.safe_noted
    shown = browser.get(page).content.decode()
    # Noted is not harmless: that it goes past the cage stays on the page.
    assert "no rule of the cage bounds it" in shown and "Changed since it was noted" not in shown
    # And when it goes, nothing is told.
    own(caged, DISABLE_MODULE, SENTINEL, stranger)
    caged.sync()
    assert len(told(caged)) == 1
    assert "no rule of the cage bounds it" not in browser.get(page).content.decode()


def test_owners_threshold_handler_and_guard_are_watched(caged: CagedGolem, live_golem: LiveGolem) -> None:
    caged.sync()
    other = make_account("another owner").address
    own(caged, ADD_OWNER, other, 1)
    caged.sync()
    assert told(caged) == [f"owner: none became {other}"]
    seen = SafeState.from_dict(caged.mirror.safe)
    assert list_bypasses(seen, caged.mirror.contract) == ["each of its 2 owners signs alone"]
    own(caged, SET_HANDLER, other)
    caged.sync()
    assert told(caged)[-1].startswith("fallback handler: ") and told(caged)[-1].endswith(other)


def test_what_became_stricter_is_no_alarm_and_what_became_weaker_is() -> None:
    owner, other, zero = "0x" + "11" * 20, "0x" + "22" * 20, "0x" + "00" * 20
    was = SafeState((owner, other), 2, (), zero, zero, zero, owner)
    looser = SafeState((owner, other), 1, (), zero, zero, zero, owner)
    assert [change.is_weaker for change in list_changes(was, looser)] == [True]
    assert [change.is_weaker for change in list_changes(looser, was)] == [False]
    guarded = SafeState((owner, other), 2, (), other, other, zero, other)
    assert [change.what for change in list_changes(was, guarded)] == ["code", "guard", "guard of modules"]
    assert len(list_bypasses(guarded, owner)) == 2


def test_nobody_else_notes_the_safe_of_a_golem(caged: CagedGolem, django_user_model: Any) -> None:
    caged.sync()
    stranger = django_user_model.objects.create_user("stranger", password="x")
    browser = Client()
    browser.force_login(stranger)
    note = reverse("admin:archetypes_app_golem_note_safe", args=[caged.live.golem.pk])
    assert browser.post(note, {"note-safe-reason": "mine"}).status_code in (302, 403, 404)
    caged.mirror.refresh_from_db()
    assert not AuditEntry.objects.filter(golem_id=caged.live.golem.pk, event="SafeNoted").exists()

"""An approved action is told as what became of it: "executed" stands on none that was blocked or reverted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.topics import tell_event
from permits_app.actions.announce_warden_actions import turn_warden_on
from permits_app.actions.halt import halt_golem
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.approval_pages.views import page_of
from permits_app.models import ActionPermit, ChangeRequest
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.permits.request_stages import read_stage
from tests.admin.members import log_in
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager", "high_swap")]


def _approved(live: LiveGolem, other: Any) -> ChangeRequest:
    permit_id = live.preview()["permit_id"]
    request = approve(ChangeRequest.objects.get(permit_id=permit_id), other)
    request.refresh_from_db()
    return request


def _end(request: ChangeRequest, status: PermitStatus, reason: str) -> None:
    """As a worker leaves the permit whose commit ended so."""
    ActionPermit.objects.filter(change_request=request).update(status=status, status_reason=reason)


def _browser(person: Any) -> Client:
    person.groups.add(ensure_owner_group())
    return log_in(person)


def _badge_of(request: ChangeRequest) -> str:
    request = ChangeRequest.objects.select_related("permit").get(pk=request.pk)
    return str(read_stage(request, now=clock.now()).stage)


@pytest.mark.django_db(transaction=True)
def test_an_action_that_was_carried_out_is_told_as_executed(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    request = _approved(live, other)
    assert (request.state, live.permit(str(request.permit_id)).status) == ("EXECUTED", "COMMITTED")
    assert _badge_of(request) == "executed"


@pytest.mark.parametrize(
    ("status", "words", "badge"),
    [
        (PermitStatus.BLOCKED, "it was stopped before anything was sent: the price moved", "approved, not carried out"),
        (
            PermitStatus.REVERTED,
            "the chain took it back; its gas is spent: the price moved",
            "approved, reverted on chain",
        ),
        (PermitStatus.EXPIRED, "its time was over before it was sent: the price moved", "approved, not carried out"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_an_action_that_ended_otherwise_says_so_with_the_reason_and_what_comes_next(
    two_owners: tuple[LiveGolem, Any, Any], status: PermitStatus, words: str, badge: str
) -> None:
    live, owner, other = two_owners
    request = _approved(live, other)
    _end(request, status, "the price moved")
    browser = _browser(other)
    inbox, rows = (
        reverse("admin:permits_app_changerequest_inbox"),
        reverse("admin:permits_app_changerequest_changelist"),
    )
    # At once, before any sweep.
    for page in (page_of(request.pk), inbox, rows):
        shown = browser.get(page).content.decode()
        assert badge in shown and ">executed<" not in shown
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert request.state == ChangeState.FAILED
    assert words in request.state_reason and "preview the action again" in request.state_reason
    assert request.problem["code"] == f"PERMIT_{status}"
    detail = browser.get(page_of(request.pk)).content.decode()
    assert words[3:] in detail and badge in detail
    assert "preview the action again" in browser.get(inbox).content.decode()
    told = OutboxEvent.objects.filter(golem_id=live.golem.pk, type="approval:cancelled").latest("sequence")
    assert told.payload["status"] == "FAILED" and words in told.payload["reason"]
    assert "approved, but not carried out" in tell_event(told.type, told.payload, golem="Live")[0]
    assert AuditEntry.objects.filter(golem_id=live.golem.pk, event="ChangeFailed").count() == 1
    time_out_changes(now=clock.now())
    assert AuditEntry.objects.filter(golem_id=live.golem.pk, event="ChangeFailed").count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_outcome_that_is_not_seen_yet_is_told_as_that(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    request = _approved(live, other)
    _end(request, PermitStatus.UNKNOWN, "")
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert request.state == ChangeState.EXECUTED
    assert _badge_of(request) == "sent, outcome not seen yet"
    shown = _browser(other).get(page_of(request.pk)).content.decode()
    assert "sent, outcome not seen yet" in shown and ">executed<" not in shown


@pytest.mark.django_db(transaction=True)
def test_what_the_chain_carried_out_after_all_is_executed_again(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    request = _approved(live, other)
    _end(request, PermitStatus.REVERTED, "x")
    time_out_changes(now=clock.now())
    _end(request, PermitStatus.COMMITTED, "")
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert (request.state, request.problem) == ("EXECUTED", {})


@pytest.mark.django_db(transaction=True)
def test_an_approved_action_that_is_announced_and_halted_before_its_time_was_not_carried_out(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, owner, other = two_owners
    turn_warden_on(golem=live.golem, actor="owner:1", reason="x", now=clock.now())
    permit_id = live.preview()["permit_id"]
    request = approve(ChangeRequest.objects.get(permit_id=permit_id), other)
    assert live.permit(permit_id).status == PermitStatus.ANNOUNCED
    assert _badge_of(request) == "announced"
    halt_golem(golem=live.golem, reason="theft", actor="owner:1", now=clock.now())
    assert _badge_of(request) == "approved, not carried out"
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert request.state == ChangeState.FAILED and "cancelled before it was sent" in request.state_reason


@pytest.mark.django_db(transaction=True)
def test_the_alert_of_an_approval_does_not_say_that_the_action_is_done(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    _approved(live, other)
    told = OutboxEvent.objects.get(golem_id=live.golem.pk, type="approval:executed")
    sentence, _ = tell_event(told.type, told.payload, golem="Live")
    assert "begun, its outcome follows" in sentence and "carried out" not in sentence


@pytest.mark.django_db(transaction=True)
def test_an_old_request_is_told_by_its_permit_though_its_row_is_left(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    request = _approved(live, other)
    _end(request, PermitStatus.REVERTED, "x")
    ChangeRequest.objects.filter(pk=request.pk).update(closed_at=clock.now() - timedelta(days=30))
    time_out_changes(now=clock.now())
    assert _badge_of(request) == "approved, reverted on chain"

"""A halt of a golem that is halted already: it counts as the first did, and no older request ends it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import ApiKey, Golem
from permits_app.actions.carry_out_deaths import carry_out_deaths
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import carry_out_halt, halt_golem, list_unfinished_halts
from permits_app.actions.request_change import request_operation
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.approval_errors import ChangeStale
from permits_app.approvals.operations import find_operation
from permits_app.halts.deaths import announce_death
from permits_app.models import ChangeRequest, Death, HaltRecord
from permits_app.models.approval import ChangeState
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.approvals.people import approve, make_owner_with_device, share
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db


@pytest.fixture
def three_owners(live_golem: LiveGolem) -> tuple[LiveGolem, Any, Any, Any]:
    """A live golem; its owner, and two co-owners with a second factor."""
    bo, cy = (make_owner_with_device(name=name) for name in ("bo", "cy"))
    share(live_golem.golem, bo, cy)
    return live_golem, live_golem.owner, bo, cy


def _halt(golem: Golem, reason: str, actor: str = "owner:1") -> dict[str, Any]:
    return halt_golem(golem=golem, reason=reason, actor=actor, now=clock.now())


def _ask_to_resume(golem: Golem, owner: Any) -> ChangeRequest:
    golem.refresh_from_db()
    return request_operation(golem=golem, name="resume", arguments={}, owner=owner, reason="over", now=clock.now())


def test_a_halt_while_a_resume_waits_for_its_second_approval_is_not_ended_by_it(
    three_owners: tuple[LiveGolem, Any, Any, Any],
) -> None:
    live, owner, bo, cy = three_owners
    golem = live.golem
    _halt(golem, "drill")
    request = _ask_to_resume(golem, owner)
    assert approve(request, bo).state == ChangeState.OPEN
    told = _halt(golem, "theft seen", actor=f"owner:{cy.pk}")
    with pytest.raises(ChangeStale) as refused:
        approve(request, cy)
    golem.refresh_from_db()
    request.refresh_from_db()
    assert golem.is_halted and golem.halt_reason == "theft seen"
    assert told["epoch"] == golem.halt_epoch == 2
    assert request.state == ChangeState.STALE
    for words in (refused.value.detail, request.state_reason):
        assert "halted again" in words and "theft seen" in words and "new request" in words


def test_every_halt_is_in_the_audit_log_with_its_reason_and_told_as_one(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    for reason in ("drill", "theft seen", "still there"):
        _halt(golem, reason)
    entries = AuditEntry.objects.filter(golem_id=golem.pk, event="HaltStarted").order_by("seq")
    assert [(entry.data["reason"], entry.data["epoch"]) for entry in entries] == [
        ("drill", 1),
        ("theft seen", 2),
        ("still there", 3),
    ]
    events = OutboxEvent.objects.filter(golem_id=golem.pk, type="halt:started").order_by("sequence")
    assert [event.payload["reason"] for event in events] == ["drill", "theft seen", "still there"]
    assert list(HaltRecord.objects.order_by("epoch").values_list("reason", flat=True)) == [
        "drill",
        "theft seen",
        "still there",
    ]


def test_a_halt_over_rest_of_a_halted_golem_counts_too(live_golem: LiveGolem, eager: None) -> None:
    headers = {"Authorization": f"Bearer {live_golem.key.token}"}
    for reason in ("first", "second"):
        answer = Client().post("/api/v1/pi/emergency_halt", {"reason": reason}, "application/json", headers=headers)
        assert answer.status_code == 200, answer.content
    live_golem.golem.refresh_from_db()
    assert (live_golem.golem.halt_epoch, live_golem.golem.halt_reason) == (2, "second")


def test_those_who_approved_are_told_that_their_resume_ended_and_what_to_do(
    three_owners: tuple[LiveGolem, Any, Any, Any],
) -> None:
    live, owner, bo, cy = three_owners
    _halt(live.golem, "drill")
    approve(_ask_to_resume(live.golem, owner), bo)
    _halt(live.golem, "theft seen", actor=f"owner:{cy.pk}")
    told = OutboxEvent.objects.filter(golem_id=live.golem.pk, type="approval:cancelled").get().payload
    assert "halted again" in told["reason"] and "new request" in told["reason"]
    entry = AuditEntry.objects.get(golem_id=live.golem.pk, event="ChangeStale")
    assert entry.data["approved_by"] == [f"owner:{bo.pk}"]


def test_an_approved_resume_that_waits_to_be_carried_out_ends_no_later_halt(
    three_owners: tuple[LiveGolem, Any, Any, Any],
) -> None:
    live, owner, bo, cy = three_owners
    _halt(live.golem, "drill")
    request = _ask_to_resume(live.golem, owner)
    approve(request, bo)
    assert approve(request, cy).state == ChangeState.APPROVED
    _halt(live.golem, "theft seen")
    execute_change(request_id=request.pk, now=clock.now())
    live.golem.refresh_from_db()
    request.refresh_from_db()
    assert live.golem.is_halted and request.state == ChangeState.STALE


def test_a_resume_that_its_safe_carried_out_after_a_second_halt_leaves_the_golem_halted(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    _halt(golem, "drill")
    _halt(golem, "theft seen")
    golem.refresh_from_db()
    told = find_operation("resume").apply(
        golem=golem, change={"halt_epoch": "1", "live": True}, actor="owner:1", reason="x", now=clock.now()
    )
    golem.refresh_from_db()
    assert golem.is_halted
    assert "theft seen" in str(told["not_resumed"]) and "new request" in str(told["not_resumed"])


def test_a_resume_ends_all_halts_before_it_and_gives_every_key_back_what_it_had(
    three_owners: tuple[LiveGolem, Any, Any, Any],
) -> None:
    live, owner, bo, cy = three_owners
    before = sorted(live.key.key.scopes)
    _halt(live.golem, "drill")
    _halt(live.golem, "theft seen")
    assert "commit" not in ApiKey.objects.get(pk=live.key.key.pk).scopes
    request = _ask_to_resume(live.golem, owner)
    for person in (bo, cy):
        approve(request, person)
    execute_change(request_id=request.pk, now=clock.now())
    live.golem.refresh_from_db()
    assert not live.golem.is_halted
    assert sorted(ApiKey.objects.get(pk=live.key.key.pk).scopes) == before


def test_the_steps_on_the_chain_go_on_under_the_newest_halt(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    _halt(golem, "drill")
    _halt(golem, "theft seen")
    assert list_unfinished_halts() == [(golem.pk, 2)]
    carry_out_halt(golem_id=golem.pk, epoch=2, now=clock.now())
    assert list_unfinished_halts() == []


def test_the_end_of_a_golem_goes_on_through_a_halt_that_comes_in_between(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    announce_death(golem=golem, reason="done", actor="owner:1", due_at=clock.now(), now=clock.now())
    carry_out_deaths(now=clock.now())
    _halt(golem, "theft seen")
    golem.refresh_from_db()
    carry_out_halt(golem_id=golem.pk, epoch=golem.halt_epoch, now=clock.now())
    carry_out_deaths(now=clock.now())
    death = Death.objects.get(golem=golem)
    assert death.left or death.state == "RETIRED"


def test_a_resume_whose_halt_is_not_the_newest_is_closed_by_the_sweep(live_golem: LiveGolem) -> None:
    _halt(live_golem.golem, "drill")
    request = _ask_to_resume(live_golem.golem, live_golem.owner)
    Golem.objects.filter(pk=live_golem.golem.pk).update(halt_epoch=7)
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert request.state == ChangeState.STALE

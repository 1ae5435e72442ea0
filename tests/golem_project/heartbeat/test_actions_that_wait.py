"""What a tick wanted and somebody else decides about: asked once, followed to its end, remembered, told to planners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from archetypes_app import toolset
from archetypes_app.models import DecisionCycleRecord, Heartbeat
from golem_project.heartbeat.cycle import run_heartbeat_tick
from memory_app.models import Episode
from permits_app.actions.announce_warden_actions import cancel_announced, execute_announced, turn_warden_on
from permits_app.actions.execute_change import execute_change
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.approvals.approval_rules import WARDEN_DELAY_SECONDS
from permits_app.models import ActionPermit, Announcement, ChangeRequest, OutboundTransaction, SpendEntry
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.pulses import claim_one, make_due, tick, turn_on, work_here
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass, let_pass_until
from tests.permits_app.approvals.conftest import eager
from tests.permits_app.approvals.people import approve, give_device, reject
from tools_app.core import clock
from tools_app.core.required_value import require
from tools_app.toolkit.enums import RiskLayer
from tools_app.toolkit.registry import REGISTRY

__all__ = ["eager"]
pytestmark = pytest.mark.usefixtures("eager")


@pytest.fixture
def owned(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveGolem]:
    """A live golem with its heartbeat on, whose every new position needs an owner: its tool is HIGH here."""
    tool = REGISTRY.get("add_liquidity")
    monkeypatch.setitem(REGISTRY._tools, tool.name, replace(tool, risk_layer=RiskLayer.UNBOUNDED))
    toolset.resolve.cache_clear()
    give_device(live_golem.owner)
    turn_on(live_golem.golem)
    yield live_golem
    monkeypatch.undo()
    toolset.resolve.cache_clear()


def _ask(live: LiveGolem) -> tuple[DecisionCycleRecord, ActionRecord, ChangeRequest]:
    record = tick(live.golem)
    action = ActionRecord.objects.get(tick_id=record.tick_id)
    return record, action, ChangeRequest.objects.get(permit_id=action.permit_id)


def _waits(live: LiveGolem) -> dict[str, Any]:
    waits: dict[str, Any] = Heartbeat.objects.get(golem=live.golem).state["waits"]
    return waits


def test_owners_are_asked_once_however_many_ticks_pass(owned: LiveGolem) -> None:
    _, action, request = _ask(owned)
    assert action.state == "WAITING" and action.block_reason.startswith("AWAITING_APPROVAL: its owners decide until ")
    assert request.state == "OPEN" and require(request.permit).status == "AWAITING_APPROVAL"
    for _ in range(4):
        later = tick(owned.golem)
        assert later.tier == "T0", later.gating_reason
        assert later.observation.endswith("1 waiting")
        assert not ActionRecord.objects.filter(tick_id=later.tick_id).exists()
    request.refresh_from_db()
    assert request.repeats == 1 and ActionPermit.objects.filter(golem=owned.golem).count() == 1
    assert SpendEntry.objects.get(permit_id=action.permit_id).state == "RESERVED"
    assert not OutboundTransaction.objects.exists()


def test_a_quiet_tick_beside_one_that_waits_takes_at_most_thirteen_queries(owned: LiveGolem) -> None:
    _ask(owned)
    make_due(owned.golem)
    claim = claim_one(owned.golem)
    with CaptureQueriesContext(connection) as captured:
        record = run_heartbeat_tick(claim=claim, work=work_here)
    assert record is not None and record.tier == "T0"
    boundaries = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE SAVEPOINT")
    queries = [row["sql"] for row in captured.captured_queries if not str(row["sql"]).startswith(boundaries)]
    assert len(queries) <= 13, "\n\n".join(queries)


def test_what_owners_approved_is_verified_and_remembered_by_the_next_tick(owned: LiveGolem) -> None:
    first, action, request = _ask(owned)
    approve(request, owned.owner)
    execute_change(request_id=request.pk, now=clock.now())
    second = tick(owned.golem)
    action.refresh_from_db()
    assert action.state == "EXECUTED" and require(action.permit).outcome.is_verified
    assert action.tx_hashes and action.gas_micro_usd and action.block_reason == ""
    assert second.outcome["earlier"][0]["heartbeat_tick"] == first.heartbeat_tick
    assert second.outcome["earlier"][0]["state"] == "EXECUTED"
    assert second.episodes_written == [str(Episode.objects.get(permit_id=action.permit_id).pk)]
    assert int(second.costs["gas_micro_usd"]) == action.gas_micro_usd
    assert second.tier == "T1" and "add_liquidity executed" in second.gating_reason
    assert {"ended": "add_liquidity executed"} in second.interventions
    assert not ActionRecord.objects.filter(tick_id=second.tick_id).exists()
    assert [each["in_range"] for each in second.probes["positions"]] == [True]
    third = tick(owned.golem)
    assert third.tier == "T0" and "earlier" not in third.outcome and third.episodes_written == []
    assert ActionPermit.objects.filter(golem=owned.golem).count() == 1


def test_what_owners_refused_is_heard_and_not_asked_again_for_a_day(owned: LiveGolem) -> None:
    _, action, request = _ask(owned)
    reject(request, owned.owner, reason="too large for my taste")
    begun = clock.now()
    second = tick(owned.golem)
    day = timedelta(days=1)
    action.refresh_from_db()
    assert action.state == "BLOCKED" and "too large for my taste" in action.block_reason
    assert second.tier == "T1" and {"ended": "add_liquidity blocked"} in second.interventions
    assert second.deliberation["summary"] == "waiting after a refusal: open"
    wait = _waits(owned)["open"]
    assert wait["code"] == "OWNERS_REFUSED"
    assert begun + day <= _time(wait["until"]) <= clock.now() + day
    for _ in range(2):
        later = tick(owned.golem)
        assert later.tier == "T0" and not ActionRecord.objects.filter(tick_id=later.tick_id).exists()
    assert ChangeRequest.objects.filter(golem=owned.golem).count() == 1
    assert SpendEntry.objects.get(permit_id=action.permit_id).state == "RELEASED"


def test_what_nobody_decided_in_time_is_heard_and_asked_again_later(owned: LiveGolem) -> None:
    _, action, request = _ask(owned)
    late = request.deadline_at + timedelta(seconds=1)
    assert time_out_changes(now=late) == 1
    begun, half_an_hour = clock.now(), timedelta(minutes=30)
    tick(owned.golem)
    action.refresh_from_db()
    assert action.state == "BLOCKED"
    wait = _waits(owned)["open"]
    assert wait["code"] == "NOBODY_DECIDED"
    assert begun + half_an_hour <= _time(wait["until"]) <= clock.now() + half_an_hour


def test_what_was_carried_out_begins_anew_so_a_later_refusal_of_it_is_the_first_in_a_row(owned: LiveGolem) -> None:
    _, _, request = _ask(owned)
    assert time_out_changes(now=request.deadline_at + timedelta(seconds=1)) == 1
    tick(owned.golem)
    assert _waits(owned)["open"]["count"] == 1
    _let_waits_end(owned)
    _, action, request = _ask(owned)
    assert _waits(owned)["open"]["count"] == 1
    approve(request, owned.owner)
    execute_change(request_id=request.pk, now=clock.now())
    record = tick(owned.golem)
    action.refresh_from_db()
    assert action.state == "EXECUTED" and "open" not in _waits(owned)
    assert "open waits no more: it was carried out" in record.mutations


def test_what_is_carried_out_in_its_own_tick_ends_the_wait_of_a_refusal_before_it(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem)
    before = {"until": (clock.now() - timedelta(hours=1)).isoformat(), "code": "RPC_TIMEOUT", "count": 7}
    Heartbeat.objects.filter(golem=live_golem.golem).update(state={"waits": {"open": before, "other": before}})
    record = tick(live_golem.golem)
    assert ActionRecord.objects.get(tick_id=record.tick_id).state == "EXECUTED"
    assert _waits(live_golem) == {"other": before}


def test_a_rehearsal_asks_no_owner(owned: LiveGolem) -> None:
    owned.golem.is_live = False
    owned.golem.save(update_fields=["is_live"])
    record, action, request = _ask(owned)
    assert action.state == "REHEARSED" and require(action.permit).status == "CANCELLED" and not record.is_live
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert request.state == "CANCELLED"


def test_a_tick_that_died_before_it_noted_the_permit_leaves_nobody_asked(owned: LiveGolem) -> None:
    _, action, request = _ask(owned)
    # As the rows are when a worker dies between the preview and the note of its permit.
    ActionRecord.objects.filter(pk=action.pk).update(state="PLANNED", permit=None, block_reason="")
    tick(owned.golem)
    action.refresh_from_db()
    assert action.state == "DEFERRED" and require(action.permit).status == "CANCELLED"
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert request.state == "CANCELLED"
    Heartbeat.objects.filter(golem=owned.golem).update(state={})
    tick(owned.golem)
    assert ChangeRequest.objects.filter(golem=owned.golem, state="OPEN").count() == 1


def test_a_permit_that_is_over_is_not_taken_for_one_that_a_dead_tick_left(owned: LiveGolem) -> None:
    _, action, request = _ask(owned)
    reject(request, owned.owner)
    ActionRecord.objects.filter(pk=action.pk).update(state="PLANNED", permit=None, block_reason="")
    tick(owned.golem)
    action.refresh_from_db()
    assert (action.state, action.permit) == ("DEFERRED", None)


def test_a_tick_that_died_before_it_left_the_permit_to_its_owners_is_taken_up(owned: LiveGolem) -> None:
    _, action, _ = _ask(owned)
    ActionRecord.objects.filter(pk=action.pk).update(state="PREVIEWED", block_reason="")
    tick(owned.golem)
    action.refresh_from_db()
    assert action.state == "WAITING" and ActionPermit.objects.filter(golem=owned.golem).count() == 1


def test_an_announced_action_is_asked_once_and_followed_to_its_outcome(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_warden_on(golem=golem, actor="owner", reason="I want to see it first", now=clock.now())
    turn_on(golem)
    first = tick(golem)
    action = ActionRecord.objects.get(tick_id=first.tick_id)
    permit = action.permit
    assert permit is not None and permit.status == "ANNOUNCED"
    assert action.state == "WAITING" and action.block_reason.startswith("ACTION_ANNOUNCED: it is carried out at ")
    second = tick(golem)
    assert second.tier == "T0" and not ActionRecord.objects.filter(tick_id=second.tick_id).exists()
    assert not OutboundTransaction.objects.filter(permit=permit).exists()
    due = Announcement.objects.get(permit=permit).executes_at
    execute_announced(permit_id=permit.pk, now=let_pass_until(due, chain=live_golem.world))
    third = tick(golem)
    action.refresh_from_db()
    assert action.state == "EXECUTED" and third.outcome["earlier"][0]["state"] == "EXECUTED"
    assert third.episodes_written and ActionPermit.objects.filter(golem=golem).count() == 1


def test_an_announced_action_an_owner_cancels_is_heard(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_warden_on(golem=golem, actor="owner", reason="I want to see it first", now=clock.now())
    turn_on(golem)
    first = tick(golem)
    action = ActionRecord.objects.get(tick_id=first.tick_id)
    assert action.permit_id is not None
    cancel_announced(golem=golem, permit_id=action.permit_id, reason="not today", actor="owner:1", now=clock.now())
    second = tick(golem)
    action.refresh_from_db()
    assert action.state == "BLOCKED" and action.block_reason == "not today"
    assert second.outcome["earlier"][0]["reason"] == "not today"
    assert _waits(live_golem)["open"]["code"] == "CANCELLED"
    assert not ActionRecord.objects.filter(tick_id=second.tick_id).exists()


def test_a_delay_of_two_days_is_waited_for_to_its_end(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    golem = live_golem.golem
    for tier in WARDEN_DELAY_SECONDS:
        monkeypatch.setitem(WARDEN_DELAY_SECONDS, tier, 48 * 3_600)
    turn_warden_on(golem=golem, actor="owner", reason="I want to see it first", now=clock.now())
    turn_on(golem)
    tick(golem)
    # It is longer than any wait of a refusal; what waits is known by its record.
    let_pass(timedelta(hours=47), chain=live_golem.world)
    Heartbeat.objects.filter(golem=golem).update(state={})
    record = tick(golem)
    assert not ActionRecord.objects.filter(tick_id=record.tick_id).exists()
    assert ActionPermit.objects.filter(golem=golem).count() == 1


def _let_waits_end(live: LiveGolem) -> None:
    """The time of each has come."""
    let_pass_until(max(_time(wait["until"]) for wait in _waits(live).values()), chain=live.world)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)

"""Every pair of permit states, allowed or not, and what one step writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Golem
from permits_app.errors import SameActionPending
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits import lifecycle
from tests.factories.golems import make_golem, make_owner
from tests.factories.permits import make_permit
from tools_app.core import wake_waiting_process
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db
S = PermitStatus
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
# In words of the decisions; state, then everything that may follow it.
FOLLOWING = {
    "CREATED": {"COMMITTING", "AWAITING_APPROVAL", "ANNOUNCED", "EXPIRED", "CANCELLED", "BLOCKED"},
    "AWAITING_APPROVAL": {"CREATED", "EXPIRED", "CANCELLED", "BLOCKED"},
    "ANNOUNCED": {"CREATED", "EXPIRED", "CANCELLED", "BLOCKED"},
    "COMMITTING": {"COMMITTED", "REVERTED", "UNKNOWN", "BLOCKED"},
    "UNKNOWN": {"COMMITTED", "REVERTED"},
    "COMMITTED": {"UNKNOWN"},
    "REVERTED": {"UNKNOWN"},
    "EXPIRED": set(),
    "CANCELLED": set(),
    "BLOCKED": set(),
}
TOLD = {
    "COMMITTED": "permit:committed",
    "REVERTED": "permit:committed",
    "EXPIRED": "permit:expired",
    "CANCELLED": "permit:cancelled",
    "BLOCKED": "permit:blocked",
    "UNKNOWN": "permit:unknown",
}


@pytest.fixture
def golem() -> Golem:
    return make_golem(owner=make_owner())


def step(permit: ActionPermit, leaving: str, to: str, **changes: Any) -> bool:
    return lifecycle.transition(permit_id=permit.pk, leaving=S(leaving), to=S(to), actor="t", now=NOW, **changes)


def test_every_state_is_followed_by_these_and_by_no_other(golem: Golem) -> None:
    assert set(FOLLOWING) == set(S.values)
    for leaving in S.values:
        for to in S.values:
            permit = make_permit(golem=golem, status=leaving)
            if to in FOLLOWING[leaving]:
                assert step(permit, leaving, to) is True
            else:
                with pytest.raises(ValueError, match="does not go"):
                    step(permit, leaving, to)
            permit.refresh_from_db()
            assert permit.status == (to if to in FOLLOWING[leaving] else leaving)
            # Two equal ones may not be under way at once.
            ActionPermit.objects.filter(pk=permit.pk).update(action_hash=str(permit.pk))


def test_final_are_the_states_that_nothing_but_a_reorganisation_leaves() -> None:
    assert {state.value for state in lifecycle.FINAL} == {
        state for state, following in FOLLOWING.items() if following <= {"UNKNOWN"}
    }


def test_one_step_writes_its_own_permit_its_line_and_its_event(golem: Golem) -> None:
    permit, other = (make_permit(golem=golem, status="COMMITTING", action_hash=each) for each in ("0x1", "0x2"))
    made = step(
        permit, "COMMITTING", "BLOCKED", reason="because", data={"code": "X"}, finished_at=NOW, problem={"a": 1}
    )
    permit.refresh_from_db()
    other.refresh_from_db()
    assert made is True
    assert (permit.status, permit.status_reason, permit.updated_at) == ("BLOCKED", "because", NOW)
    assert (permit.finished_at, permit.problem) == (NOW, {"a": 1})
    assert (other.status, other.status_reason) == ("COMMITTING", "")
    told = {
        "permit_id": str(permit.pk),
        "tool_name": permit.tool_name,
        "status": "BLOCKED",
        "code": "X",
        "reason": "because",
    }
    line = AuditEntry.objects.get()
    assert (line.event, line.actor, line.data) == ("PermitBlocked", "t", {**told, "plan_hash": permit.plan_hash})
    event = OutboxEvent.objects.get()
    assert (event.type, {name: event.payload[name] for name in told}) == ("permit:blocked", told)


@pytest.mark.parametrize(("leaving", "to"), [("CREATED", "COMMITTING"), ("COMMITTING", "BLOCKED")])
def test_a_step_reads_the_permit_it_tells_of_once(golem: Golem, leaving: str, to: str) -> None:
    permit = make_permit(golem=golem, status=leaving, committing_at=NOW)
    with CaptureQueriesContext(connection) as queries:
        step(permit, leaving, to)
    table = ActionPermit._meta.db_table
    read = [each["sql"] for each in queries if each["sql"].startswith("SELECT") and f'FROM "{table}"' in each["sql"]]
    assert len(read) == 1, read


@pytest.mark.parametrize(
    ("leaving", "to", "told"),
    [
        ("CREATED", "COMMITTING", ("tool:start", {"params_hash": "0xa5ed", "action_type": "swap"})),
        ("COMMITTING", "COMMITTED", ("tool:end", {"duration_ms": 1_500, "success": True})),
        ("COMMITTING", "REVERTED", ("tool:end", {"duration_ms": 1_500, "success": False})),
        ("COMMITTING", "BLOCKED", ("tool:error", {"duration_ms": 1_500, "error_code": "X", "error_message": "why"})),
        ("COMMITTING", "UNKNOWN", None),
        ("CREATED", "BLOCKED", None),
    ],
)
def test_the_tools_life_around_a_commit_is_told_and_of_a_local_write_its_handler_tells(
    golem: Golem, leaving: str, to: str, told: tuple[str, dict[str, Any]] | None
) -> None:
    begun = NOW - timedelta(seconds=1.5) if leaving == "COMMITTING" else None
    for is_local in (True, False):
        permit = make_permit(
            golem=golem,
            status=leaving,
            committing_at=begun,
            action_hash="0xa5ed",
            action_type="swap",
            is_local=is_local,
        )
        OutboxEvent.objects.all().delete()
        assert step(permit, leaving, to, reason="why", data={"code": "X"})
        seen = [(each.type, each.payload) for each in OutboxEvent.objects.filter(type__startswith="tool:")]
        if told is None or is_local:
            assert seen == []
        else:
            [(kind, payload)] = seen
            assert kind == told[0]
            of_call = {"tool_name": permit.tool_name, "call_id": str(permit.pk), "permit_id": str(permit.pk)}
            assert {**payload, **of_call, **told[1]} == payload
        ActionPermit.objects.filter(pk=permit.pk).update(action_hash=str(permit.pk))


def test_a_clock_that_went_back_makes_no_call_shorter_than_nothing(golem: Golem) -> None:
    permit = make_permit(golem=golem, status="COMMITTING", committing_at=NOW + timedelta(seconds=1))
    assert step(permit, "COMMITTING", "COMMITTED")
    assert OutboxEvent.objects.get(type="tool:end").payload["duration_ms"] == 0


@pytest.mark.parametrize(
    ("leaving", "to", "is_tapped"),
    [("COMMITTING", "COMMITTED", True), ("UNKNOWN", "REVERTED", True), ("CREATED", "COMMITTING", False)],
)
def test_whoever_waits_for_the_end_of_a_commit_is_woken_once_it_is_stored(
    golem: Golem, django_capture_on_commit_callbacks: Any, leaving: str, to: str, is_tapped: bool
) -> None:
    permit = make_permit(golem=golem, status=leaving)
    with django_capture_on_commit_callbacks() as kept:
        assert step(permit, leaving, to)
    woken = [each.args[0] for each in kept if getattr(each, "func", None) is wake_waiting_process.tap]
    assert woken == ([lifecycle.name_end(permit.pk)] if is_tapped else [])


@pytest.mark.parametrize("to", sorted({to for following in FOLLOWING.values() for to in following}))
def test_who_is_told_of_a_step(golem: Golem, to: str) -> None:
    leaving = next(state for state, following in FOLLOWING.items() if to in following)
    permit = make_permit(golem=golem, status=leaving)
    assert step(permit, leaving, to)
    of_permits = OutboxEvent.objects.exclude(type__startswith="tool:")
    assert list(of_permits.values_list("type", flat=True)) == ([TOLD[to]] if to in TOLD else [])
    assert "reason" not in AuditEntry.objects.get().data


@pytest.mark.parametrize(
    ("leaving", "condition"),
    [("AWAITING_APPROVAL", None), ("CREATED", {"expires_at__lte": NOW}), ("CREATED", {"expires_at_tick__lte": 2})],
)
def test_a_step_from_another_state_or_without_its_condition_writes_nothing(
    golem: Golem, leaving: str, condition: dict[str, Any] | None
) -> None:
    permit = make_permit(golem=golem, now=NOW, expires_at_tick=3)
    assert step(permit, leaving, "EXPIRED", condition=condition, reason="x") is False
    permit.refresh_from_db()
    assert (permit.status, permit.status_reason) == ("CREATED", "")
    assert not AuditEntry.objects.exists() and not OutboxEvent.objects.exists()


def test_a_condition_that_holds_lets_the_step_be(golem: Golem) -> None:
    permit = make_permit(golem=golem, now=NOW - timedelta(seconds=60))
    assert step(permit, "CREATED", "EXPIRED", condition={"expires_at__lte": NOW}) is True


def test_an_equal_action_under_way_refuses_a_second_one_and_nothing_of_it_stays(golem: Golem) -> None:
    make_permit(golem=golem, status="UNKNOWN", action_hash="0xequal")
    second = make_permit(golem=golem, action_hash="0xequal")
    with transaction.atomic():
        third = make_permit(golem=golem)
        with pytest.raises(SameActionPending) as refused:
            step(second, "CREATED", "COMMITTING")
        assert connection.needs_rollback
    assert refused.value.http_status == 409
    assert not ActionPermit.objects.filter(pk=third.pk).exists()


def test_another_broken_constraint_is_not_taken_for_an_equal_action(golem: Golem) -> None:
    permit = make_permit(golem=golem)
    with pytest.raises(Exception, match="permit_value_not_negative"):
        step(permit, "CREATED", "COMMITTING", value_micro_usd=-1)

"""A process whose own clock goes ahead ends nothing early: the database's clock, which all share, decides."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client

from golem_project.runtime.database_clock import begin_to_hold
from permits_app import tasks
from permits_app.actions.announce_warden_actions import turn_warden_on
from permits_app.actions.request_change import request_operation
from permits_app.doors.request_commit import request_commit
from permits_app.halts import deaths
from permits_app.models import (
    ActionPermit,
    Announcement,
    ChangeRequest,
    Death,
    IdempotencyRecord,
    OutboundTransaction,
    SpendingLimits,
    WithdrawalAddress,
)
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import SWAP, Agent, assert_problem
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass, let_pass_until, move_own_clock
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve
from tests.permits_app.approvals.withdrawing import HOME, Two
from tools_app.core import clock

pytestmark = pytest.mark.usefixtures("eager")

AHEAD = pytest.mark.parametrize(
    "ahead", [timedelta(hours=2), timedelta(days=1), timedelta(days=3)], ids=["two hours", "a day", "three days"]
)


@pytest.fixture
def live_golem(shared_golem: LiveGolem) -> LiveGolem:
    """A task gives its connection back where it begins, as a worker's does: none runs inside a test's transaction."""
    return shared_golem


def agent_of(live: LiveGolem) -> Agent:
    return Agent(golem=live.golem, key=live.key, client=Client())


def registering(two: Two) -> ChangeRequest:
    """An address for withdrawals, approved: two days from now it may be used."""
    live, owner, other = two
    arguments = {"act": "register", "chain_id": CHAIN_ID, "address": HOME, "label": "Cold wallet"}
    asked = request_operation(
        golem=live.golem, name="withdrawal_address", arguments=arguments, owner=owner, reason="mine", now=clock.now()
    )
    request = approve(asked, other)
    request.refresh_from_db()
    return request


@AHEAD
def test_what_owners_approved_waits_its_two_days_by_the_databases_clock(two_owners: Two, ahead: timedelta) -> None:
    request = registering(two_owners)
    move_own_clock(ahead)
    tasks.sweep_changes_task.apply()
    tasks.commit_change_task.apply(kwargs={"request_id": str(request.pk)})
    request.refresh_from_db()
    assert request.state == "APPROVED" and not WithdrawalAddress.objects.exists()
    let_pass_until(request.executes_at)
    tasks.sweep_changes_task.apply()
    assert WithdrawalAddress.objects.get().address == HOME


@AHEAD
def test_what_nobody_decided_yet_has_its_time_to_be_decided(two_owners: Two, ahead: timedelta) -> None:
    live, owner, _ = two_owners
    arguments = {"act": "register", "chain_id": CHAIN_ID, "address": HOME, "label": "Cold wallet"}
    request = request_operation(
        golem=live.golem, name="withdrawal_address", arguments=arguments, owner=owner, reason="mine", now=clock.now()
    )
    move_own_clock(ahead)
    tasks.sweep_changes_task.apply()
    request.refresh_from_db()
    assert request.state == "OPEN"


@AHEAD
def test_an_announced_action_leaves_its_owner_the_whole_delay(live_golem: LiveGolem, ahead: timedelta) -> None:
    turn_warden_on(golem=live_golem.golem, actor="owner:1", reason="careful", now=clock.now())
    permit_id = live_golem.preview()["permit_id"]
    request_commit(
        golem=live_golem.golem, api_key=live_golem.key.key, permit_id=permit_id, wait_seconds=0, request_id="test"
    )
    move_own_clock(ahead)
    tasks.sweep_permits_task.apply()
    tasks.sweep_changes_task.apply()
    tasks.commit_announced_task.apply(kwargs={"permit_id": permit_id})
    assert Announcement.objects.get(permit_id=permit_id).state == "WAITING"
    assert not OutboundTransaction.objects.exists()
    let_pass_until(Announcement.objects.get().executes_at, chain=live_golem.world)
    tasks.sweep_changes_task.apply()
    assert ActionPermit.objects.get(pk=permit_id).status == "COMMITTED"


@AHEAD
def test_a_golem_that_is_to_end_in_a_day_ends_in_a_day(live_golem: LiveGolem, ahead: timedelta) -> None:
    now = clock.now()
    deaths.announce_death(golem=live_golem.golem, reason="old", actor="x", due_at=now + deaths.NOTICE, now=now)
    move_own_clock(ahead)
    tasks.commit_deaths_task.apply()
    live_golem.golem.refresh_from_db()
    assert Death.objects.get().state == "ANNOUNCED" and not live_golem.golem.is_halted
    let_pass(deaths.NOTICE)
    tasks.commit_deaths_task.apply()
    live_golem.golem.refresh_from_db()
    assert live_golem.golem.is_halted


@AHEAD
def test_what_was_spent_today_counts_today(shared_golem: LiveGolem, ahead: timedelta) -> None:
    SpendingLimits.objects.filter(golem=shared_golem.golem).update(per_day_micro_usd=700_000_000)
    shared_golem.commit(shared_golem.preview()["permit_id"])
    move_own_clock(ahead)
    answer = agent_of(shared_golem).post("preview_action", SWAP)
    assert_problem(answer, 403, "SAFETY_SPENDING_LIMIT_EXCEEDED")


@AHEAD
def test_a_permit_and_an_answer_that_is_kept_live_as_long_as_they_may(
    shared_golem: LiveGolem, ahead: timedelta
) -> None:
    agent = agent_of(shared_golem)
    first = agent.post("preview_action", SWAP, **{"Idempotency-Key": "once"})
    move_own_clock(ahead)
    tasks.sweep_permits_task.apply()
    again = agent.post("preview_action", SWAP, **{"Idempotency-Key": "once"})
    assert again.json()["permit_id"] == first.json()["permit_id"] and IdempotencyRecord.objects.count() == 1
    assert ActionPermit.objects.get().status == "CREATED"


@AHEAD
def test_a_server_that_is_ahead_says_so_and_goes_by_the_databases_clock(
    transactional_db: None, ahead: timedelta, caplog: pytest.LogCaptureFixture
) -> None:
    before = clock.now()
    move_own_clock(ahead)
    with caplog.at_level(logging.ERROR):
        checks = Client().get("/readyz").json()["checks"]
    [told] = [each for each in checks if each["name"] == "clock"]
    assert not told["ok"], told
    assert clock.now() - before < ahead
    assert "it goes on by the database's" in caplog.text


@contextmanager
def shared_clock_ahead(seconds: float) -> Iterator[None]:
    """The database's clock is `seconds` ahead of this machine's."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA other_clock")
        cursor.execute(
            "CREATE FUNCTION other_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS"
            f" $$ SELECT pg_catalog.clock_timestamp() + interval '{seconds} seconds' $$"
        )
        cursor.execute("SET search_path TO other_clock, public, pg_catalog")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET search_path")
            cursor.execute("DROP SCHEMA other_clock CASCADE")


@AHEAD
def test_a_jump_that_the_database_made_too_is_followed(transactional_db: None, ahead: timedelta) -> None:
    """As after a machine slept."""
    before = clock.now()
    move_own_clock(ahead)
    assert clock.now() - before < ahead, "not before it was compared"
    with shared_clock_ahead(ahead.total_seconds()):
        tasks.sweep_permits_task.apply()
    assert clock.now() - before >= ahead


def test_a_clock_that_comes_back_is_followed_again_and_nothing_was_set_back(shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    move_own_clock(timedelta(hours=2))
    tasks.sweep_permits_task.apply()
    move_own_clock(timedelta(hours=-2))
    tasks.sweep_permits_task.apply()
    assert not clock.take_set_back() and not clock.is_doubtful()
    assert ActionPermit.objects.get(pk=permit_id).status == "CREATED"


@pytest.mark.parametrize(("seconds", "follows"), [(8, False), (60, True), (-60, True)])
def test_a_clock_that_drifted_without_a_jump_is_noticed_within_half_a_minute(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, seconds: int, follows: bool
) -> None:
    begin_to_hold()
    passed = 0.0
    real, counter = time.time, time.perf_counter
    monkeypatch.setattr(time, "time", lambda: real() + passed)
    monkeypatch.setattr(time, "perf_counter", lambda: counter() + passed)
    passed = 31.0
    with shared_clock_ahead(seconds + passed):
        tasks.sweep_permits_task.apply()
    assert clock.is_doubtful() is follows
    if follows:
        assert (clock.now() > clock.wall()) is (seconds > 0)


def test_a_process_that_starts_without_a_database_begins_with_its_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golem_project.runtime.database_clock._compare", lambda: None)
    begin_to_hold()
    assert not clock.is_doubtful()

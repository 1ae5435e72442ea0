"""What was written while a clock was ahead keeps nobody waiting once it is back, and lasts no longer than it may."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from archetypes_app.models import ChatTurn
from golem_project.alerts.models import Alert
from golem_project.chat.turn_states import ask_golem
from golem_project.runtime.future_times import mend_future_rows
from permits_app.actions.record_nav import record_nav
from permits_app.actions.try_policy import STUCK_AFTER, is_stuck, open_trial
from permits_app.execution import receipt_balance_contradictions
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, CageMirror, HealthAlert, NavSnapshot, OutboundTransaction
from permits_app.policy_cage.mirror import is_behind
from permits_app.reviewers.entry_facts import ALERT_LASTS, judge_alerts
from tests.factories.golems import make_golem, make_owner
from tests.golem_project.alerts.room import make_channel, read_texts, run
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.test_nav_parts import block, measure
from tests.receiver import Receiver
from tests.tools_app.portfolio.paper_bank import CHAIN_ID, Paper, on_the_shelf
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType

JUMPS = pytest.mark.parametrize("jump", [timedelta(hours=2), timedelta(days=1)], ids=["two hours", "a day"])
STUCK = timedelta(seconds=91)


@JUMPS
def test_a_stuck_call_that_was_sent_in_a_future_that_did_not_come_is_replaced_in_its_time(
    live_golem: LiveGolem, jump: timedelta
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    with mining_paused(live_golem.world):
        live_golem.start(permit_id)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
            live_golem.work(permit_id)
        rows = OutboundTransaction.objects.filter(permit_id=UUID(permit_id))
        rows.update(created_at=clock.now() + jump, broadcast_at=clock.now() + jump)
        mend_future_rows(now=clock.now())
        assert reconcile_transactions(now=clock.now() + STUCK)["sped_up"] == 1
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == "COMMITTED"


@JUMPS
def test_a_doubt_of_a_future_that_did_not_come_is_over_in_its_time(
    shared_golem: LiveGolem, jump: timedelta, settings: Any
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.commit(permit_id)
    late, patience = clock.now() + jump, timedelta(seconds=settings.GOLEM_DOUBT_SECONDS + 1)
    ActionPermit.objects.filter(pk=permit_id).update(doubted_at=late)
    OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).update(passed_at=late)
    mend_future_rows(now=clock.now())
    assert receipt_balance_contradictions.is_over(ActionPermit.objects.get(pk=permit_id), clock.now() + patience)
    passed = OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).values_list("passed_at", flat=True)
    assert all(each is not None and each <= clock.now() for each in passed)


@JUMPS
@pytest.mark.django_db
def test_values_are_kept_again_after_ten_minutes_and_no_part_counts_twice(jump: timedelta) -> None:
    golem, paper, now = make_golem(owner=make_owner()), Paper(deposited=10**21), clock.now()
    with on_the_shelf():

        def keep(number: int, at: Any) -> NavSnapshot | None:
            paper.deposited += 10**18
            return record_nav(golem=golem, chain_id=CHAIN_ID, block=block(number), holdings=measure(paper), now=at)

        assert keep(1, now) and keep(2, now + jump) and keep(3, now + jump + timedelta(minutes=11))
        mend_future_rows(now=now)
        assert keep(4, now + timedelta(minutes=9)) is None
        kept = keep(5, now + timedelta(minutes=11))
    assert kept is not None and kept.parts["fees_and_interest"] == str(2 * 10**6), "since the last block that was kept"
    assert NavSnapshot.objects.order_by("-at").first() == kept, "whoever asks for the newest value gets it"


@JUMPS
@pytest.mark.django_db
def test_a_message_whose_worker_died_in_a_future_that_did_not_come_keeps_its_golem_from_no_other(
    jump: timedelta, settings: Any
) -> None:
    golem = make_golem(owner=make_owner())
    lost = ask_golem(golem=golem, owner=golem.owner, words="one", begins_anew=False, now=clock.now() + jump)
    mend_future_rows(now=clock.now())
    soon = clock.now() + timedelta(seconds=settings.GOLEM_CHAT_SECONDS + 61)
    ask_golem(golem=golem, owner=golem.owner, words="two", begins_anew=False, now=soon)
    assert ChatTurn.objects.get(pk=lost.pk).stopped_by == "CHAT_ABANDONED"


@JUMPS
@pytest.mark.django_db
def test_a_trial_that_stopped_in_a_future_that_did_not_come_is_called_stuck_in_its_time(jump: timedelta) -> None:
    golem = make_golem(owner=make_owner())
    trial = open_trial(golem=golem, asked_by="t", now=clock.now() + jump)
    mend_future_rows(now=clock.now())
    trial.refresh_from_db()
    assert is_stuck(trial, now=clock.now() + STUCK_AFTER + timedelta(seconds=1))


@JUMPS
@pytest.mark.django_db(transaction=True)
def test_what_happened_in_a_future_that_did_not_come_is_told_with_the_next_digest(
    make_agent: MakeAgent, receiver: Receiver, jump: timedelta, settings: Any
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    golem = make_agent().golem
    make_channel(golem, receiver.url, digest_minutes=15)
    event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": "x"}), now=clock.now() + jump)
    run()
    assert Alert.objects.update(is_urgent=False) == 1
    mend_future_rows(now=clock.now())
    run(clock.now() + timedelta(minutes=16))
    assert len(read_texts(receiver)) == 1


@JUMPS
@pytest.mark.django_db
def test_a_breach_that_was_found_in_a_future_that_did_not_come_lasts_no_longer_than_another(jump: timedelta) -> None:
    golem, late = make_golem(owner=make_owner()), clock.now() + jump
    HealthAlert.objects.create(
        golem=golem, protocol="aave_v3", chain_id=CHAIN_ID, min_health_bps=15_000, last_triggered_at=late
    )
    mend_future_rows(now=clock.now())
    assert judge_alerts(golem.pk, now=clock.now())
    assert not judge_alerts(golem.pk, now=clock.now() + ALERT_LASTS + timedelta(seconds=1))


@JUMPS
def test_a_cage_that_was_seen_in_a_future_that_did_not_come_is_not_taken_for_seen_just_now(jump: timedelta) -> None:
    """It would let plans be judged by rules of long ago until then."""
    now = clock.now()
    assert is_behind(CageMirror(synced_at=now + jump), now=now)
    assert not is_behind(CageMirror(synced_at=now + clock.AHEAD), now=now)

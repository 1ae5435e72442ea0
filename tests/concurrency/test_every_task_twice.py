"""Every Celery task of the product, run twice and twice at once: its effect happens once.

A task without a row fails here. A row prepares one situation and answers what to run and what must hold afterwards;
a task that only its own tests can set up names the test that delivers it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.conf import settings
from django.test import override_settings

from archetypes_app.models import AlertBatch, Golem, Heartbeat, HeartbeatTick
from golem_project.a2a import notifications, unsettled_sale_alert
from golem_project.a2a import tasks as a2a_tasks
from golem_project.a2a.models import OpenedRead
from golem_project.alerts import channels
from golem_project.alerts import tasks as alert_tasks
from golem_project.alerts.models import Alert
from golem_project.celery import app
from golem_project.chat import tasks as chat_tasks
from golem_project.chat.turn_states import ask_golem
from golem_project.heartbeat import tasks as heartbeat_tasks
from golem_project.heartbeat.tick_claims import claim_due
from golem_project.people import tasks as people_tasks
from golem_project.stream import deliveries, delivery_turns, webhooks
from golem_project.stream import tasks as stream_tasks
from golem_project.stream.delivery_turns import Wanting
from golem_project.stream.models import TurnKind, WebhookDelivery, WebhookEndpoint
from memory_app import tasks as memory_tasks
from memory_app.models import Episode
from permits_app import tasks
from permits_app.actions.carry_out_deaths import carry_out_deaths
from permits_app.actions.halt import halt_golem
from permits_app.execution.nonces import reserve_nonces
from permits_app.halts.deaths import announce_death
from permits_app.limits.ledger import settle
from permits_app.models import (
    ActionPermit,
    ChangeRequest,
    Death,
    HaltRecord,
    KeySpend,
    NonceReservation,
    OutboundTransaction,
    OutcomeRecord,
    SigningKey,
    SpendEntry,
)
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from tests import factories
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.golem_project.alerts.waiting import make_waiting_channel
from tests.golem_project.heartbeat.pulses import turn_on
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass_until
from tests.permits_app.caged_golem import CagedGolem
from tools_app import tasks as tools_tasks
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditCheckpoint, AuditEntry, OutboxEvent
from tools_app.models import ChainLog, FollowedChain, LogGap, LogSource, LogWish, PriceBar
from tools_app.models.subscription import SubscriptionKind
from tools_app.subsystems.stream.subscriptions import open_subscription

Prepared = tuple[Callable[[], Any], Callable[[], None]]


def commit_task(golem: LiveGolem) -> Prepared:
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    usdc = golem.balance("USDC")

    def check() -> None:
        assert golem.permit(permit_id).status == PermitStatus.COMMITTED
        assert usdc - golem.balance("USDC") == 500_000_000
        assert golem.mined_nonce() == OutboundTransaction.objects.count() == 2
        assert OutcomeRecord.objects.count() == 1

    return lambda: tasks.commit_permit_task.run(permit_id=permit_id), check


def halt_task(golem: LiveGolem) -> Prepared:
    halt_golem(golem=golem.golem, reason="x", actor="t", now=clock.now())

    def check() -> None:
        assert HaltRecord.objects.get().completed_at is not None
        assert OutboxEvent.objects.filter(type="halt:completed").count() == 1
        assert AuditEntry.objects.filter(event="HaltCompleted").count() == 1

    return lambda: tasks.commit_halt_task.run(golem_id=str(golem.golem.pk), epoch=1), check


def sweep_task(golem: LiveGolem) -> Prepared:
    permit_id = golem.preview()["permit_id"]
    let_pass_until(golem.permit(permit_id).expires_at)

    def check() -> None:
        assert golem.permit(permit_id).status == PermitStatus.EXPIRED
        assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.RELEASED
        assert AuditEntry.objects.filter(event="PermitExpired").count() == 1

    return tasks.sweep_permits_task.run, check


def reconciliation_task(golem: LiveGolem) -> Prepared:
    lost = golem.permit(golem.preview()["permit_id"])
    used = golem.permit(golem.preview(amount="400000000")["permit_id"])
    for permit in (lost, used):
        reserve_nonces(permit_id=permit.pk, chain_id=31337, address=permit.signer, count=1, pending_nonce=0)
    NonceReservation.objects.filter(permit=lost).update(state="ABANDONED", permit=None)

    def check() -> None:
        assert OutboundTransaction.objects.filter(purpose="FILL").count() == 1
        assert AuditEntry.objects.filter(event="NonceFilled").count() == 1
        assert golem.mined_nonce() == 1

    return tasks.commit_reconciliation_task.run, check


def checkpoint_task(golem: LiveGolem) -> Prepared:
    golem.preview()

    def check() -> None:
        assert AuditCheckpoint.objects.filter(golem_id=golem.golem.pk).count() == 1
        assert verify_stored_chain(golem.golem.pk).broken is None

    return tools_tasks.sign_audit_checkpoints_task.run, check


def key_spends_task(golem: LiveGolem) -> Prepared:
    """What a key spent two days ago is added to its sum once."""
    key = factories.make_api_key(golem=golem.golem).key
    permit = factories.make_permit(golem=golem.golem, api_key=key)
    entry = factories.make_spend_entry(permit=permit)
    settle(permit_id=permit.pk, spent_micro_usd=7_000_000, counted_at=clock.now() - timedelta(days=2))

    def check() -> None:
        assert list(KeySpend.objects.values_list("api_key", "micro_usd")) == [(key.pk, 7_000_000)]
        assert SpendEntry.objects.get(pk=entry.pk).is_in_key_sum

    return tasks.sum_key_spends_task.run, check


def publish_task(golem: LiveGolem) -> Prepared:
    golem.preview()

    def check() -> None:
        assert not OutboxEvent.objects.filter(published_at__isnull=True).exists()

    return tools_tasks.publish_events_task.run, check


def remember_task(golem: LiveGolem) -> Prepared:
    permit_id = golem.preview()["permit_id"]
    golem.commit(permit_id)

    def check() -> None:
        assert Episode.objects.filter(permit_id=permit_id).count() == 1
        assert OutcomeRecord.objects.get(permit_id=permit_id).episode_id is not None

    return lambda: tasks.remember_outcomes_task.run(permit_ids=[permit_id]), check


def preview_task(golem: LiveGolem) -> Prepared:
    """Two requests are two permits; each holds its own reservation and no limit is passed."""
    body = {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}

    def check() -> None:
        permits = ActionPermit.objects.filter(golem=golem.golem)
        assert permits.count() == SpendEntry.objects.filter(state=SpendState.RESERVED).count() > 0
        assert permits.count() == AuditEntry.objects.filter(event="PermitCreated").count()
        assert verify_stored_chain(golem.golem.pk).broken is None

    return lambda: tasks.preview_action_task.run(golem_id=str(golem.golem.pk), api_key_id=None, body=body), check


def store_episode_task(golem: LiveGolem) -> Prepared:
    permit_id = golem.preview()["permit_id"]
    facts: dict[str, Any] = {
        "golem_id": str(golem.golem.pk),
        "permit_id": permit_id,
        "tool_name": "uniswap_execute_swap",
        "action_type": "swap",
        "venue": "uniswap",
        "chain_id": 31337,
        "tokens": ["USDC", "WETH"],
        "prediction": {},
        "outcome": {"succeeded": True},
        "summary": "Swapped 500 USDC",
        "importance": "notable",
        "provenance": {"source": "RUNTIME"},
        "occurred_at": clock.now().isoformat(),
    }

    def check() -> None:
        assert Episode.objects.filter(permit_id=UUID(permit_id)).count() == 1

    return lambda: memory_tasks.store_episode_task.run(**facts), check


def query_grimoire_task(golem: LiveGolem) -> Prepared:
    def check() -> None:
        assert not Episode.objects.exists()

    def run() -> Any:
        return memory_tasks.query_grimoire_task.run(
            golem_id=str(golem.golem.pk), query="swap", store="episodes", limit=3, filters={}
        )

    return run, check


def unchanged_task(task: Any) -> Callable[[LiveGolem], Prepared]:
    """A task that works off what is there: after one run another one finds nothing to do."""

    def prepare(golem: LiveGolem) -> Prepared:
        permit_id = golem.preview()["permit_id"]
        golem.commit(permit_id)
        tasks.remember_outcomes_task.run(permit_ids=[permit_id])
        task.run()
        before = count_rows()

        def check() -> None:
            assert count_rows() == before

        return task.run, check

    return prepare


def count_rows() -> dict[str, int]:
    """How many rows each model of the product has."""
    ours = ("tools_app", "archetypes_app", "memory_app", "permits_app", "stream", "a2a")
    models = [model for label in ours for model in apps.get_app_config(label).get_models()]
    return {model._meta.label: model._base_manager.count() for model in models}


def dream_task(golem: LiveGolem) -> Prepared:
    """A golem with nothing to dream about: however often it is asked, nothing is written."""
    before = count_rows()

    def check() -> None:
        assert count_rows() == before

    return lambda: memory_tasks.dream_task.run(golem_id=str(golem.golem.pk)), check


def claim_task(golem: LiveGolem) -> Prepared:
    turn_on(golem.golem, rule={})

    def check() -> None:
        beat = Heartbeat.objects.get(golem=golem.golem)
        assert beat.fence == 1

    return heartbeat_tasks.claim_heartbeats_task.run, check


def tick_task(golem: LiveGolem) -> Prepared:
    turn_on(golem.golem, rule={})
    (claim,) = claim_due(
        now=clock.now(),
        limit=1,
        lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
        jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
    )

    def check() -> None:
        assert list(HeartbeatTick.objects.values_list("number", "status")) == [(1, "COMPLETE")]

    return lambda: heartbeat_tasks.tick_golem_task.run(golem_id=str(golem.golem.pk), fence=claim.fence), check


def make_webhook(golem: LiveGolem) -> WebhookEndpoint:
    """An endpoint that was set up where private addresses were allowed; trying it here is refused before it is sent."""
    with override_settings(GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES=True):
        endpoint, _ = webhooks.create_endpoint(
            owner=golem.owner,
            golem=golem.golem,
            label="hook",
            url="https://127.0.0.1:1/hook",
            types=["permit:created"],
            now=clock.now(),
        )
    return endpoint


def give_turn(kind: TurnKind, wanting: Sequence[Wanting]) -> dict[str, str]:
    """What the task of the one receiver that waits is told."""
    (turn,) = delivery_turns.give_turns(kind=kind, wanting=wanting, now=clock.now())
    return {"receiver": str(turn.receiver), "turn_id": str(turn.turn_id)}


def spread_task(golem: LiveGolem) -> Prepared:
    make_webhook(golem)
    golem.preview()

    def check() -> None:
        assert WebhookDelivery.objects.count() == 1

    return stream_tasks.spread_webhooks_task.run, check


def deliver_task(golem: LiveGolem) -> Prepared:
    make_webhook(golem)
    golem.preview()
    webhooks.spread_events(now=clock.now())
    delivery = WebhookDelivery.objects.get()

    def check() -> None:
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts) == ("WAITING", 1)
        assert delivery.next_attempt_at is not None and delivery.next_attempt_at > clock.now()

    told = give_turn(TurnKind.WEBHOOK, deliveries.list_wanting(now=clock.now()))
    return lambda: stream_tasks.deliver_webhooks_task.run(**told), check


def gather_alerts_task(golem: LiveGolem) -> Prepared:
    make_waiting_channel(golem.golem)

    def check() -> None:
        assert Alert.objects.count() == 1

    return alert_tasks.gather_alerts_task.run, check


def send_alerts_task(golem: LiveGolem) -> Prepared:
    channel = make_waiting_channel(golem.golem)
    channels.gather_alerts(now=clock.now())

    def check() -> None:
        channel.refresh_from_db()
        assert (channel.failures, channel.alerts.filter(sent_at__isnull=True).count()) == (1, 1)

    told = give_turn(TurnKind.ALERT, channels.list_wanting(now=clock.now()))
    return lambda: alert_tasks.send_alerts_task.run(**told), check


def sessions_task(golem: LiveGolem) -> Prepared:
    """A session that is due, and a worse phase: one key is staged, owners are asked once, the cage is told once."""
    caged = CagedGolem(golem)
    SigningKey.objects.filter(pk=caged.key.pk).update(activated_at=clock.now() - timedelta(days=7))
    Golem.objects.filter(pk=golem.golem.pk).update(phase="DEFENSIVE")

    def check() -> None:
        assert SigningKey.objects.filter(golem=golem.golem, state="STAGED").count() == 1
        assert ChangeRequest.objects.filter(golem=golem.golem, change__act="session").count() == 1
        assert ActionPermit.objects.filter(tool_name="worsen_phase", status=PermitStatus.COMMITTED).count() == 1
        assert AuditEntry.objects.filter(event="SigningKeyStaged").count() == 2, (
            "the first session's, and the next one's"
        )

    return tasks.commit_sessions_task.run, check


def deaths_task(golem: LiveGolem) -> Prepared:
    """An end that is due, of a golem that holds no position: one halt, one export, one retirement."""
    announce_death(golem=golem.golem, reason="done", actor="owner:1", due_at=clock.now(), now=clock.now())

    def check() -> None:
        tasks.commit_halt_task.run(golem_id=str(golem.golem.pk), epoch=1)
        at_once(lambda _: carry_out_deaths(now=clock.now()), count=4)
        tasks.commit_deaths_task.run()
        assert Death.objects.get().state == "RETIRED"
        for event in ("DeathInitiated", "HaltStarted", "GrimoireExported", "GolemRetired"):
            assert AuditEntry.objects.filter(event=event).count() == 1, event
        assert OutboxEvent.objects.filter(type="death:completed").count() == 1

    return tasks.commit_deaths_task.run, check


def answer_task(golem: LiveGolem) -> Prepared:
    """A message that waits: without a model it ends with what is missing, once."""
    turn = ask_golem(golem=golem.golem, owner=golem.owner, words="Hello?", begins_anew=False, now=clock.now())

    def check() -> None:
        turn.refresh_from_db()
        assert (turn.state, turn.stopped_by) == ("STOPPED", "MODEL_NOT_CONFIGURED")
        assert OutboxEvent.objects.filter(type="chat:turn", payload__step="ended").count() == 1

    return lambda: chat_tasks.answer_turn_task.run(turn_id=str(turn.pk)), check


def forget_events_task(golem: LiveGolem) -> Prepared:
    golem.preview()
    OutboxEvent.objects.update(published_at=clock.now() - timedelta(days=400))
    golem.preview()

    def check() -> None:
        assert OutboxEvent.objects.filter(published_at__lt=clock.now() - timedelta(days=1)).count() == 0
        assert OutboxEvent.objects.count() > 0

    return stream_tasks.forget_old_events_task.run, check


def watch_sales_task(golem: LiveGolem) -> Prepared:
    OpenedRead.objects.create(
        golem=golem.golem, query="limits", venue="golem", price_micro_usdc=1, created_at=clock.now()
    )
    told_before = clock.now() - timedelta(hours=1)
    away = [{"rule": unsettled_sale_alert.AWAY, "observed": "", "limit": ""}]
    AlertBatch.objects.create(
        golem=golem.golem,
        source=unsettled_sale_alert.SOURCE,
        window_start=told_before,
        alerts=away,
        created_at=told_before,
    )

    def check() -> None:
        told = AlertBatch.objects.filter(golem=golem.golem, source=unsettled_sale_alert.SOURCE).order_by("window_start")
        assert [each.alerts[0]["rule"] for each in told] == [unsettled_sale_alert.AWAY, "well again"]

    return a2a_tasks.watch_sales_task.run, check


def follow_a2a_task(golem: LiveGolem) -> Prepared:
    holds_until = clock.now() + timedelta(seconds=settings.GOLEM_A2A_LEASE_SECONDS)
    task = factories.make_a2a_task(golem=golem.golem, api_key=golem.key.key, lease_until=holds_until)
    let_pass_until(holds_until)

    def check() -> None:
        task.refresh_from_db()
        assert (task.state, task.version) == ("FAILED", 2)

    return a2a_tasks.follow_tasks_task.run, check


def notify_a2a_task(golem: LiveGolem) -> Prepared:
    """An address that would be refused today; it is tried once, and the next try has its time."""
    row = factories.make_a2a_notification(golem=golem.golem, url="https://127.0.0.1:1/hook")

    def check() -> None:
        row.refresh_from_db()
        assert (row.state, row.attempts) == ("WAITING", 1)
        assert row.next_attempt_at is not None and row.next_attempt_at > clock.now()

    told = give_turn(TurnKind.NOTICE, notifications.list_wanting(now=clock.now()))
    return lambda: a2a_tasks.notify_task.run(**told), check


def stop_accounts_task(golem: LiveGolem) -> Prepared:
    """The only owner's account is locked: one halt, one word of it, and no key is left."""
    type(golem.owner).objects.filter(pk=golem.owner.pk).update(is_active=False)

    def check() -> None:
        golem.golem.refresh_from_db()
        assert (golem.golem.is_halted, golem.golem.halt_epoch) == (True, 1)
        for event in ("HaltStarted", "AccountStopped", "ApiKeyRevoked"):
            assert AuditEntry.objects.filter(event=event).count() == 1, event

    return people_tasks.stop_accounts_task.run, check


def pulse_task(golem: LiveGolem) -> Prepared:
    """The same worker says twice that it is alive, and there is one line of it."""
    run = partial(tools_tasks.note_pulse_task.run, queue="commit")
    run()
    before = count_rows()

    def check() -> None:
        assert count_rows() == before

    return run, check


def _swap(golem: LiveGolem) -> None:
    """A swap in a block that two others lie on."""
    golem.commit(golem.preview()["permit_id"])
    golem.world.rpc.call("anvil_mine", "0x2")


def _follow_a_pool(golem: LiveGolem) -> LogSource:
    """A pool the golem's subscription has followed since a swap, with another swap that is still to be read."""
    _swap(golem)
    pool = golem.world.pool("v3", "USDC", "WETH", 500).address
    open_subscription(
        golem_id=golem.golem.pk,
        kind=SubscriptionKind.POOL_STATE,
        chain_ids=(31337,),
        params={"pool_address": pool},
        interval_ms=15_000,
        now=clock.now(),
    )
    tools_tasks.renew_history_task.run()
    _swap(golem)
    return LogSource.objects.get(address=pool)


def _count_kept(source: LogSource) -> tuple[int, int]:
    return ChainLog.objects.filter(source_id=source.pk).count(), LogSource.objects.get(pk=source.pk).logs


def follow_history_task(golem: LiveGolem) -> Prepared:
    source = _follow_a_pool(golem)
    begun = FollowedChain.objects.get().next_block

    def check() -> None:
        assert FollowedChain.objects.get().next_block > begun
        kept, counted = _count_kept(source)
        assert kept == counted

    return tools_tasks.follow_history_task.run, check


def fill_history_task(golem: LiveGolem) -> Prepared:
    source = _follow_a_pool(golem)

    def check() -> None:
        kept, counted = _count_kept(source)
        assert kept == counted > 0
        assert PriceBar.objects.filter(source=source).exists()

    return tools_tasks.fill_history_task.run, check


def renew_history_task(golem: LiveGolem) -> Prepared:
    _follow_a_pool(golem)

    def check() -> None:
        assert LogSource.objects.count() == LogWish.objects.count() == LogGap.objects.count() == 1

    return tools_tasks.renew_history_task.run, check


def clean_history_task(golem: LiveGolem) -> Prepared:
    _follow_a_pool(golem)
    LogWish.objects.update(renewed_at=clock.now() - timedelta(days=30))

    def check() -> None:
        assert not LogSource.objects.exists()
        assert FollowedChain.objects.count() == 1

    return tools_tasks.clean_history_task.run, check


ROWS: dict[str, Callable[[LiveGolem], Prepared]] = {
    "golem_project.chat.tasks.answer_turn_task": answer_task,
    "golem_project.people.tasks.stop_accounts_task": stop_accounts_task,
    "permits_app.tasks.preview_action_task": preview_task,
    "permits_app.tasks.commit_permit_task": commit_task,
    "permits_app.tasks.commit_halt_task": halt_task,
    "permits_app.tasks.sweep_permits_task": sweep_task,
    "permits_app.tasks.sweep_changes_task": unchanged_task(tasks.sweep_changes_task),
    "permits_app.tasks.lay_away_records_task": unchanged_task(tasks.lay_away_records_task),
    "permits_app.tasks.sum_key_spends_task": key_spends_task,
    "permits_app.tasks.commit_openings_task": unchanged_task(tasks.commit_openings_task),
    "tools_app.tasks.note_pulse_task": pulse_task,
    "permits_app.tasks.follow_requests_task": unchanged_task(tasks.follow_requests_task),
    "permits_app.tasks.follow_promises_task": unchanged_task(tasks.follow_promises_task),
    "permits_app.tasks.follow_rights_task": unchanged_task(tasks.follow_rights_task),
    "permits_app.tasks.commit_reconciliation_task": reconciliation_task,
    "permits_app.tasks.commit_sessions_task": sessions_task,
    "permits_app.tasks.commit_deaths_task": deaths_task,
    "permits_app.tasks.remember_outcomes_task": remember_task,
    "tools_app.tasks.sign_audit_checkpoints_task": checkpoint_task,
    "tools_app.tasks.publish_events_task": publish_task,
    "tools_app.tasks.poll_subscriptions_task": unchanged_task(tools_tasks.poll_subscriptions_task),
    "tools_app.tasks.follow_history_task": follow_history_task,
    "tools_app.tasks.fill_history_task": fill_history_task,
    "tools_app.tasks.renew_history_task": renew_history_task,
    "tools_app.tasks.clean_history_task": clean_history_task,
    "memory_app.tasks.store_episode_task": store_episode_task,
    "memory_app.tasks.query_grimoire_task": query_grimoire_task,
    "memory_app.tasks.embed_episodes_task": unchanged_task(memory_tasks.embed_episodes_task),
    "memory_app.tasks.forget_episodes_task": unchanged_task(memory_tasks.forget_episodes_task),
    "memory_app.tasks.consolidate_memory_task": unchanged_task(memory_tasks.consolidate_memory_task),
    "memory_app.tasks.scan_memory_task": unchanged_task(memory_tasks.scan_memory_task),
    "memory_app.tasks.dream_golems_task": unchanged_task(memory_tasks.dream_golems_task),
    "memory_app.tasks.dream_task": dream_task,
    "golem_project.heartbeat.tasks.claim_heartbeats_task": claim_task,
    "golem_project.heartbeat.tasks.tick_golem_task": tick_task,
    "golem_project.heartbeat.tasks.value_unattended_task": unchanged_task(heartbeat_tasks.value_unattended_task),
    "golem_project.heartbeat.tasks.value_after_outcomes_task": unchanged_task(
        heartbeat_tasks.value_after_outcomes_task
    ),
    "golem_project.heartbeat.tasks.run_duties_task": unchanged_task(heartbeat_tasks.run_duties_task),
    "golem_project.alerts.tasks.gather_alerts_task": gather_alerts_task,
    "golem_project.alerts.tasks.send_alerts_task": send_alerts_task,
    "golem_project.stream.tasks.spread_webhooks_task": spread_task,
    "golem_project.stream.tasks.deliver_webhooks_task": deliver_task,
    "golem_project.stream.tasks.forget_old_events_task": forget_events_task,
    "golem_project.a2a.tasks.follow_tasks_task": follow_a2a_task,
    "golem_project.a2a.tasks.watch_sales_task": watch_sales_task,
    "golem_project.a2a.tasks.notify_due_task": unchanged_task(a2a_tasks.notify_due_task),
    "golem_project.a2a.tasks.notify_task": notify_a2a_task,
    "golem_project.a2a.tasks.forget_old_rows_task": unchanged_task(a2a_tasks.forget_old_rows_task),
}

ELSEWHERE: dict[str, str] = {
    "permits_app.tasks.commit_cage_changes_task": (
        "tests/permits_app/approvals/test_at_once.py::"
        "test_what_is_due_in_the_contract_is_applied_once_by_workers_at_once"
    ),
    "permits_app.tasks.sync_policy_cages_task": (
        "tests/permits_app/policy_cage/test_mirror.py::test_syncs_at_once_tell_of_a_change_once"
    ),
    "permits_app.tasks.commit_change_task": (
        "tests/permits_app/approvals/test_at_once.py::"
        "test_an_execution_that_workers_take_up_at_once_and_again_sends_one_swap"
    ),
    "permits_app.tasks.try_policy_task": (
        "tests/permits_app/backtest/test_trials.py::test_progress_and_the_end_are_told_as_events"
    ),
    "permits_app.tasks.commit_announced_task": (
        "tests/permits_app/approvals/test_warden.py::"
        "test_an_announced_commit_that_workers_take_up_twice_and_at_once_is_sent_once"
    ),
}
"""Tasks whose situation only their own tests make: the test that runs them a second time."""


def test_every_task_of_the_product_has_a_row() -> None:
    app.loader.import_default_modules()
    ours = {name for name in app.tasks if not name.startswith(("celery.", "tests."))}
    assert ours == set(ROWS) | set(ELSEWHERE)


@pytest.mark.parametrize("task", ELSEWHERE)
def test_what_is_proven_elsewhere_is_there(task: str) -> None:
    path, _, name = ELSEWHERE[task].partition("::")
    assert f"def {name}(" in (Path(settings.BASE_DIR) / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("task", ROWS)
def test_a_task_run_twice_has_its_effect_once(shared_golem: LiveGolem, task: str) -> None:
    run, check = ROWS[task](shared_golem)
    run()
    check()
    run()
    check()


@pytest.mark.parametrize("task", ROWS)
def test_a_task_run_twice_at_once_has_its_effect_once(shared_golem: LiveGolem, task: str) -> None:
    run, check = ROWS[task](shared_golem)
    at_once(lambda _: run(), count=2)
    check()

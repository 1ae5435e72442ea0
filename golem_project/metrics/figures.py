"""Reads what stands in rows and at the broker as figures: all bounded by what is open or recent, none a person's."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import redis
from django.db import DatabaseError
from django.db.models import Count, Min, Sum

from archetypes_app.models import Heartbeat
from archetypes_app.models.model_spend import ModelSpendDay
from golem_project.runtime.queue_waits import list_queues
from golem_project.settings.environment import VAR_DIR
from permits_app.models import ActionPermit, ChainMark, ChainWatch, DeniedCall, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.permits.blocked_commits import list_blocked_accounts
from tools_app.chain.networks import configured_networks
from tools_app.core import liveness
from tools_app.core.resource_errors import list_exhausted
from tools_app.core.transaction_retry import count_repeated
from tools_app.models.history import FollowedChain

RECENT: Final = timedelta(minutes=10)
_OPEN: Final = (
    PermitStatus.CREATED,
    PermitStatus.AWAITING_APPROVAL,
    PermitStatus.ANNOUNCED,
    PermitStatus.COMMITTING,
    PermitStatus.UNKNOWN,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One value of a family, with the values of its labels."""

    name: str
    words: str
    labels: tuple[tuple[str, str], ...]
    value: float


@dataclass(frozen=True, slots=True)
class _Reserved:
    count: int
    total: int | None
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class _ModelDay:
    """Sums of a day; None where it has no row."""

    spent: int | None
    held: int | None
    requests: int | None
    refused: int | None


def read_figures(*, now: datetime) -> list[Figure]:
    """All of them. A part that cannot be read is missing, and `golem_part_readable` says 0 of it."""
    found: list[Figure] = []
    for part, read in _PARTS.items():
        try:
            found += read(now)
            is_read = True
        except (DatabaseError, redis.RedisError, OSError):
            is_read = False
        found.append(Figure("golem_part_readable", "Whether this part was read", (("part", part),), float(is_read)))
    return found


def _read_signs(now: datetime) -> Iterable[Figure]:
    # Without beat nobody sends the queues their pulse, and that they are silent says nothing of them.
    silent = {each.name for each in liveness.list_silent(now=now)}
    for name in (liveness.BEAT, *liveness.list_queues()):
        yield Figure(
            "golem_alive", "Whether it gave a sign of life lately", (("part", name),), float(name not in silent)
        )


def _read_queues(now: datetime) -> Iterable[Figure]:
    for queue in list_queues(now=now):
        labels = (("queue", queue.name),)
        yield Figure("golem_queue_depth", "Tasks that wait", labels, queue.depth)
        yield Figure("golem_queue_oldest_seconds", "How long its oldest task waits", labels, queue.oldest_seconds)


def _read_permits(now: datetime) -> Iterable[Figure]:
    opened = ActionPermit.objects.filter(status__in=_OPEN).values_list("status").annotate(Count("pk")).order_by()
    known = dict(opened)
    for status in _OPEN:
        yield Figure("golem_permits_open", "Permits by open state", (("status", status),), known.get(status, 0))
    recent = (
        ActionPermit.objects.filter(created_at__range=_lately(now))
        .values_list("status")
        .annotate(Count("pk"))
        .order_by()
    )
    for status, count in recent:
        yield Figure("golem_permits_recent", "Permits of the last ten minutes", (("status", str(status)),), count)


def _read_reservations(now: datetime) -> Iterable[Figure]:
    sums = SpendEntry.objects.filter(state=SpendState.RESERVED).aggregate(
        count=Count("pk"), total=Sum("reserved_micro_usd"), oldest=Min("counted_at")
    )
    held = _Reserved(**sums)
    yield Figure("golem_reservations", "Reservations of limits", (), held.count)
    yield Figure("golem_reserved_micro_usd", "What they reserve", (), held.total or 0)
    yield Figure("golem_reservation_oldest_seconds", "Age of the oldest", (), _age(held.oldest, now))


def _read_chains(now: datetime) -> Iterable[Figure]:
    watches = {watch.chain_id: watch for watch in ChainWatch.objects.all()}
    marks = {mark.chain_id: mark for mark in ChainMark.objects.all()}
    heads = dict(FollowedChain.objects.values_list("chain_id", "head_time"))
    for network in configured_networks():
        labels = (("chain_id", str(network.chain_id)),)
        watch, mark = watches.get(network.chain_id), marks.get(network.chain_id)
        failing = watch.failing_since if watch is not None else None
        looked = watch.looked_at if watch is not None else None
        yield Figure("golem_chain_failing_seconds", "How long its node answers nothing", labels, _age(failing, now))
        yield Figure("golem_chain_unseen_seconds", "Since a follower looked at it", labels, _age(looked, now))
        yield Figure("golem_chain_head", "The newest block seen", labels, (watch.head or 0) if watch is not None else 0)
        if network.chain_id in heads:
            head_time = heads[network.chain_id]
            yield Figure(
                "golem_chain_lag_seconds", "Age of the newest block that was read", labels, _age(head_time, now)
            )
        trouble = mark.trouble if mark is not None else ""
        yield Figure("golem_chain_trouble", "Whether it is stopped", (*labels, ("code", trouble)), float(bool(trouble)))


def _read_accounts(now: datetime) -> Iterable[Figure]:
    blocked = list_blocked_accounts(now=now)
    yield Figure("golem_nonce_gaps", "Accounts whose next nonce is not mined for too long", (), len(blocked))
    longest = min((each.since for each in blocked), default=None)
    yield Figure("golem_nonce_gap_oldest_seconds", "How long the oldest waits", (), _age(longest, now))


def _read_refusals(now: datetime) -> Iterable[Figure]:
    rules = (
        DeniedCall.objects.filter(denied_at__range=_lately(now))
        .values_list("code", "rule")
        .annotate(Count("pk"))
        .order_by()
    )
    for code, rule, count in rules:
        labels = (("code", code), ("rule", rule))
        yield Figure("golem_denied_recent", "Calls that hooks denied within ten minutes", labels, count)


def _read_models(now: datetime) -> Iterable[Figure]:
    sums = ModelSpendDay.objects.filter(day=now.date()).aggregate(
        spent=Sum("spent_micro_usd"), held=Sum("reserved_micro_usd"), requests=Sum("requests"), refused=Sum("refused")
    )
    day = _ModelDay(**sums)
    yield Figure("golem_model_spent_micro_usd", "What models cost today (UTC)", (), day.spent or 0)
    yield Figure("golem_model_reserved_micro_usd", "What is reserved for them", (), day.held or 0)
    yield Figure("golem_model_requests_today", "Requests to models", (), day.requests or 0)
    yield Figure("golem_model_refused_today", "Requests that a cap kept back", (), day.refused or 0)


def _read_heartbeats(now: datetime) -> Iterable[Figure]:
    due = Heartbeat.objects.filter(is_on=True, next_tick_at__lte=now).aggregate(first=Min("next_tick_at"))
    yield Figure("golem_heartbeat_late_seconds", "How late the latest heartbeat is", (), _age(due["first"], now))


def _read_resources(now: datetime) -> Iterable[Figure]:
    yield Figure("golem_disk_free_bytes", "Room on the disk of our files", (), shutil.disk_usage(VAR_DIR).free)
    exhausted = list_exhausted()
    yield Figure("golem_exhausted", "What ran out within the last seconds", (), len(exhausted))
    for name, count in count_repeated().items():
        yield Figure("golem_transactions_repeated", "Done again after a fault", (("reason", name),), count)


def _lately(now: datetime) -> tuple[datetime, datetime]:
    # Closed at both ends: behind an open span the database expects a third of a table.
    return now - RECENT, now + RECENT


def _age(since: datetime | None, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds()) if since is not None else 0.0


_PARTS: Final[dict[str, Callable[[datetime], Iterable[Figure]]]] = {
    "signs": _read_signs,
    "queues": _read_queues,
    "permits": _read_permits,
    "reservations": _read_reservations,
    "chains": _read_chains,
    "accounts": _read_accounts,
    "refusals": _read_refusals,
    "models": _read_models,
    "heartbeats": _read_heartbeats,
    "resources": _read_resources,
}

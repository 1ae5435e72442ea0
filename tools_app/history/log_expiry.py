"""Lets go of what is too old or wanted by nobody: logs by whole months, bars of hours, contracts with all of theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from django.conf import settings
from django.db import transaction
from django.db.models import F

from tools_app.core.transaction_retry import retry_aborted
from tools_app.history import bars, follower_positions, log_table_months
from tools_app.models.history import BarSpan, ChainLog, FollowedChain, LogGap, LogSource, LogWish, PriceBar

LET_GO: Final = "its logs were let go"

DaysOf: TypeAlias = Callable[[Collection[str]], Mapping[str, int]]
"""For golems' ids and accounts' addresses, how many days their owner keeps logs; without those who set nothing."""


@dataclass(slots=True)
class _Owners:
    days_of: DaysOf = lambda _: {}


_owners = _Owners()


def configure(days_of: DaysOf) -> None:
    """Who tells how long owners keep logs; handed down when the process starts."""
    _owners.days_of = days_of


def log_days_of(wanted_by: Collection[str]) -> int:
    """How many days logs are kept that a golem alone wants: `wanted_by` are its id and its account."""
    most = settings.GOLEM_HISTORY_LOG_DAYS
    return min(most, max(_owners.days_of(wanted_by).values(), default=most))


def clean(*, now: datetime) -> int:
    """Let go of what is due; how many months of logs and contracts."""
    LogWish.objects.filter(renewed_at__lt=now - timedelta(days=settings.GOLEM_HISTORY_WISH_DAYS)).delete()
    chains = list(FollowedChain.objects.values_list("pk", flat=True))
    left = sum(_forget_unwanted(chain_id) for chain_id in chains)
    for chain_id in chains:
        _let_go_for_owners(chain_id, now)
    before = now - timedelta(days=settings.GOLEM_HISTORY_LOG_DAYS)
    months = [month for month in log_table_months.list_months() if log_table_months.next_month(month) <= before]
    for month in months:
        end = log_table_months.next_month(month)
        for chain_id in chains:
            _close_gaps(chain_id, end)
        log_table_months.drop_month(month)
    if months:
        for chain_id in chains:
            _count_logs(chain_id)
    oldest = now - timedelta(days=settings.GOLEM_HISTORY_HOUR_DAYS)
    PriceBar.objects.filter(span=BarSpan.HOUR, starts_at__lt=oldest).delete()
    return len(months) + left


@retry_aborted
def _forget_unwanted(chain_id: int) -> int:
    """Contracts that nobody wants followed any more, with their logs and bars."""
    with transaction.atomic():
        if follower_positions.lock_place(chain_id) is None:
            return 0
        gone = list(LogSource.objects.filter(chain_id=chain_id, wishes__isnull=True).values_list("pk", flat=True))
        if gone:
            ChainLog.objects.filter(source_id__in=gone).delete()
            LogSource.objects.filter(pk__in=gone).delete()
    return len(gone)


@retry_aborted
def _let_go_for_owners(chain_id: int, now: datetime) -> None:
    """Logs that all who want them keep for a shorter time than this server does; who keeps longest decides."""
    with transaction.atomic():
        if follower_positions.lock_place(chain_id) is None:
            return
        wanted_by: defaultdict[int, set[str]] = defaultdict(set)
        for source_id, who in LogWish.objects.filter(source__chain_id=chain_id).values_list("source_id", "wanted_by"):
            wanted_by[source_id].add(who)
        days_of = _owners.days_of({who for wanting in wanted_by.values() for who in wanting})
        if not days_of:
            return
        for source in LogSource.objects.filter(pk__in=wanted_by):
            days = max(days_of.get(who, settings.GOLEM_HISTORY_LOG_DAYS) for who in wanted_by[source.pk])
            end = bars.day_of(now - timedelta(days=days))
            if days >= settings.GOLEM_HISTORY_LOG_DAYS or end <= source.kept_from:
                continue
            gone, _ = ChainLog.objects.filter(source_id=source.pk, block_time__lt=end).delete()
            LogGap.objects.filter(source=source, closed_because="", until_time__lt=end).update(closed_because=LET_GO)
            LogSource.objects.filter(pk=source.pk).update(kept_from=end, logs=F("logs") - gone)


@retry_aborted
def _close_gaps(chain_id: int, end: datetime) -> None:
    """A gap that reaches into what is dropped is filled no more: its hours could not be folded whole again."""
    with transaction.atomic():
        if follower_positions.lock_place(chain_id) is not None:
            open_ones = LogGap.objects.filter(source__chain_id=chain_id, closed_because="")
            open_ones.filter(until_time__lt=end).update(closed_because=LET_GO)
            LogSource.objects.filter(chain_id=chain_id, kept_from__lt=end).update(kept_from=end)


@retry_aborted
def _count_logs(chain_id: int) -> None:
    with transaction.atomic():
        if follower_positions.lock_place(chain_id) is None:
            return
        for source in LogSource.objects.filter(chain_id=chain_id):
            LogSource.objects.filter(pk=source.pk).update(logs=ChainLog.objects.filter(source_id=source.pk).count())

"""Lets go of what is too old or wanted by nobody: logs by whole months, bars of hours, contracts with all of theirs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction

from tools_app.core.whole import whole
from tools_app.history import places, storage
from tools_app.models.history import BarSpan, ChainLog, FollowedChain, LogGap, LogSource, LogWish, PriceBar

LET_GO: Final = "its logs were let go"


def clean(*, now: datetime) -> int:
    """Let go of what is due; how many months of logs and contracts."""
    LogWish.objects.filter(renewed_at__lt=now - timedelta(days=settings.GOLEM_HISTORY_WISH_DAYS)).delete()
    chains = list(FollowedChain.objects.values_list("pk", flat=True))
    left = sum(_forget_unwanted(chain_id) for chain_id in chains)
    before = now - timedelta(days=settings.GOLEM_HISTORY_LOG_DAYS)
    months = [month for month in storage.list_months() if storage.next_month(month) <= before]
    for month in months:
        end = storage.next_month(month)
        for chain_id in chains:
            _close_gaps(chain_id, end)
        storage.drop_month(month)
    if months:
        for chain_id in chains:
            _count_logs(chain_id)
    oldest = now - timedelta(days=settings.GOLEM_HISTORY_HOUR_DAYS)
    PriceBar.objects.filter(span=BarSpan.HOUR, starts_at__lt=oldest).delete()
    return len(months) + left


@whole
def _forget_unwanted(chain_id: int) -> int:
    """Contracts that nobody wants followed any more, with their logs and bars."""
    with transaction.atomic():
        if places.lock_place(chain_id) is None:
            return 0
        gone = list(LogSource.objects.filter(chain_id=chain_id, wishes__isnull=True).values_list("pk", flat=True))
        if gone:
            ChainLog.objects.filter(source_id__in=gone).delete()
            LogSource.objects.filter(pk__in=gone).delete()
    return len(gone)


@whole
def _close_gaps(chain_id: int, end: datetime) -> None:
    """A gap that reaches into what is dropped is filled no more: its hours could not be folded whole again."""
    with transaction.atomic():
        if places.lock_place(chain_id) is not None:
            open_ones = LogGap.objects.filter(source__chain_id=chain_id, closed_because="")
            open_ones.filter(until_time__lt=end).update(closed_because=LET_GO)
            LogSource.objects.filter(chain_id=chain_id, kept_from__lt=end).update(kept_from=end)


@whole
def _count_logs(chain_id: int) -> None:
    with transaction.atomic():
        if places.lock_place(chain_id) is None:
            return
        for source in LogSource.objects.filter(chain_id=chain_id):
            LogSource.objects.filter(pk=source.pk).update(logs=ChainLog.objects.filter(source_id=source.pk).count())

"""Stores how far the follower of a chain is, what it met, and what its questions cost."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.history.checked_logs import CheckedHeader
from tools_app.models.history import ASKED_KINDS, FollowedChain, LogGap, LogSource, SeenBlock, SourceKey

logger = logging.getLogger(__name__)

_MINUTE = timedelta(minutes=1)
_MOST_WORDS = 200
ASKED_ONLY = "no log tells it: it is asked once an hour since it is followed"


def load_place(chain_id: int) -> FollowedChain | None:
    """Where the follower stands; None for a chain that is not followed."""
    return FollowedChain.objects.filter(pk=chain_id).first()


def list_silent(chains: Collection[int], *, now: datetime) -> list[FollowedChain]:
    """Which of these chains could not be followed for too long."""
    before = now - timedelta(seconds=settings.GOLEM_HISTORY_SILENT_SECONDS)
    return list(FollowedChain.objects.filter(pk__in=chains, followed_at__lt=before).order_by("pk"))


def list_sources(chain_id: int) -> dict[SourceKey, LogSource]:
    """List the followed contracts of a chain, by the kind of logs that are read of each."""
    return {source.key: source for source in LogSource.objects.filter(chain_id=chain_id)}


def begin(chain_id: int, head: CheckedHeader, *, now: datetime) -> None:
    """Follow a chain from the block after `head` on; two who begin begin once."""
    row = FollowedChain(
        chain_id=chain_id,
        next_block=head.number + 1,
        head_hash=head.hash,
        head_time=head.time,
        followed_at=now,
        spent_since=now,
    )
    FollowedChain.objects.bulk_create([row], ignore_conflicts=True)
    see_blocks(chain_id, [head])


def lock_place(chain_id: int, *, where: FollowedChain | None = None) -> FollowedChain | None:
    """The row, locked in the caller's transaction; None when the follower is not `where` it was any more."""
    row = FollowedChain.objects.select_for_update(no_key=True).filter(pk=chain_id).first()
    if row is not None and where is not None and (row.next_block, row.head_hash) != (where.next_block, where.head_hash):
        return None
    return row


def move(row: FollowedChain, head: CheckedHeader, *, now: datetime) -> None:
    """The follower of a locked row has read up to `head`."""
    FollowedChain.objects.filter(pk=row.pk).update(
        next_block=head.number + 1,
        head_hash=head.hash,
        head_time=head.time,
        followed_at=now,
        failures=0,
        last_error="",
    )


def count_rollback(row: FollowedChain) -> None:
    """The chain of a locked row went back."""
    FollowedChain.objects.filter(pk=row.pk).update(rollbacks=F("rollbacks") + 1)


def see_blocks(chain_id: int, headers: list[CheckedHeader]) -> None:
    """Remember the latest blocks, as far back as a rollback is mended."""
    kept = headers[-settings.GOLEM_HISTORY_ROLLBACK_BLOCKS :]
    rows = [SeenBlock(chain_id=chain_id, number=each.number, hash=each.hash, time=each.time) for each in kept]
    SeenBlock.objects.bulk_create(rows, ignore_conflicts=True)
    if kept:
        oldest = kept[-1].number - settings.GOLEM_HISTORY_ROLLBACK_BLOCKS
        SeenBlock.objects.filter(chain_id=chain_id, number__lte=oldest).delete()


def note_quiet(row: FollowedChain, *, now: datetime) -> None:
    """There was nothing new, and nothing was wrong."""
    FollowedChain.objects.filter(pk=row.pk).update(followed_at=now, failures=0, last_error="")


def note_failure(chain_id: int, error: GolemError) -> None:
    """The chain could not be followed; what was read before stays."""
    logger.warning("the history of chain %s was not followed: %s", chain_id, error.code)
    FollowedChain.objects.filter(pk=chain_id).update(
        failures=F("failures") + 1, last_error=f"{error.code}: {error.detail}"[:_MOST_WORDS]
    )


def note_lie(chain_id: int, lie: str, *, now: datetime) -> None:
    """A node said what is not so, and another, or itself asked again, did not."""
    if not lie:
        return
    logger.warning("a node of chain %s contradicted itself: %s", chain_id, lie)
    FollowedChain.objects.filter(pk=chain_id).update(lies=F("lies") + 1, last_lie=lie[:_MOST_WORDS], last_lie_at=now)


@retry_aborted
def take_questions(chain_id: int, wanted: int, *, now: datetime) -> int:
    """How many of `wanted` questions for the past may be asked now; they count as asked."""
    with transaction.atomic():
        row = lock_place(chain_id)
        if row is None:
            return 0
        # A minute that lies ahead is one of a clock that was set back.
        is_fresh = not row.spent_since <= now < row.spent_since + _MINUTE
        spent = 0 if is_fresh else row.spent
        granted = max(0, min(wanted, settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE - spent))
        FollowedChain.objects.filter(pk=chain_id).update(
            spent=spent + granted, spent_since=now if is_fresh else row.spent_since
        )
    return granted


def add_logs(counts: Mapping[int, int]) -> None:
    """So many more logs are kept of these contracts, by key; less than none are fewer."""
    for source_id, count in sorted(counts.items()):
        if count:
            LogSource.objects.filter(pk=source_id).update(logs=F("logs") + count)


def open_gaps(
    sources: list[LogSource], *, first: int, last: CheckedHeader, because: str, since: datetime | None
) -> None:
    """These contracts were not read from `first` to `last`."""
    LogGap.objects.bulk_create(
        [
            LogGap(
                source=source,
                from_block=first,
                to_block=last.number,
                since_time=since,
                until_time=last.time,
                until_hash=last.hash,
                because=because,
                closed_because=ASKED_ONLY if source.kind in ASKED_KINDS else "",
            )
            for source in sources
        ],
        ignore_conflicts=True,
    )

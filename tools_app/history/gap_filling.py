"""Fills gaps backward, the newest block first, within the questions a minute that a chain's nodes may be asked."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from tools_app.chain.networks import Network, configured_networks
from tools_app.chain.node_errors import RpcNonsense
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.history import bars, follower_positions, hypersync_filling, log_table_months
from tools_app.history.checked_logs import Stretch, Wanted, read_stretch
from tools_app.models.history import LogGap

logger = logging.getLogger(__name__)

_BUDGET_MS: Final = 20_000
BESIDES_HEADERS: Final = 8
"""Questions of a stretch beside its headers: the logs, and looks at blocks whose bloom leaves a doubt."""
TOO_OLD: Final = "what lies before is older than is kept"
TOO_MANY: Final = "as many logs are kept of this contract as may be"


def fill_all(*, now: datetime) -> int:
    """Fill gaps of every chain; how many blocks were read."""
    return sum(fill(network, now=now) for network in configured_networks())


def fill(network: Network, *, now: datetime) -> int:
    """Fill gaps of one chain until its minute is spent; how many blocks were read. A failure waits."""
    deadline = Deadline.after_ms(_BUDGET_MS)
    read = 0
    try:
        while not deadline.is_over:
            step = _fill_step(network, deadline, now)
            if not step:
                break
            read += step
    except GolemError as error:
        follower_positions.note_failure(network.chain_id, error)
    return read


@dataclass(frozen=True, slots=True)
class _Piece:
    """Gaps of several contracts that end with the same block, and the part of them that is read now."""

    gaps: tuple[LogGap, ...]
    first: int
    last: int


def _fill_step(network: Network, deadline: Deadline, now: datetime) -> int:
    newest = _open_gaps(network.chain_id).order_by("-to_block").first()
    if newest is None:
        return 0
    gaps = tuple(_open_gaps(network.chain_id).filter(to_block=newest.to_block, until_hash=newest.until_hash))
    if not gaps:
        return 0  # Another filled it in this moment.
    sources = [gap.source for gap in gaps]
    topics = log_table_months.wanted_of(sources)
    found = _read_outside(network, gaps, topics, deadline, now) or _read_of_node(network, gaps, topics, deadline, now)
    if found is None:
        return 0
    piece, stretch = found
    rows = log_table_months.read_told(sources, stretch)
    log_table_months.make_months(row.time for row in rows)
    return len(stretch.headers) if _write(network.chain_id, piece, stretch, rows) else 0


def _read_of_node(
    network: Network, gaps: tuple[LogGap, ...], topics: Wanted, deadline: Deadline, now: datetime
) -> tuple[_Piece, Stretch] | None:
    """The newest blocks of these gaps, as the own nodes tell them; None where the minute is spent."""
    newest = gaps[0]
    wanted = settings.GOLEM_HISTORY_BLOCKS_PER_READ + BESIDES_HEADERS
    blocks = follower_positions.take_questions(network.chain_id, wanted, now=now) - BESIDES_HEADERS
    if blocks <= 0:
        return None
    piece = _Piece(gaps, max(newest.to_block - blocks + 1, *(gap.from_block for gap in gaps)), newest.to_block)
    stretch = read_stretch(
        network, topics, first=piece.first, last=piece.last, last_hash=newest.until_hash, deadline=deadline
    )
    follower_positions.note_lie(network.chain_id, stretch.lie, now=now)
    return piece, stretch


def _read_outside(
    network: Network, gaps: tuple[LogGap, ...], topics: Wanted, deadline: Deadline, now: datetime
) -> tuple[_Piece, Stretch] | None:
    """The same of a service outside, many blocks at once; None where there is none, or where it is not believed."""
    chain_id, newest = network.chain_id, gaps[0]
    if not hypersync_filling.is_on(chain_id, now=now):
        return None
    needed = hypersync_filling.MOST_QUESTIONS + BESIDES_HEADERS
    if follower_positions.take_questions(chain_id, needed, now=now) < needed:
        return None
    first = max(newest.to_block - hypersync_filling.BLOCKS_PER_READ + 1, *(gap.from_block for gap in gaps))
    piece = _Piece(gaps, first, newest.to_block)
    try:
        stretch = hypersync_filling.read_outside(
            network, topics, first=first, last=piece.last, last_hash=newest.until_hash, deadline=deadline
        )
    except hypersync_filling.OutsideFailed as error:
        logger.warning("HyperSync is not asked about chain %s for a while: %s", chain_id, error)
    except RpcNonsense as error:
        follower_positions.note_lie(chain_id, error.detail, now=now)
    else:
        return piece, stretch
    hypersync_filling.be_silent(chain_id, now=now)
    return None


def _open_gaps(chain_id: int) -> QuerySet[LogGap]:
    return LogGap.objects.filter(source__chain_id=chain_id, closed_because="").select_related("source")


@retry_aborted
def _write(chain_id: int, piece: _Piece, stretch: Stretch, rows: Sequence[log_table_months.NewLog]) -> bool:
    """Write a piece whose gaps are as they were; what another filled, cut or gave up meanwhile is left alone."""
    with transaction.atomic():
        if follower_positions.lock_place(chain_id) is None:
            return False
        keys = [gap.pk for gap in piece.gaps]
        same = LogGap.objects.filter(
            pk__in=keys,
            to_block=piece.last,
            until_hash=piece.gaps[0].until_hash,
            from_block__lte=piece.first,
            closed_because="",
        )
        still = {gap.source_id: gap for gap in same.select_related("source")}
        fresh = [each for each in rows if each.source_id in still]
        log_table_months.copy_logs(fresh)
        bars.fold({(each.source_id, bars.hour_of(each.time)) for each in fresh})
        counts = Counter(each.source_id for each in fresh)
        follower_positions.add_logs(counts)
        for gap in still.values():
            _shorten(gap, piece, stretch, gap.source.logs + counts[gap.source_id])
    return bool(still)


def _shorten(gap: LogGap, piece: _Piece, stretch: Stretch, logs: int) -> None:
    if piece.first <= gap.from_block or stretch.before is None:
        gap.delete()
        return
    closed = ""
    if stretch.before.time < gap.source.kept_from:
        closed = TOO_OLD
    elif logs >= settings.GOLEM_HISTORY_MOST_LOGS_PER_CONTRACT:
        closed = TOO_MANY
    LogGap.objects.filter(pk=gap.pk).update(
        to_block=piece.first - 1,
        until_time=stretch.before.time,
        until_hash=stretch.before.hash,
        closed_because=closed,
    )

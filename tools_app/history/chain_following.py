"""Follows each chain forward, behind its mark of finality, and mends what is kept after a rollback.

A node is asked outside every transaction; what it said is written in one, if the chain's row did not move meanwhile. So
whoever follows a chain at the same time as another, or dies in the middle, leaves one history without a log twice.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import transaction

from tools_app.chain.blocks import parse_block
from tools_app.chain.chains import get_pool
from tools_app.chain.networks import Network, configured_networks
from tools_app.chain.node_errors import RpcLagging, RpcNonsense
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.history import bars, follower_positions, log_table_months, sampled_rates
from tools_app.history.checked_logs import CheckedHeader, Stretch, read_headers, read_stretch
from tools_app.models.history import ChainLog, FollowedChain, LogGap, LogSource, SeenBlock

_BUDGET_MS: Final = 20_000
_OUTAGE: Final = "the chain was not followed for too long"


def follow_all(*, now: datetime) -> int:
    """Read what is new on every chain with something to follow; how many blocks."""
    return sum(follow(network, now=now) for network in configured_networks())


def follow(network: Network, *, now: datetime) -> int:
    """Read what is new on one chain; how many blocks. A failure is noted and waits for the next time."""
    place = follower_positions.load_place(network.chain_id)
    if place is None:
        return 0
    deadline = Deadline.after_ms(_BUDGET_MS)
    read = 0
    try:
        final = _read_final(network, deadline)
        while not deadline.is_over:
            step = _follow_step(network, place, final, deadline, now)
            read += step
            place = follower_positions.load_place(network.chain_id)
            if place is None or not step or place.next_block > final:
                break
    except GolemError as error:
        follower_positions.note_failure(network.chain_id, error)
    return read


def begin_chain(network: Network, *, now: datetime) -> FollowedChain | None:
    """The place on a chain, made at its newest final block when it is new; None when the chain cannot be read."""
    place = follower_positions.load_place(network.chain_id)
    if place is not None:
        return place
    deadline = Deadline.after_ms(_BUDGET_MS)
    try:
        final = _read_final(network, deadline)
        header = read_headers(get_pool(network.chain_id), [final], deadline=deadline).get(final)
    except GolemError:
        return None
    if header is not None:
        follower_positions.begin(network.chain_id, header, now=now)
    return follower_positions.load_place(network.chain_id)


def _read_final(network: Network, deadline: Deadline) -> int:
    head = parse_block(get_pool(network.chain_id).latest_block(deadline=deadline))
    return max(0, head.number - network.confirmations)


def _follow_step(network: Network, place: FollowedChain, final: int, deadline: Deadline, now: datetime) -> int:
    """One stretch, or one mending; how many blocks were written."""
    if final < place.next_block:
        if _is_as_seen(network, place, deadline):
            follower_positions.note_quiet(place, now=now)
        else:
            _mend(network, place, deadline, now)
        return 0
    if final - place.next_block > settings.GOLEM_HISTORY_MOST_BLOCKS_BEHIND:
        return _leave_out(network, place, final, deadline, now)
    sources = follower_positions.list_sources(network.chain_id)
    last = min(final, place.next_block + settings.GOLEM_HISTORY_BLOCKS_PER_READ - 1)
    stretch = read_stretch(
        network, log_table_months.wanted_of(sources.values()), first=place.next_block, last=last, deadline=deadline
    )
    follower_positions.note_lie(network.chain_id, stretch.lie, now=now)
    if stretch.before is None or stretch.before.hash != place.head_hash:
        _mend(network, place, deadline, now)
        return 0
    rows = log_table_months.read_told(sources.values(), stretch)
    # State is asked of the newest block alone: a full node has none of older ones.
    due = sampled_rates.list_due(sources.values(), stretch.headers[-1]) if last == final else []
    rows += sampled_rates.ask_rates(network, due, stretch.headers[-1], now=now)
    log_table_months.make_months(row.time for row in rows)
    return len(stretch.headers) if _write(place, stretch, rows, due, now) else 0


@retry_aborted
def _write(
    place: FollowedChain, stretch: Stretch, rows: list[log_table_months.NewLog], asked: list[LogSource], now: datetime
) -> bool:
    with transaction.atomic():
        row = follower_positions.lock_place(place.chain_id, where=place)
        if row is None:
            return False
        log_table_months.copy_logs(rows)
        bars.fold({(each.source_id, bars.hour_of(each.time)) for each in rows})
        follower_positions.add_logs(Counter(each.source_id for each in rows))
        sampled_rates.note_asked(asked, stretch.headers[-1])
        follower_positions.see_blocks(place.chain_id, list(stretch.headers))
        follower_positions.move(row, stretch.headers[-1], now=now)
    return True


def _leave_out(network: Network, place: FollowedChain, final: int, deadline: Deadline, now: datetime) -> int:
    """Go on at the head after a long outage; what lies between is a gap that is filled from behind."""
    header = read_headers(get_pool(network.chain_id), [final], deadline=deadline).get(final)
    if header is None:
        raise RpcLagging(f"The node of {network.name} does not have block {final} any more")
    return final - place.next_block + 1 if _write_gap(place, header, now) else 0


@retry_aborted
def _write_gap(place: FollowedChain, header: CheckedHeader, now: datetime) -> bool:
    with transaction.atomic():
        row = follower_positions.lock_place(place.chain_id, where=place)
        if row is None:
            return False
        sources = list(LogSource.objects.filter(chain_id=place.chain_id))
        follower_positions.open_gaps(sources, first=row.next_block, last=header, because=_OUTAGE, since=row.head_time)
        follower_positions.see_blocks(place.chain_id, [header])
        follower_positions.move(row, header, now=now)
    return True


# ---- rollbacks ------------------------------------------------------------------------------------------------


def _is_as_seen(network: Network, place: FollowedChain, deadline: Deadline) -> bool:
    number = place.next_block - 1
    found = read_headers(get_pool(network.chain_id), [number], deadline=deadline).get(number)
    return found is not None and found.hash == place.head_hash


def _mend(network: Network, place: FollowedChain, deadline: Deadline, now: datetime) -> None:
    """Take back what the chain no longer has. Two nodes must say so where there are two, else one twice.

    Raises RpcNonsense when they disagree, or when a public chain went back further than was seen of it.
    """
    seen = dict(SeenBlock.objects.filter(chain_id=place.chain_id).values_list("number", "hash"))
    common, again = (
        max((number for number, header in found.items() if header.hash == seen[number]), default=None)
        for pool in (get_pool(network.chain_id), get_pool(network.chain_id).second_opinion())
        for found in (read_headers(pool, sorted(seen), deadline=deadline),)
    )
    if common != again:
        raise RpcNonsense(f"The nodes of {network.name} do not agree on how far the chain went back")
    if common is None and not network.is_dev:
        raise RpcNonsense(
            f"{network.name} went back more than {settings.GOLEM_HISTORY_ROLLBACK_BLOCKS} blocks, if its node is right"
        )
    if common is None:
        forget_chain(place.chain_id)
    elif common < place.next_block - 1:
        roll_back(place, common, now)


@retry_aborted
def roll_back(place: FollowedChain, common: int, now: datetime) -> bool:
    """Take back what lies after the block `common`, if the follower is still where it was."""
    with transaction.atomic():
        row = follower_positions.lock_place(place.chain_id, where=place)
        block = SeenBlock.objects.filter(chain_id=place.chain_id, number=common).first()
        if row is None or block is None:
            return False
        sources = list(LogSource.objects.filter(chain_id=place.chain_id).values_list("pk", flat=True))
        after_fork = ChainLog.objects.filter(source_id__in=sources, block_time__gte=block.time, block_number__gt=common)
        gone = list(after_fork.values_list("source_id", "block_time"))
        after_fork.delete()
        bars.fold({(source_id, bars.hour_of(time)) for source_id, time in gone})
        taken = Counter(source_id for source_id, _ in gone)
        follower_positions.add_logs({source_id: -count for source_id, count in taken.items()})
        LogSource.objects.filter(pk__in=sources, asked_at__gt=block.time).update(asked_at=None)
        # What begins after the fork is read forward again, also where it was not read before.
        after = LogGap.objects.filter(source__in=sources, to_block__gt=common)
        after.filter(from_block__gt=common).delete()
        after.update(to_block=common, until_time=block.time, until_hash=block.hash)
        SeenBlock.objects.filter(chain_id=place.chain_id, number__gt=common).delete()
        header = CheckedHeader(common, block.hash, "", block.time, None)
        follower_positions.move(row, header, now=now)
        follower_positions.count_rollback(row)
    return True


@retry_aborted
def forget_chain(chain_id: int) -> None:
    """Nothing that was kept is of this chain any more: a local chain that was made anew. It is begun again."""
    with transaction.atomic():
        if follower_positions.lock_place(chain_id) is None:
            return
        sources = LogSource.objects.filter(chain_id=chain_id)
        ChainLog.objects.filter(source_id__in=list(sources.values_list("pk", flat=True))).delete()
        sources.delete()
        SeenBlock.objects.filter(chain_id=chain_id).delete()
        FollowedChain.objects.filter(pk=chain_id).delete()

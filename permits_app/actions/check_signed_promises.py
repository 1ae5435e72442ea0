"""check_signed_promises: look what became of what golems signed, as far as it is due, a bounded part at a time.

A look asks the contract that reads the signature and changes rows of ours only; what no desk took yet is handed in
again before. Who looks first moves the next look
ahead. Emits promise:filled, promise:cancelled, promise:expired.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from permits_app.actions.hand_in_promise import hand_in_promise
from permits_app.limits.signed_promises import find_since, judge_fate, put_off, read_typed, record_look
from permits_app.models import SignedPromise
from permits_app.models.signed_promise import PromiseState
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.fair_batches import in_turns
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.standards.signed_order_tracking import read_fate
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.protocol import SHELF

logger = logging.getLogger(__name__)

MOST_ROWS: Final = 200
_LEASE: Final = timedelta(seconds=60)
_READ_BUDGET_MS: Final = 5_000


def check_signed_promises(*, now: datetime, limit: int = MOST_ROWS) -> dict[str, int]:
    """Look at what is due, the longest waiting first of each golem; how many were looked at and how many ended."""
    due = SignedPromise.objects.filter(state=PromiseState.OPEN, next_check_at__lte=now)
    heard = due.exclude(chain_id__in=list_silent_chains(now=now))
    rows = list(in_turns(heard.select_related("permit"), "next_check_at", "pk", of="golem_id")[:limit])
    taken = [row for row in one_by_one(rows, lambda row: _take(row, now), what="promise") if row is not None]
    ended = one_by_one(taken, lambda row: _follow(row, now), what="promise")
    return {"looked": len(taken), "ended": sum(ended)}


def _take(row: SignedPromise, now: datetime) -> SignedPromise | None:
    """The row for this caller alone until the lease is over; None where another one has it."""
    mine = SignedPromise.objects.filter(pk=row.pk, state=row.state, next_check_at=row.next_check_at)
    return row if mine.update(next_check_at=now + _LEASE) else None


def _follow(row: SignedPromise, now: datetime) -> bool:
    if row.handed_in_at is None and row.ends_at > now:
        hand_in_promise(row, now=now)
    try:
        state, block = look_at(row, now=now)
        # What is used up may be so since the last block in which it was open: only such a look moves that on.
        return record_look(row, state, now=now, block=block)
    except GolemError as error:
        logger.info("promise %s cannot be seen now: %s", row.pk, error.code)
        put_off(row, reason=f"{error.code}: {error.detail}", now=now)
        return False


def look_at(row: SignedPromise, *, now: datetime) -> tuple[PromiseState, int | None]:
    """What the newest block says of it, and that block where it was open; a protocol that is no longer known says
    nothing. Raises the node errors.
    """
    protocol = SHELF.get(row.protocol)
    chain = runner.open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))
    if protocol is None or protocol.promises is None:
        return PromiseState.OPEN, None
    fate = read_fate(chain, read_typed(row), protocol.promises, since=find_since(row))
    state = judge_fate(row, fate, block_time=chain.block.timestamp)
    return state, chain.block.number if fate is Fate.OPEN else None

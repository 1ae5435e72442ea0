"""check_received_rights: ask the contracts of rights that golems received whether they stand, as far as it is due.

A look changes rows of ours only, and moves the next one ahead. What its principal took back is told to the owner and
used no more: a commit of a permit that was opened on it is refused. Emits right:withdrawn, right:restored, right:ended.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from permits_app.limits.received_rights import list_due, put_off, record_look, take_look, view_right
from permits_app.models import ReceivedRight
from permits_app.models.received_right import RightState
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.fair_batches import in_turns
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.toolkit.others_money import RightStanding
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.protocol import SHELF

logger = logging.getLogger(__name__)

MOST_ROWS: Final = 200
_LEASE: Final = timedelta(seconds=60)
_READ_BUDGET_MS: Final = 5_000


def check_received_rights(*, now: datetime, limit: int = MOST_ROWS) -> dict[str, int]:
    """Look at what is due, the longest waiting first of each golem; how many were looked at and how many are gone."""
    heard = list_due(now).exclude(chain_id__in=list_silent_chains(now=now))
    rows = list(in_turns(heard, "next_look_at", "pk", of="golem_id")[:limit])
    taken = one_by_one(rows, lambda row: (row, take_look(row, until=now + _LEASE)), what="right")
    mine = [row for row, is_mine in taken if is_mine]
    gone = one_by_one(mine, lambda row: _follow(row, now), what="right")
    return {"looked": len(mine), "gone": sum(gone)}


def _follow(row: ReceivedRight, now: datetime) -> bool:
    """Whether this look saw it go."""
    try:
        standing, is_over = look_at(row, now=now)
    except GolemError as error:
        logger.info("right %s cannot be seen now: %s", row.pk, error.code)
        put_off(row, reason=f"{error.code}: {error.detail}", now=now)
        return False
    after = record_look(row, standing, is_over=is_over, now=now)
    return row.state == RightState.STANDING != after


def look_at(row: ReceivedRight, *, now: datetime) -> tuple[RightStanding, bool]:
    """What its contract says at the newest block, and whether its time is over by the chain's clock.

    Raises the node's errors, and PositionsUnreadable where its contract says nothing.
    """
    chain = runner.open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))
    protocol, view = SHELF.get(row.protocol), view_right(row)
    if chain.block.timestamp >= view.limit.ends_at:
        return RightStanding(False, 0, "its time is over"), True
    if protocol is None or protocol.received is None:
        raise PositionsUnreadable("nobody here knows its protocol any more")
    return protocol.received.judge(view, chain.call_many(protocol.received.ask(view))), False

"""Keeps what a whole look at an account found: its positions, and what its shares were believed worth."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from tools_app.portfolio.holdings import Holdings
from tools_app.portfolio.remembered_positions import note_found
from tools_app.portfolio.share_price_donation_guard import note_all_shares
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import BlockRef


def note_look(
    *,
    chain_id: int,
    account: str,
    asked: Collection[PositionRef],
    holdings: Holdings,
    block: BlockRef,
    now: datetime,
) -> None:
    """Remember what `holdings`, measured at `block`, tell of `account`; `asked` are the hints they were measured with.

    Who had no position and has none leaves nothing and asks nothing of the database.
    """
    positions = [each.position for each in holdings.positions]
    note_found(chain_id=chain_id, account=account, asked=asked, found=[each.ref for each in positions], now=now)
    if asked or positions:
        note_all_shares(chain_id=chain_id, account=account, positions=positions, at=block.timestamp)

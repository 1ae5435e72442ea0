"""Rates that no log tells: a lender is asked once an hour at the newest final block, from when it is followed on.

An answer is kept as a log of that block is, so that bars, rollbacks and retention know no difference.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from tools_app.chain.chains import open_reader
from tools_app.chain.networks import Network
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.history.bars import hour_of
from tools_app.history.checked_logs import CheckedHeader
from tools_app.history.log_meanings import PRICE_UNIT, Said
from tools_app.history.log_table_months import NewLog
from tools_app.models.history import ASKED_KINDS, LogSource, SourceKind
from tools_app.toolkit.lending import PPM, LendingMarket
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import BlockRef, LogEntry

logger = logging.getLogger(__name__)

_BUDGET_MS: Final = 5_000
_MOST_PPM: Final = PPM * 2**64
"""What is beyond it is no rate, as of what is logged."""
_NO_LOG: Final = -1
"""The place in its block of what was asked: before every log."""


def list_due(sources: Iterable[LogSource], head: CheckedHeader) -> list[LogSource]:
    """Whose rate was not asked in the hour of this block yet."""
    asked = (source for source in sources if source.kind in ASKED_KINDS)
    return [each for each in asked if each.asked_at is None or hour_of(each.asked_at) != hour_of(head.time)]


def ask_rates(network: Network, due: Collection[LogSource], head: CheckedHeader, *, now: datetime) -> list[NewLog]:
    """What lenders say at this block. One that does not answer has no rate in this hour; the others have theirs."""
    deadline = Deadline.after_ms(_BUDGET_MS)
    block = BlockRef(head.number, head.hash, int(head.time.timestamp()), 0)
    rows = []
    for protocol, token in sorted({(each.protocol, each.token) for each in due}):
        lender = SHELF.get(protocol)
        if lender is None or lender.lending is None:
            continue
        reader = open_reader(network.chain_id, now=now, deadline=deadline, block=block)
        try:
            markets = drive(lender.lending.markets(network.chain_id, token), reader.call_many)
        except GolemError as error:
            logger.warning("%s did not say its rates on chain %s: %s", protocol, network.chain_id, error.code)
            continue
        except ArithmeticError:
            # Compounded over a year, what it said is more than any number: the other lenders have theirs.
            logger.warning("%s said a rate on chain %s that no year has", protocol, network.chain_id)
            continue
        by_name = {each.market: each for each in markets}
        for source in due:
            market = by_name.get(source.address) if (source.protocol, source.token) == (protocol, token) else None
            rate = _rate_of(market, SourceKind(source.kind)) if market is not None else None
            if rate is not None:
                rows.append(_keep(source, head, rate))
    return rows


def note_asked(due: Collection[LogSource], head: CheckedHeader) -> None:
    """They were asked at this block, whether or not they answered; in the caller's transaction."""
    if due:
        LogSource.objects.filter(pk__in=[each.pk for each in due]).update(asked_at=head.time)


def _rate_of(market: LendingMarket, kind: SourceKind) -> int | None:
    said = market.borrow_ppm if kind == SourceKind.ASKED_DEBT_RATE else market.supply_ppm
    return said if said is not None and 0 <= said < _MOST_PPM else None


def _keep(source: LogSource, head: CheckedHeader, ppm: int) -> NewLog:
    log = LogEntry(source.told_by.contract, (), "0x", head.number, "0x", _NO_LOG, head.hash)
    return NewLog(source.pk, head.time, log, Said(ppm * PRICE_UNIT // PPM))

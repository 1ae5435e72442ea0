"""Decodes logs of each kind of followed contract into prices and amounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.models.history import ASKED_KINDS, SourceKind
from tools_app.standards.erc4626 import PAID_IN, PAID_OUT
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import LogEntry

PRICE_UNIT: Final = 2**192
"""Prices are kept as integers of this fraction, which holds what a concentrated pool says exactly."""
_MOST_RATE: Final = PRICE_UNIT * 2**64


@dataclass(frozen=True, slots=True)
class _Answer:
    current: int


_ANSWERED: Final = AbiEvent(
    "event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt)", _Answer
)
GOVERNOR_EVENTS: Final = (
    "event ProposalCreated(uint256 proposalId, address proposer, address[] targets, uint256[] values,"
    " string[] signatures, bytes[] calldatas, uint256 voteStart, uint256 voteEnd, string description)",
    "event ProposalQueued(uint256 proposalId, uint256 etaSeconds)",
    "event ProposalExecuted(uint256 proposalId)",
    "event ProposalCanceled(uint256 proposalId)",
)


@dataclass(frozen=True, slots=True)
class Said:
    """What one log says: the price after it, and what was paid in. None where it says nothing of it."""

    price_x192: int | None = None
    in0: int | None = None
    in1: int | None = None


NOTHING: Final = Said()


def list_topics(chain_id: int, kind: SourceKind) -> list[str]:
    """The first topics that are read of a contract of this kind; none where the chain has nothing that knows it."""
    if kind == SourceKind.POOL:
        found = (topic for each in SHELF.on(chain_id) if each.markets for topic in each.markets.history_topics)
        return list(dict.fromkeys(found))
    if kind == SourceKind.VAULT:
        return [PAID_IN.topic, PAID_OUT.topic]
    if kind == SourceKind.FEED:
        return [_ANSWERED.topic]
    if kind == SourceKind.RATE:
        told = (topic for each in SHELF.on(chain_id) if each.rates for topic in each.rates.topics)
        return list(dict.fromkeys(told))
    if kind == SourceKind.DEBT_RATE:
        told = (topic for each in SHELF.on(chain_id) if each.debt_rates for topic in each.debt_rates.topics)
        return list(dict.fromkeys(told))
    if kind in ASKED_KINDS:
        return []
    return [event_topic(each) for each in GOVERNOR_EVENTS]


def read_log(chain_id: int, kind: SourceKind, log: LogEntry) -> Said:
    """What a log says; nothing for one of another shape, which a stranger's contract may emit."""
    if kind == SourceKind.POOL:
        return _read_trade(chain_id, log)
    if kind == SourceKind.VAULT:
        return _read_share(log)
    if kind == SourceKind.FEED:
        answer = _ANSWERED.read(log)
        return Said(answer.current * PRICE_UNIT) if answer and 0 < answer.current < 2**127 else NOTHING
    if kind in (SourceKind.RATE, SourceKind.DEBT_RATE):
        return _read_rate(chain_id, kind, log)
    return NOTHING


def _read_trade(chain_id: int, log: LogEntry) -> Said:
    for each in SHELF.on(chain_id):
        found = each.markets.read_trade(log) if each.markets is not None else None
        if found is not None:
            price = found.price
            x192 = price.numerator * PRICE_UNIT // price.denominator if price is not None else None
            return Said(x192, found.in0, found.in1)
    return NOTHING


def _read_rate(chain_id: int, kind: SourceKind, log: LogEntry) -> Said:
    for each in SHELF.on(chain_id):
        rates = each.rates if kind == SourceKind.RATE else each.debt_rates
        rate = rates.read(log) if rates is not None else None
        if rate is not None:
            x192 = rate.numerator * PRICE_UNIT // rate.denominator
            # What a stranger's contract says beyond any column is no rate.
            return Said(x192) if 0 <= x192 < _MOST_RATE else NOTHING
    return NOTHING


def _read_share(log: LogEntry) -> Said:
    paid_in = PAID_IN.read(log)
    if paid_in is not None:
        return Said(_share_price(paid_in.assets, paid_in.shares), paid_in.assets, 0)
    paid_out = PAID_OUT.read(log)
    if paid_out is not None:
        return Said(_share_price(paid_out.assets, paid_out.shares), 0, paid_out.assets)
    return NOTHING


def _share_price(assets: int, shares: int) -> int | None:
    """Assets per share. What a stranger's vault says of amounts no column holds is no price."""
    if not shares or not assets or assets >= 2**128:
        return None
    return assets * PRICE_UNIT // shares

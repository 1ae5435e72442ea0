"""Reads what calls to Moonwell do from their bytes; written from the contracts' interfaces, not from the tools.

A market answers a number and does nothing where it does not allow what is asked: what really moved is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.moonwell.addresses import (
    COMPTROLLER,
    MARKETS,
    NAME,
    REWARDS,
    Market,
    deployments,
    find_place,
)
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.effects import UnknownCall

_RATE: Final = "function exchangeRateCurrent() returns (uint256)"
_DUE: Final = (
    "function getOutstandingRewardsForUser(address,address) view returns ((address,uint256,uint256,uint256)[])"
)
_ALL: Final = 2**256 - 1
_WAD: Final = 10**18


def _mint(reading: Reading, amount: int) -> None:
    market = _market_at(reading, reading.call.to)
    reading.spend(market.asset, amount)
    _change(reading, market.asset, amount)


def _repay(reading: Reading, amount: int) -> None:
    market = _market_at(reading, reading.call.to)
    most = reading.most_taken(market.asset) if amount == _ALL else amount
    reading.spend(market.asset, most)
    _change(reading, market.asset, most)


def _take_out(reading: Reading, amount: int) -> None:
    market = _market_at(reading, reading.call.to)
    reading.pay_out(market.paid_in, amount)
    _change(reading, market.asset, -amount)


def _redeem(reading: Reading, receipts: int) -> None:
    market = _market_at(reading, reading.call.to)
    amount = receipts * int(reading.ask(market.address, _RATE)) // _WAD
    reading.pay_out(market.paid_in, amount, is_open=True)
    _change(reading, market.asset, -amount)


def _enter(reading: Reading, entered: Sequence[str]) -> None:
    for each in entered:
        reading.state(reading.account, {"covers debts": _market_at(reading, each).address})


def _claim(reading: Reading, holder: str, markets: Sequence[str]) -> None:
    reading.check_own(holder, "the rewards")
    if not markets or len(set(markets)) != len(markets):
        raise UnknownCall("the markets to claim of are not a list of different ones")
    reading.into.recipients.append(reading.account)
    for each in markets:
        _market_at(reading, each)
        for token, due, _, _ in reading.ask(REWARDS, _DUE, each, reading.account):
            if due:
                reading.receive(token, due, is_open=True)
                _change(reading, token, -due)


def _change(reading: Reading, token: str, raw: int) -> None:
    reading.change("account", token, raw, reading.account, is_exact=False)


def _market_at(reading: Reading, address: str) -> Market:
    place = find_place(reading.chain.chain_id)
    market = None if place is None else place.market_at(address)
    if market is None:
        raise UnknownCall(f"{address} is no known market of Moonwell")
    return market


_OF_A_MARKET: Final = {
    "function mint(uint256)": _mint,
    "function redeem(uint256)": _redeem,
    "function redeemUnderlying(uint256)": _take_out,
    "function borrow(uint256)": _take_out,
    "function repayBorrow(uint256)": _repay,
}
EFFECTS: Final = CallTable(
    NAME,
    deployments,
    {
        **{(key, signature): say for key in MARKETS for signature, say in _OF_A_MARKET.items()},
        (COMPTROLLER, "function enterMarkets(address[])"): _enter,
        (COMPTROLLER, "function claimReward(address,address[])"): _claim,
    },
)

"""Reads what calls to Moonwell do from their bytes; written from the contracts' interfaces, not from the tools.

A market answers a number and does nothing where it does not allow what is asked: what really moved is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tools_app.protocols.moonwell.addresses import Market, Place, find_place
from tools_app.standards.calldata import calls, most_taken, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionRef

_MINT: Final = "function mint(uint256)"
_REDEEM: Final = "function redeem(uint256)"
_REDEEM_UNDERLYING: Final = "function redeemUnderlying(uint256)"
_BORROW: Final = "function borrow(uint256)"
_REPAY: Final = "function repayBorrow(uint256)"
_ENTER: Final = "function enterMarkets(address[])"
_CLAIM: Final = "function claimReward(address,address[])"
_RATE: Final = "function exchangeRateCurrent() returns (uint256)"
_DUE: Final = (
    "function getOutstandingRewardsForUser(address,address) view returns ((address,uint256,uint256,uint256)[])"
)
_ALL: Final = 2**256 - 1
_WAD: Final = 10**18


class MoonwellEffects:
    """Reads calls to markets and to the comptroller."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        place = find_place(chain.chain_id)
        if place is None or call.value:
            raise UnknownCall("Moonwell is sent coin, which it does not take")
        market = place.market_at(call.to)
        if market is not None:
            _read_market(call, market, earlier, account, chain, into)
        elif call.to == place.comptroller and calls(call.data, _ENTER):
            (entered,) = read_exactly(call.data, _ENTER)
            for each in entered:
                if place.market_at(each) is None:
                    raise UnknownCall(f"{each} is no known market of Moonwell")
                into.statements.append(Statement(call.to, account, "covers debts", each))
        elif call.to == place.comptroller and calls(call.data, _CLAIM):
            _claim(place, read_exactly(call.data, _CLAIM), account, chain, into)
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


def _read_market(
    call: Call, market: Market, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects
) -> None:
    ref = PositionRef("moonwell", "account", chain.chain_id, account)

    def change(raw: int, *, is_exact: bool) -> None:
        into.changes.append(ChangeRead("moonwell", "account", market.asset, raw, ref, is_exact))

    if calls(call.data, _MINT):
        (amount,) = read_exactly(call.data, _MINT)
        into.spends[market.asset] += amount
        change(amount, is_exact=False)
    elif calls(call.data, _REPAY):
        (amount,) = read_exactly(call.data, _REPAY)
        most = (
            most_taken(market.asset, market.address, earlier=earlier, account=account, chain=chain)
            if amount == _ALL
            else amount
        )
        into.spends[market.asset] += most
        change(most, is_exact=False)
    elif calls(call.data, _BORROW) or calls(call.data, _REDEEM_UNDERLYING):
        (amount,) = read_exactly(call.data, _BORROW if calls(call.data, _BORROW) else _REDEEM_UNDERLYING)
        into.receives[market.paid_in] += amount
        into.recipients.append(account)
        change(-amount, is_exact=False)
    elif calls(call.data, _REDEEM):
        (receipts,) = read_exactly(call.data, _REDEEM)
        amount = receipts * int(chain.call(market.address, _RATE)[0]) // _WAD
        into.receives[market.paid_in] += amount
        into.open_minimums.add(market.paid_in)
        into.recipients.append(account)
        change(-amount, is_exact=False)
    else:
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


def _claim(place: Place, args: tuple[Any, ...], account: str, chain: ChainReader, into: Effects) -> None:
    holder, markets = args
    if holder != account:
        raise UnknownCall(f"the rewards of {holder} would be claimed")
    if not markets or len(set(markets)) != len(markets):
        raise UnknownCall("the markets to claim of are not a list of different ones")
    ref = PositionRef("moonwell", "account", chain.chain_id, account)
    into.recipients.append(account)
    for each in markets:
        if place.market_at(each) is None:
            raise UnknownCall(f"{each} is no known market of Moonwell")
        for token, due, _, _ in chain.call(place.rewards, _DUE, each, account)[0]:
            if due:
                into.receives[token] += due
                into.open_minimums.add(token)
                into.changes.append(ChangeRead("moonwell", "account", token, -due, ref, is_exact=False))

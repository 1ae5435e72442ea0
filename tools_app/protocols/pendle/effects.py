"""Reads what calls to Pendle do from their bytes; written from the contracts' interfaces.

How many claims, yield tokens or LP tokens a call gives or asks for is read word for word (`Effects.statements`); how
far positions move is measured in the simulation. Whatever sends a call through another exchange, fills somebody's limit
order or pays anybody else is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tools_app.chain.typed_hash import hash_typed_data
from tools_app.protocols.pendle.addresses import Place, find_places
from tools_app.protocols.pendle.limit_orders import FIELDS, ORDER, domain_of, order_message, read_order
from tools_app.protocols.pendle.market_state import Standing, ask_standings
from tools_app.protocols.pendle.signatures import (
    ADD_LP,
    ANY_GUESS,
    BUY_PT,
    BUY_YT,
    CANCEL_ORDER,
    CLAIM,
    NO_LIMIT,
    NO_SWAP,
    NOBODY,
    REDEEM,
    REDEEM_SHARES,
    REMOVE_LP,
    SELL_PT,
    SELL_YT,
)
from tools_app.standards import erc20
from tools_app.standards.calldata import calls, check_bounded, read_exactly
from tools_app.toolkit.context import AbiValues, ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionRef, PositionsUnreadable, drive
from tools_app.toolkit.typed_data import TypedData

Read = Callable[["_Reading", AbiValues], None]


class PendleEffects:
    """Reads trades, liquidity, redemptions and claims."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        if call.value:
            raise UnknownCall("Pendle is sent coin, which no known market takes")
        places = find_places(chain.chain_id)
        for place in places:
            if call.to in (place.pt, place.yt, place.market) and calls(call.data, erc20.APPROVE):
                spender, amount = read_exactly(call.data, erc20.APPROVE)
                into.approvals.append((call.to, spender, amount))
                return
            if call.to == place.sy and calls(call.data, REDEEM_SHARES):
                whose = _claimed_of(places, place, earlier)
                _redeem_shares(_Reading(whose, account, chain, into), read_exactly(call.data, REDEEM_SHARES))
                return
            if call.to == place.limit_router and calls(call.data, CANCEL_ORDER):
                # One router serves every market: which of them the order is of is in its bytes.
                _cancel_order(_Reading(place, account, chain, into), read_exactly(call.data, CANCEL_ORDER))
                return
        for signature, reader in _OF_ROUTER.items():
            if calls(call.data, signature):
                args = read_exactly(call.data, signature)
                place = _find(places, call.to, args, signature)
                reader(_Reading(place, account, chain, into), args)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


class _Reading:
    """One call being read."""

    def __init__(self, place: Place, account: str, chain: ChainReader, into: Effects) -> None:
        self.place, self.account, self.chain, self.into = place, account, chain, into

    def standing(self) -> Standing:
        """How the market stands."""
        return drive(ask_standings(self.chain.chain_id, (self.place,), self.account), self.chain.call_many)[0]

    def change(self, token: str, raw: int, *, is_exact: bool = False) -> None:
        ref = PositionRef("pendle", "market", self.chain.chain_id, self.place.market)
        self.into.changes.append(ChangeRead("pendle", "market", token, raw, ref, is_exact=is_exact))

    def claims_change(self, amount: int) -> None:
        """So many claims come, or go where negative."""
        self._by_average(amount, Standing.worth_of_claims)

    def lp_changes(self, amount: int) -> None:
        """So much of the market comes, or goes where negative."""
        self._by_average(amount, Standing.worth_of_lp)

    def state(self, token: str, key: str, amount: int) -> None:
        self.into.statements.append(Statement(self.place.router, token, key, str(amount)))

    def pays(self, whom: str) -> None:
        """Raises UnknownCall for anybody else."""
        if whom != self.account:
            raise UnknownCall(f"{whom} would be paid, which is not the account")
        self.into.recipients.append(whom)

    def spends(self, told: AbiValues) -> None:
        """An input. Raises UnknownCall for one that goes through another exchange."""
        token, amount, made_of, through, swap = told
        if (token, made_of, through, swap) != (self.place.asset, self.place.asset, NOBODY, NO_SWAP):
            raise UnknownCall("another token would be paid, or through another exchange")
        self.into.spends[token] += amount

    def takes(self, told: AbiValues) -> None:
        """An output. Raises UnknownCall for one that goes through another exchange."""
        token, least, made_of, through, swap = told
        if (token, made_of, through, swap) != (self.place.asset, self.place.asset, NOBODY, NO_SWAP):
            raise UnknownCall("another token would be taken, or through another exchange")
        check_bounded(least)
        self.into.receives[token] += least

    def _by_average(self, amount: int, worth: Callable[[Standing, Place, int], int]) -> None:
        try:
            counted = worth(self.standing(), self.place, abs(amount))
        except PositionsUnreadable as error:
            raise UnknownCall(error.detail) from error
        self.change(self.place.asset, counted if amount > 0 else -counted)


def _find(places: Sequence[Place], to: str, args: AbiValues, signature: str) -> Place:
    """The market that a call of the router names."""
    if signature == CLAIM:
        _, yields, yts, markets = args
        if yields or len(yts) > 1 or len(markets) > 1 or not (yts or markets):
            raise UnknownCall("more would be claimed than of one market")
        named = {*yts, *markets}
    else:
        named = {args[1]}
    for place in places:
        mine = {place.market, place.yt} if signature in (CLAIM, REDEEM) else {place.market}
        if place.router == to and named <= mine and (signature != REDEEM or named == {place.yt}):
            return place
    raise UnknownCall(f"{to} is no router of Pendle, or the market is not known")


def _claimed_of(places: Sequence[Place], first: Place, earlier: Sequence[Call]) -> Place:
    """Whose shares are redeemed: of the market whose interest was claimed just before, or of the one that counts what
    lies in the wallet.
    """
    if earlier and calls(earlier[-1].data, CLAIM):
        place = _find(places, earlier[-1].to, read_exactly(earlier[-1].data, CLAIM), CLAIM)
        return place if place.sy == first.sy else first
    return first


def _check(guess: Any, limit: Any) -> None:  # Any: a value of the ABI's type
    if guess != ANY_GUESS:
        raise UnknownCall("the router would be told how to look for the amount")
    if limit != NO_LIMIT:
        raise UnknownCall("limit orders of others would be filled")


def _buy_pt(reading: _Reading, args: AbiValues) -> None:
    receiver, _, least, guess, paid, limit = args
    _check(guess, limit)
    check_bounded(least)
    reading.pays(receiver)
    reading.spends(paid)
    reading.state(reading.place.pt, "least bought", least)
    reading.claims_change(least)


def _sell_pt(reading: _Reading, args: AbiValues) -> None:
    receiver, _, amount, taken, limit = args
    _check(ANY_GUESS, limit)
    reading.pays(receiver)
    reading.takes(taken)
    reading.state(reading.place.pt, "sold", amount)
    reading.claims_change(-amount)


def _buy_yt(reading: _Reading, args: AbiValues) -> None:
    receiver, _, least, guess, paid, limit = args
    _check(guess, limit)
    check_bounded(least)
    reading.pays(receiver)
    reading.spends(paid)
    reading.state(reading.place.yt, "least bought", least)
    reading.change(reading.place.yt, least)


def _sell_yt(reading: _Reading, args: AbiValues) -> None:
    receiver, _, amount, taken, limit = args
    _check(ANY_GUESS, limit)
    reading.pays(receiver)
    reading.takes(taken)
    reading.state(reading.place.yt, "sold", amount)
    reading.change(reading.place.yt, -amount, is_exact=True)


def _add_lp(reading: _Reading, args: AbiValues) -> None:
    receiver, _, least, guess, paid, limit = args
    _check(guess, limit)
    check_bounded(least)
    reading.pays(receiver)
    reading.spends(paid)
    reading.state(reading.place.market, "least minted", least)
    reading.lp_changes(least)


def _remove_lp(reading: _Reading, args: AbiValues) -> None:
    receiver, _, amount, taken, least_claims = args
    check_bounded(least_claims)
    reading.pays(receiver)
    reading.takes(taken)
    reading.state(reading.place.market, "given back", amount)
    reading.state(reading.place.pt, "least taken", least_claims)
    reading.lp_changes(-amount)
    reading.claims_change(least_claims)


def _redeem(reading: _Reading, args: AbiValues) -> None:
    receiver, _, amount, taken = args
    reading.pays(receiver)
    reading.takes(taken)
    reading.state(reading.place.pt, "redeemed", amount)
    reading.claims_change(-amount)
    if not reading.standing().market.is_over:
        reading.change(reading.place.yt, -amount, is_exact=True)


def _claim(reading: _Reading, args: AbiValues) -> None:
    whose, _, yts, markets = args
    reading.pays(whose)
    if yts:
        # Interest comes as shares, which count in the same position.
        reading.change(reading.place.asset, 0)
    if markets:
        reading.into.receives[reading.place.reward] += 0
        reading.into.open_minimums.add(reading.place.reward)
        reading.change(reading.place.reward, 0)


def _redeem_shares(reading: _Reading, args: AbiValues) -> None:
    receiver, amount, token, least, is_its_own = args
    if token != reading.place.asset or is_its_own:
        raise UnknownCall("shares that are not the account's, or for another token")
    check_bounded(least)
    reading.pays(receiver)
    reading.into.receives[token] += least
    reading.into.statements.append(Statement(reading.place.sy, reading.place.sy, "shares redeemed", str(amount)))
    reading.change(token, -least)


def _cancel_order(reading: _Reading, args: AbiValues) -> None:
    at, chain_id = reading.place.limit_router, reading.chain.chain_id
    signed = TypedData(domain_of(at, chain_id), ORDER, {ORDER: FIELDS}, order_message(args[0]))
    order = read_order(signed)
    if order.maker != reading.account:
        raise UnknownCall(f"the order is {order.maker}'s")
    named = "0x" + hash_typed_data(signed).hex()
    reading.into.statements.append(Statement(at, named, "order taken back", order.yt))


_OF_ROUTER: Final[dict[str, Read]] = {
    BUY_PT: _buy_pt,
    SELL_PT: _sell_pt,
    BUY_YT: _buy_yt,
    SELL_YT: _sell_yt,
    ADD_LP: _add_lp,
    REMOVE_LP: _remove_lp,
    REDEEM: _redeem,
    CLAIM: _claim,
}

"""Reads what calls to Curve's pool, gauge and minter do from their bytes; written from the contracts' interfaces.

An LP token has 18 decimals and what it counts as may have fewer: how many are asked for, given back or staked is read
word for word (`Effects.statements`), and how far the position moves is measured in the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tools_app.protocols.curve.addresses import Place, find_place, find_places
from tools_app.standards.calldata import calls, check_bounded, read_exactly
from tools_app.standards.stable_shares import counting_calls, read_counting
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionRef, PositionsUnreadable

_ADD: Final = "function add_liquidity(uint256[3],uint256)"
_REMOVE: Final = "function remove_liquidity(uint256,uint256[3])"
_REMOVE_ONE: Final = "function remove_liquidity_one_coin(uint256,int128,uint256)"
_STAKE: Final = "function deposit(uint256)"
_UNSTAKE: Final = "function withdraw(uint256)"
_MINT: Final = "function mint(address)"
_STAKE_AT_CONVEX: Final = "function deposit(uint256,uint256,bool)"
_UNSTAKE_AT_CONVEX: Final = "function withdrawAndUnwrap(uint256,bool)"
_CLAIM_AT_CONVEX: Final = "function getReward(address,bool)"
_EARNED: Final = "function earned(address) view returns (uint256)"
_APPROVE: Final = "function approve(address,uint256)"
_WOULD_MINT: Final = "function calc_token_amount(uint256[3],bool) view returns (uint256)"
_CLAIMABLE: Final = "function claimable_tokens(address) returns (uint256)"

Read = Callable[["_Reading", tuple[Any, ...]], None]


class CurveEffects:
    """Reads entries, exits, stakes and claims."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        if call.value:
            raise UnknownCall("Curve is sent coin, which it does not take")
        beside = (
            each for each in find_places(chain.chain_id) if call.to in (each.minter, each.booster, each.convex_rewards)
        )
        place = find_place(chain.chain_id, call.to) or next(beside, None)
        if place is None:
            raise UnknownCall(f"{call.to} is no known contract of Curve")
        readers = {
            (place.pool.address, _ADD): _add,
            (place.pool.address, _REMOVE): _remove,
            (place.pool.address, _REMOVE_ONE): _remove_one,
            (place.gauge, _STAKE): _stake,
            (place.gauge, _UNSTAKE): _unstake,
            (place.minter, _MINT): _claim,
            (place.pool.lp, _APPROVE): _approve,
            (place.booster, _STAKE_AT_CONVEX): _stake_at_convex,
            (place.convex_rewards, _UNSTAKE_AT_CONVEX): _unstake_at_convex,
            (place.convex_rewards, _CLAIM_AT_CONVEX): _claim_at_convex,
        }
        for (contract, signature), reader in readers.items():
            if call.to == contract and calls(call.data, signature):
                reader(_Reading(place, account, chain, into), read_exactly(call.data, signature))
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


class _Reading:
    """One call being read."""

    def __init__(self, place: Place, account: str, chain: ChainReader, into: Effects) -> None:
        self.place, self.account, self.chain, self.into = place, account, chain, into
        self.ref = PositionRef("curve", "pool", chain.chain_id, place.pool.lp)

    def change(self, token: str, raw: int) -> None:
        self.into.changes.append(ChangeRead("curve", "pool", token, raw, self.ref, is_exact=False))

    def shares_change(self, shares: int) -> None:
        """So many LP tokens come, or go where negative."""
        pool = self.place.pool
        try:
            counting = read_counting(
                self.chain.chain_id, pool, self.chain.call_many(counting_calls(self.chain.chain_id, pool))
            )
        except PositionsUnreadable as error:
            raise UnknownCall(error.detail) from error
        self.change(counting.token, (1 if shares > 0 else -1) * counting.worth_of(abs(shares)))

    def state(self, contract: str, key: str, amount: int) -> None:
        self.into.statements.append(Statement(contract, self.place.pool.lp, key, str(amount)))


def _add(reading: _Reading, args: tuple[Any, ...]) -> None:
    amounts, least = args
    check_bounded(least)
    for coin, amount in zip(reading.place.pool.coins, amounts, strict=True):
        if amount:
            reading.into.spends[coin] += amount
    reading.state(reading.place.pool.address, "least minted", least)
    # The pool's own word leaves its fee out, which is part of a basis point.
    pool = reading.place.pool.address
    reading.shares_change(int(reading.chain.call(pool, _WOULD_MINT, list(amounts), True)[0]))


def _remove(reading: _Reading, args: tuple[Any, ...]) -> None:
    shares, least = args
    check_bounded(*least)
    for coin, amount in zip(reading.place.pool.coins, least, strict=True):
        reading.into.receives[coin] += amount
    reading.state(reading.place.pool.address, "given back", shares)
    reading.shares_change(-shares)


def _remove_one(reading: _Reading, args: tuple[Any, ...]) -> None:
    shares, index, least = args
    coins = reading.place.pool.coins
    if not 0 <= index < len(coins):
        raise UnknownCall(f"the pool has no coin {index}")
    check_bounded(least)
    reading.into.receives[coins[index]] += least
    reading.state(reading.place.pool.address, "given back", shares)
    reading.shares_change(-shares)


def _stake(reading: _Reading, args: tuple[Any, ...]) -> None:
    reading.state(reading.place.gauge, "staked", args[0])
    reading.shares_change(0)


def _unstake(reading: _Reading, args: tuple[Any, ...]) -> None:
    reading.state(reading.place.gauge, "taken out", args[0])
    reading.shares_change(0)


def _claim(reading: _Reading, args: tuple[Any, ...]) -> None:
    (gauge,) = args
    place = reading.place
    if gauge != place.gauge:
        raise UnknownCall(f"{gauge} is no known gauge")
    due = int(reading.chain.call(gauge, _CLAIMABLE, reading.account)[0])
    reading.into.receives[place.reward.address] += due
    reading.into.open_minimums.add(place.reward.address)
    reading.change(place.reward.address, -due)


def _approve(reading: _Reading, args: tuple[Any, ...]) -> None:
    spender, amount = args
    reading.into.approvals.append((reading.place.pool.lp, spender, amount))


def _stake_at_convex(reading: _Reading, args: tuple[Any, ...]) -> None:
    number, amount, is_staked = args
    if number != reading.place.number or not is_staked:
        raise UnknownCall("the LP tokens would go into another pool of Convex, or not be staked there")
    reading.state(reading.place.booster, "staked", amount)
    reading.shares_change(0)


def _unstake_at_convex(reading: _Reading, args: tuple[Any, ...]) -> None:
    amount, claims = args
    if claims:
        raise UnknownCall("a way out that claims everything stops where one reward is not paid")
    reading.state(reading.place.convex_rewards, "taken out", amount)
    reading.shares_change(0)


def _claim_at_convex(reading: _Reading, args: tuple[Any, ...]) -> None:
    whose, with_extras = args
    if whose != reading.account or with_extras:
        raise UnknownCall("the rewards of somebody else would be claimed, or rewards that nobody named")
    place = reading.place
    due = int(reading.chain.call(place.convex_rewards, _EARNED, reading.account)[0])
    reading.into.receives[place.reward.address] += due
    # Of Convex' own token nothing is sure.
    reading.into.receives[place.own.address] += 0
    reading.into.open_minimums.add(place.reward.address)
    reading.change(place.reward.address, -due)

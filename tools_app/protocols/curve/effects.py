"""Reads what calls to Curve's pool, gauge and minter do from their bytes; written from the contracts' interfaces.

An LP token has 18 decimals and what it counts as may have fewer: how many are asked for, given back or staked is read
word for word (`Effects.statements`), and how far the position moves is measured in the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.curve.addresses import (
    BOOSTER,
    CONVEX_REWARDS,
    GAUGE,
    LP,
    MINTER,
    NAME,
    POOL,
    Place,
    deployments,
    find_places,
)
from tools_app.standards.call_table import CallTable, Reading
from tools_app.standards.calldata import check_bounded
from tools_app.standards.stable_pool_lp_value import counting_calls, read_counting
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.positions import PositionsUnreadable

_EARNED: Final = "function earned(address) view returns (uint256)"
_WOULD_MINT: Final = "function calc_token_amount(uint256[3],bool) view returns (uint256)"
_CLAIMABLE: Final = "function claimable_tokens(address) returns (uint256)"


def _add(reading: Reading, amounts: Sequence[int], least: int) -> None:
    check_bounded(least)
    for coin, amount in zip(_place(reading).pool.coins, amounts, strict=True):
        if amount:
            reading.spend(coin, amount)
    _state(reading, "least minted", least)
    # The pool's own word leaves its fee out, which is part of a basis point.
    _shares_change(reading, int(reading.ask(POOL, _WOULD_MINT, list(amounts), True)))


def _remove(reading: Reading, shares: int, least: Sequence[int]) -> None:
    check_bounded(*least)
    for coin, amount in zip(_place(reading).pool.coins, least, strict=True):
        reading.receive(coin, amount)
    _state(reading, "given back", shares)
    _shares_change(reading, -shares)


def _remove_one(reading: Reading, shares: int, index: int, least: int) -> None:
    coins = _place(reading).pool.coins
    if not 0 <= index < len(coins):
        raise UnknownCall(f"the pool has no coin {index}")
    check_bounded(least)
    reading.receive(coins[index], least)
    _state(reading, "given back", shares)
    _shares_change(reading, -shares)


def _stake(reading: Reading, shares: int) -> None:
    _state(reading, "staked", shares)
    _shares_change(reading, 0)


def _unstake(reading: Reading, shares: int) -> None:
    _state(reading, "taken out", shares)
    _shares_change(reading, 0)


def _claim(reading: Reading, gauge: str) -> None:
    if gauge != reading.at[GAUGE]:
        raise UnknownCall(f"{gauge} is no known gauge")
    _earn(reading, int(reading.ask(GAUGE, _CLAIMABLE, reading.account)))


def _stake_at_convex(reading: Reading, number: int, shares: int, is_staked: bool) -> None:
    if number != _place(reading).number or not is_staked:
        raise UnknownCall("the LP tokens would go into another pool of Convex, or not be staked there")
    _stake(reading, shares)


def _unstake_at_convex(reading: Reading, shares: int, claims: bool) -> None:
    if claims:
        raise UnknownCall("a way out that claims everything stops where one reward is not paid")
    _unstake(reading, shares)


def _claim_at_convex(reading: Reading, whose: str, with_extras: bool) -> None:
    reading.check_own(whose, "the rewards")
    if with_extras:
        raise UnknownCall("rewards that nobody named would be claimed")
    # Of Convex' own token nothing is sure.
    reading.receive(_place(reading).own.address, 0)
    _earn(reading, int(reading.ask(CONVEX_REWARDS, _EARNED, reading.account)))


def _earn(reading: Reading, due: int) -> None:
    reward = _place(reading).reward.address
    reading.receive(reward, due, is_open=True)
    _change(reading, reward, -due)


def _shares_change(reading: Reading, shares: int) -> None:
    """So many LP tokens come, or go where negative."""
    chain, pool = reading.chain, _place(reading).pool
    try:
        counting = read_counting(chain.chain_id, pool, chain.call_many(counting_calls(chain.chain_id, pool)))
    except PositionsUnreadable as error:
        raise UnknownCall(error.detail) from error
    _change(reading, counting.token, (1 if shares > 0 else -1) * counting.worth_of(abs(shares)))


def _change(reading: Reading, token: str, raw: int) -> None:
    reading.change("pool", token, raw, reading.at[LP], is_exact=False)


def _state(reading: Reading, key: str, amount: int) -> None:
    reading.state(reading.at[LP], {key: str(amount)})


def _place(reading: Reading) -> Place:
    return next(each for each in find_places(reading.chain.chain_id) if each.pool.lp == reading.at[LP])


EFFECTS: Final = CallTable(
    NAME,
    deployments,
    {
        (POOL, "function add_liquidity(uint256[3],uint256)"): _add,
        (POOL, "function remove_liquidity(uint256,uint256[3])"): _remove,
        (POOL, "function remove_liquidity_one_coin(uint256,int128,uint256)"): _remove_one,
        (GAUGE, "function deposit(uint256)"): _stake,
        (GAUGE, "function withdraw(uint256)"): _unstake,
        (MINTER, "function mint(address)"): _claim,
        (BOOSTER, "function deposit(uint256,uint256,bool)"): _stake_at_convex,
        (CONVEX_REWARDS, "function withdrawAndUnwrap(uint256,bool)"): _unstake_at_convex,
        (CONVEX_REWARDS, "function getReward(address,bool)"): _claim_at_convex,
    },
    approved=(LP,),
)

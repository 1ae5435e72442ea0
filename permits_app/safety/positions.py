"""The liquidity positions of an account as what is in them, at the price the feeds say and not the pool's own.

A pool's price can be moved for one block; at the feeds' price a position is worth the least it can be worth, so a
moved pool never makes a portfolio look larger. Seed: decisions, "Safety hooks" (position at one venue position).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.chain.networks import ChainNotSupported
from tools_app.chain.tokens import TokenNotFound
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.v3.math import Q192
from tools_app.protocols.uniswap.v3.positions import NFT_BALANCE, Position, list_position_ids, read_positions
from tools_app.toolkit.context import ChainReader, ReadCall

MOST_POSITIONS = 50
"""How many of an account's newest positions are counted; leaving older ones out only makes every share look larger."""


@dataclass(frozen=True, slots=True)
class HeldPosition:
    """One position of the account. `amounts` are base units by token address, fees included."""

    position_id: int
    amounts: Mapping[str, int]


def count_call(*, chain: ChainReader, account: str) -> list[ReadCall]:
    """The read that counts an account's positions; none on a chain without them."""
    try:
        return [ReadCall(deployment_on(chain.chain_id).v3_position_manager, NFT_BALANCE, (account,))]
    except ChainNotSupported:
        return []


def list_held_positions(*, chain: ChainReader, account: str, also: int | None = None) -> list[HeldPosition]:
    """The positions `account` holds, and position `also` if it is theirs; one that has no price is left out."""
    try:
        deployment = deployment_on(chain.chain_id)
    except ChainNotSupported:
        return []
    ids, _ = list_position_ids(chain, deployment, account, limit=MOST_POSITIONS)
    if also is not None and also not in ids:
        ids.append(also)
    found = read_positions(chain, deployment, ids) if ids else []
    valued = [_hold(position, chain) for position in found if position.owner == account]
    return [position for position in valued if position is not None]


def _hold(position: Position, chain: ChainReader) -> HeldPosition | None:
    pool = position.pool
    try:
        token0, token1 = chain.token(pool.token0), chain.token(pool.token1)
        price0, price1 = chain.price(token0), chain.price(token1)
    except (PriceUnavailable, PriceStale, TokenNotFound):
        return None
    fair = isqrt(
        Q192
        * price0.answer
        * 10 ** (token1.decimals + price1.decimals)
        // (price1.answer * 10 ** (token0.decimals + price0.decimals))
    )
    amount0, amount1 = position.amounts(sqrt_price=fair)
    return HeldPosition(
        position.position_id, {token0.address: amount0 + position.fees0, token1.address: amount1 + position.fees1}
    )

"""Reads what is not logged for subscriptions: a pool's state, a price, a position's range, a jar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools_app.core.json_types import JsonObject
from tools_app.core.ratio import ratio_text
from tools_app.core.stored_json import IntText, read_stored, write_stored
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.find_fee_jars import look_into_jar
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import ChainMarkets, markets_on
from tools_app.subsystems.stream.pool_events import describe_token
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool, PoolNotFound, PositionNotFound, RangePosition

CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class _OfPool:
    pool_address: str


@dataclass(frozen=True, slots=True)
class _OfPair:
    token_a: str
    token_b: str


@dataclass(frozen=True, slots=True)
class _LastPrice:
    numerator: IntText
    denominator: IntText
    price: str


@dataclass(frozen=True, slots=True)
class _OfJar:
    jar_address: str


@dataclass(frozen=True, slots=True)
class _LastRelease:
    nonce: IntText


@dataclass(frozen=True, slots=True)
class _OfPosition:
    position_id: str
    out_of_range_alert: bool
    fee_threshold_micro_usd: int | None = None


@dataclass(frozen=True, slots=True)
class _LastAlerts:
    is_in_range: bool = True
    is_above: bool = False


def describe_pool_state(reader: ChainReader, params: Mapping[str, Any]) -> dict[str, object]:  # Any: JSON of an answer
    """The payload of `pool:state` at the reader's block. Raises PoolNotFound."""
    pool = markets_on(reader.chain_id).read(reader, read_stored(_OfPool, params).pool_address)
    token0, token1 = reader.token(pool.token0), reader.token(pool.token1)
    state: dict[str, object] = {
        "pool_address": pool.id,
        "venue": pool.venue,
        "token0": describe_token(token0),
        "token1": describe_token(token1),
        "fee_pips": pool.fee,
    }
    if pool.is_concentrated:
        state.update(sqrt_price_x96=str(pool.sqrt_price), pool_tick=pool.pool_tick, liquidity=str(pool.liquidity))
    else:
        state.update(
            reserve0=str(pool.reserve0),
            reserve0_units=format_units(pool.reserve0, token0.decimals),
            reserve1=str(pool.reserve1),
            reserve1_units=format_units(pool.reserve1, token1.decimals),
        )
    if pool.is_usable:
        state.update(price=ratio_text(pool.spot, base_decimals=token0.decimals, quote_decimals=token1.decimals))
    return state


def find_pair_pool(reader: ChainReader, markets: ChainMarkets, token_a: str, token_b: str) -> Pool:
    """The pool of a pair that holds most of token_b. Raises PoolNotFound."""
    pools = [pool for pool in markets.find(reader, [(token_a, token_b)]) if pool.is_usable]
    if not pools:
        raise PoolNotFound("no pool of a market trades this pair directly", token_a=token_a, token_b=token_b)
    balances = markets.depth(reader, pools)
    return max(pools, key=lambda pool: balances[pool.id][0 if pool.token0 == token_b else 1])


def describe_price(
    reader: ChainReader,
    params: Mapping[str, Any],  # Any: JSON of a subscription
    state: JsonObject,
) -> dict[str, object]:
    """The payload of `price:update`; `state` remembers the last price. Raises PoolNotFound."""
    pair = read_stored(_OfPair, params)
    token_a, token_b = reader.token(pair.token_a), reader.token(pair.token_b)
    pool = find_pair_pool(reader, markets_on(reader.chain_id), pair.token_a, pair.token_b)
    spot = pool.spot_from(pair.token_a)
    price = ratio_text(spot, base_decimals=token_a.decimals, quote_decimals=token_b.decimals)
    update: JsonObject = {
        "token_a": describe_token(token_a),
        "token_b": describe_token(token_b),
        "price": price,
        "source": "slot0" if pool.is_concentrated else "reserves",
        "pool_address": pool.id,
        "fee_pips": pool.fee,
        "venue": pool.venue,
    }
    if "numerator" in state:
        last = read_stored(_LastPrice, state)
        moved = spot.numerator * last.denominator - last.numerator * spot.denominator
        bps = abs(moved) * BPS // (last.numerator * spot.denominator)
        update.update(previous_price=last.price, change_bps=bps if moved >= 0 else -bps)
    state.update(write_stored(_LastPrice(spot.numerator, spot.denominator, price)))
    return update


def describe_jar(
    reader: ChainReader,
    params: Mapping[str, Any],  # Any: JSON of a subscription
    state: JsonObject,
) -> dict[str, object]:
    """The payload of `tokenjar:update`; `state` remembers the number of the next release. Raises JarNotFound."""
    found = look_into_jar(reader, read_stored(_OfJar, params).jar_address)
    update: JsonObject = {
        "jar_address": found.jar,
        "releaser": found.releaser,
        "nonce": str(found.nonce),
        "resource": describe_token(found.resource),
        "threshold": str(found.threshold),
        "threshold_units": format_units(found.threshold, found.resource.decimals),
        "balances": [
            {"token": describe_token(token), "raw": str(raw), "units": format_units(raw, token.decimals)}
            for token, raw in found.held
        ],
    }
    if "nonce" in state:
        # A chain that reorganised may have taken releases back.
        update.update(releases_since=found.nonce - read_stored(_LastRelease, state).nonce)
    state.update(write_stored(_LastRelease(found.nonce)))
    return update


def describe_alerts(
    reader: ChainReader,
    params: Mapping[str, Any],  # Any: JSON of a subscription
    state: JsonObject,
) -> list[dict[str, object]]:
    """The payloads of `position:alert` that are new since the last look; `state` remembers what was told."""
    markets, asked, last = (
        markets_on(reader.chain_id),
        read_stored(_OfPosition, params),
        read_stored(_LastAlerts, state),
    )
    try:
        position = markets.read_range(reader, asked.position_id)
    except PositionNotFound:
        return [{"position_id": asked.position_id, "alert": CLOSED}]
    facts, alerts = _describe_position(reader, position), []
    if asked.out_of_range_alert:
        if last.is_in_range != position.is_in_range:
            alerts.append({**facts, "alert": "in_range" if position.is_in_range else "out_of_range"})
        state.update(is_in_range=position.is_in_range)
    threshold = asked.fee_threshold_micro_usd
    if threshold is not None:
        valuer = TokenPricer(reader, markets)
        worth = valuer.value([(position.pool.token0, position.fees0), (position.pool.token1, position.fees1)])
        is_above = worth is not None and worth >= threshold
        if is_above and not last.is_above:
            alerts.append(
                {
                    **facts,
                    "alert": "fees_above_threshold",
                    "fees_value_micro_usd": str(worth),
                    "threshold_micro_usd": str(threshold),
                }
            )
        state.update(is_above=is_above)
    return alerts


def _describe_position(reader: ChainReader, position: RangePosition) -> dict[str, object]:
    token0, token1 = reader.token(position.pool.token0), reader.token(position.pool.token1)
    return {
        "position_id": position.position_id,
        "pool_address": position.pool.id,
        "pool_tick": position.pool.pool_tick,
        "tick_lower": position.tick_lower,
        "tick_upper": position.tick_upper,
        "token0": describe_token(token0),
        "token1": describe_token(token1),
        "fees0": str(position.fees0),
        "fees0_units": format_units(position.fees0, token0.decimals),
        "fees1": str(position.fees1),
        "fees1_units": format_units(position.fees1, token1.decimals),
    }

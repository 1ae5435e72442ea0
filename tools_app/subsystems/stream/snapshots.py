"""Reads what is not logged for subscriptions: a pool's state, a price, a position's range, a jar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools_app.core.ratio import ratio_text
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.jars import look_into_jar
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import ChainMarkets, markets_on
from tools_app.subsystems.stream.pool_events import describe_token
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool, PoolNotFound, PositionNotFound, RangePosition

CLOSED = "closed"


def describe_pool_state(reader: ChainReader, params: Mapping[str, Any]) -> dict[str, object]:  # Any: JSON of an answer
    """The payload of `pool:state` at the reader's block. Raises PoolNotFound."""
    pool = markets_on(reader.chain_id).read(reader, params["pool_address"])
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
        state["price"] = ratio_text(pool.spot, base_decimals=token0.decimals, quote_decimals=token1.decimals)
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
    state: dict[str, Any],  # Any: JSON of a subscription
) -> dict[str, object]:
    """The payload of `price:update`; `state` remembers the last price. Raises PoolNotFound."""
    token_a, token_b = reader.token(params["token_a"]), reader.token(params["token_b"])
    pool = find_pair_pool(reader, markets_on(reader.chain_id), params["token_a"], params["token_b"])
    spot = pool.spot_from(params["token_a"])
    price = ratio_text(spot, base_decimals=token_a.decimals, quote_decimals=token_b.decimals)
    update: dict[str, Any] = {  # Any: JSON of an answer
        "token_a": describe_token(token_a),
        "token_b": describe_token(token_b),
        "price": price,
        "source": "slot0" if pool.is_concentrated else "reserves",
        "pool_address": pool.id,
        "fee_pips": pool.fee,
        "venue": pool.venue,
    }
    if "numerator" in state:
        numerator, denominator = int(state["numerator"]), int(state["denominator"])
        moved = spot.numerator * denominator - numerator * spot.denominator
        bps = abs(moved) * BPS // (numerator * spot.denominator)
        update.update(previous_price=state["price"], change_bps=bps if moved >= 0 else -bps)
    state.update(numerator=str(spot.numerator), denominator=str(spot.denominator), price=price)
    return update


def describe_jar(
    reader: ChainReader,
    params: Mapping[str, Any],  # Any: JSON of a subscription
    state: dict[str, Any],  # Any: JSON of a subscription
) -> dict[str, object]:
    """The payload of `tokenjar:update`; `state` remembers the number of the next release. Raises JarNotFound."""
    found = look_into_jar(reader, params["jar_address"])
    update: dict[str, Any] = {  # Any: JSON of an answer
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
        update["releases_since"] = found.nonce - int(state["nonce"])
    state["nonce"] = str(found.nonce)
    return update


def describe_alerts(
    reader: ChainReader,
    params: Mapping[str, Any],  # Any: JSON of a subscription
    state: dict[str, Any],  # Any: JSON of a subscription
) -> list[dict[str, object]]:
    """The payloads of `position:alert` that are new since the last look; `state` remembers what was told."""
    markets = markets_on(reader.chain_id)
    try:
        position = markets.read_range(reader, params["position_id"])
    except PositionNotFound:
        return [{"position_id": params["position_id"], "alert": CLOSED}]
    facts, alerts = _describe_position(reader, position), []
    if params["out_of_range_alert"]:
        was_inside = state.get("is_in_range", True)
        if was_inside != position.is_in_range:
            alerts.append({**facts, "alert": "in_range" if position.is_in_range else "out_of_range"})
        state["is_in_range"] = position.is_in_range
    if params.get("fee_threshold_micro_usd") is not None:
        threshold = int(params["fee_threshold_micro_usd"])
        valuer = TokenPricer(reader, markets)
        worth = valuer.value([(position.pool.token0, position.fees0), (position.pool.token1, position.fees1)])
        is_above = worth is not None and worth >= threshold
        if is_above and not state.get("is_above", False):
            alerts.append(
                {
                    **facts,
                    "alert": "fees_above_threshold",
                    "fees_value_micro_usd": str(worth),
                    "threshold_micro_usd": str(threshold),
                }
            )
        state["is_above"] = is_above
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

"""Logs of pools as the fields of a `pool:event`. Amounts are base units, positive into the pool."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.core.units import format_units
from tools_app.protocols.uniswap.history import SWAP_V2, SWAP_V3
from tools_app.protocols.uniswap.pools import Pool
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import LogEntry, TokenMeta

_MINT_V3 = (
    "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper,"
    " uint128 amount, uint256 amount0, uint256 amount1)"
)
_BURN_V3 = (
    "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount,"
    " uint256 amount0, uint256 amount1)"
)
_COLLECT_V3 = (
    "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper,"
    " uint128 amount0, uint128 amount1)"
)
_MINT_V2 = "event Mint(address indexed sender, uint256 amount0, uint256 amount1)"
_BURN_V2 = "event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)"

SIGNATURES: Final[Mapping[str, Mapping[str, str]]] = {
    "v3": {"swap": SWAP_V3, "mint": _MINT_V3, "burn": _BURN_V3, "collect": _COLLECT_V3},
    "v2": {"swap": SWAP_V2, "mint": _MINT_V2, "burn": _BURN_V2},
}
POOL_EVENT_NAMES: Final = ("swap", "mint", "burn", "collect")


def list_topics(version: str, names: Collection[str]) -> list[str]:
    """Topic 0 of the events that are wanted of a pool of this version."""
    return [event_topic(signature) for name, signature in SIGNATURES[version].items() if name in names]


def describe_log(reader: ChainReader, pool: Pool, log: LogEntry) -> dict[str, Any] | None:
    """The payload of a pool's log, without its subscription; None for one that is none of ours."""
    for name, signature in SIGNATURES[pool.version].items():
        found = decode_log(signature, log)
        if found is not None:
            amount0, amount1 = _signed_amounts(name, pool.version, found)
            return {
                "pool_address": pool.address,
                "event": name,
                **describe_amounts(reader, pool, amount0, amount1),
                **_details(found),
            }
    return None


def describe_amounts(reader: ChainReader, pool: Pool, amount0: int, amount1: int) -> dict[str, Any]:
    """Both tokens with their amounts in base units and in units."""
    token0, token1 = reader.token(pool.token0), reader.token(pool.token1)
    return {
        "venue": f"uniswap {pool.version}",
        "token0": describe_token(token0),
        "token1": describe_token(token1),
        "amount0": str(amount0),
        "amount0_units": format_units(amount0, token0.decimals),
        "amount1": str(amount1),
        "amount1_units": format_units(amount1, token1.decimals),
    }


def describe_token(token: TokenMeta) -> dict[str, Any]:
    """A token in an event. Its symbol is data from outside unless `is_registered`."""
    return {
        "address": token.address,
        "symbol": token.symbol,
        "decimals": token.decimals,
        "is_registered": token.is_registered,
    }


def _signed_amounts(name: str, version: str, found: Mapping[str, Any]) -> tuple[int, int]:
    if name == "swap" and version == "v2":
        return found["amount0In"] - found["amount0Out"], found["amount1In"] - found["amount1Out"]
    sign = -1 if name in ("burn", "collect") else 1
    return sign * found["amount0"], sign * found["amount1"]


def _details(found: Mapping[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = {name: found[name] for name in ("sender", "recipient", "owner") if name in found}
    if "to" in found:
        details["recipient"] = found["to"]
    if "tickLower" in found:
        details.update(tick_lower=found["tickLower"], tick_upper=found["tickUpper"])
    if "sqrtPriceX96" in found:
        details.update(
            sqrt_price_x96=str(found["sqrtPriceX96"]), liquidity=str(found["liquidity"]), pool_tick=found["tick"]
        )
    return details

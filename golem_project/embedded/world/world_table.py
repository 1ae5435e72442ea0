"""What lies where in the local world, as the committed table tells it: `tools_app/chain/deployments/31337.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError


@dataclass(frozen=True, slots=True)
class WorldContracts:
    """Addresses of the world's own contracts, by the keys of the table."""

    weth9: str
    uniswap_v2_factory: str
    uniswap_v2_router: str
    uniswap_v3_factory: str
    uniswap_v3_swap_router: str
    uniswap_v3_swap_router_02: str
    uniswap_v3_position_manager: str
    uniswap_v3_quoter_v2: str
    permit2: str
    multicall3: str
    safe: str
    safe_proxy_factory: str
    safe_fallback_handler: str
    safe_multi_send: str
    safe_multi_send_call_only: str


@dataclass(frozen=True, slots=True)
class WorldToken:
    """A token; `feed` is the address of its price in US dollars with 8 decimals."""

    symbol: str
    name: str
    address: str
    decimals: int
    simulated: bool
    feed: str
    traits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NativeCoin:
    """The chain's coin."""

    symbol: str
    decimals: int
    feed: str


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A pool, its tokens in the order of their addresses."""

    address: str
    version: str
    token0: str
    token1: str
    fee_tier: int


@dataclass(frozen=True, slots=True)
class PoolCodeHashes:
    """0x-prefixed keccak of the creation code that the addresses of pools follow from."""

    uniswap_v2: str
    uniswap_v3: str


@dataclass(frozen=True, slots=True)
class WorldTable:
    """The whole table; its fields, and those of its parts, are the keys of the file in their order."""

    chain_id: int
    contracts: WorldContracts
    tokens: tuple[WorldToken, ...]
    native: NativeCoin
    pools: tuple[PoolEntry, ...]
    init_code_hashes: PoolCodeHashes


def read_world_table(path: Path) -> WorldTable:
    """The table of a file. Raises EmbeddedError for what is none."""
    try:
        return _read_table(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise EmbeddedError(f"{path.name} is no table of the local world ({error}). Fix: git checkout it.") from error


def _read_table(told: object) -> WorldTable:
    match told:
        case {
            "chain_id": int(chain_id),
            "contracts": dict(contracts),
            "tokens": list(tokens),
            "native": dict(native),
            "pools": list(pools),
            "init_code_hashes": dict(hashes),
        }:
            return WorldTable(
                chain_id=chain_id,
                contracts=WorldContracts(**contracts),
                tokens=tuple(_read_token(token) for token in tokens),
                native=NativeCoin(**native),
                pools=tuple(PoolEntry(**pool) for pool in pools),
                init_code_hashes=PoolCodeHashes(**hashes),
            )
    raise ValueError("a key is missing")


def _read_token(told: Mapping[str, object]) -> WorldToken:
    match told:
        case {
            "symbol": str(symbol),
            "name": str(name),
            "address": str(address),
            "decimals": int(decimals),
            "simulated": bool(simulated),
            "feed": str(feed),
            "traits": list(traits),
        }:
            return WorldToken(symbol, name, address, decimals, simulated, feed, tuple(traits))
    raise ValueError("a token lacks a key")

"""Names for the pools inside a call tree: pair, fee and version, once their factory vouches for them.

A pool is in no registry, and its contract may say anything of itself; so the factory is asked, at the tree's own block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_units
from tools_app.portfolio.markets import list_markets, markets_on
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.views import BlockRef
from tools_app.wording.address_names import name_address, name_addresses

_MOST_POOLS: Final = 24
_PERCENT_DECIMALS: Final = 4
# What only pools are asked for.
_POOL_FUNCTIONS: Final = frozenset({"swap", "slot0", "getReserves", "mint", "burn", "collect", "sync", "skim"})


@dataclass(frozen=True, slots=True)
class NamedPool:
    """A pool its factory vouches for: `USDC/WETH 0.05% pool` with its market, and its tokens in its own order."""

    name: str
    token0: str
    token1: str


def name_pools(
    trees: Iterable[JsonObject], *, chain_id: int, block: BlockRef, deadline: Deadline
) -> dict[str, NamedPool]:
    """The pools among `trees`, by address. Raises the node errors."""
    asked = dict.fromkeys(
        str(frame["to"])
        for tree in trees
        for frame in _walk(tree)
        if frame["function"] in _POOL_FUNCTIONS and not name_address(chain_id, str(frame["to"]))
    )
    addresses: Sequence[str] = list(asked)[:_MOST_POOLS]
    if not addresses:
        return {}
    if not list_markets(chain_id):
        return {}
    reader = runner.open_reader(chain_id, now=clock.now(), deadline=deadline, block=block)
    found = markets_on(chain_id).recognize(reader, addresses)
    return {address: NamedPool(_describe(pool, chain_id), pool.token0, pool.token1) for address, pool in found.items()}


def _describe(pool: Pool, chain_id: int) -> str:
    pair = "/".join(name_addresses(token, chain_id) for token in (pool.token0, pool.token1))
    fee = format_units(pool.fee, _PERCENT_DECIMALS)
    return f"{pair} {fee}% pool ({markets_on(chain_id).of_pool(pool).describe(pool)})"


def _walk(tree: JsonObject) -> Iterator[JsonObject]:
    yield tree
    for child in tree["calls"]:
        yield from _walk(child)

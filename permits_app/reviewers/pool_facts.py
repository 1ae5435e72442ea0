"""The pools that calldata names, found and measured by the reviewers themselves: address, worth, price history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from permits_app.reviewers.decoding import Reading
from tools_app.chain.abi import decode_log, event_topic
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import value_in_micro_usd
from tools_app.protocols.uniswap.addresses import Deployment
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import LogEntry

_GET_POOL: Final = "function getPool(address,address,uint24) view returns (address)"
_GET_PAIR: Final = "function getPair(address,address) view returns (address)"
_SWAP_V3: Final = (
    "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,"
    " uint160 sqrtPriceX96, uint128 liquidity, int24 tick)"
)
_SYNC_V2: Final = "event Sync(uint112 reserve0, uint112 reserve1)"


@dataclass(frozen=True, slots=True)
class NamedPool:
    """A pool of the calldata. `sold` and `bought` are token addresses, for a deposit in the pool's own order."""

    address: str
    version: str
    sold: str
    bought: str

    @property
    def sells_token0(self) -> bool:
        """Whether the token sold is the pool's first one."""
        return int(self.sold, 16) < int(self.bought, 16)


@dataclass(frozen=True, slots=True)
class PricePoint:
    """What one unit of token0 is worth in token1 after a block, as an exact ratio of base units."""

    block_number: int
    numerator: int
    denominator: int


def find_pools(reading: Reading, chain: ChainReader, deployment: Deployment) -> tuple[NamedPool, ...]:
    """The pools `reading` goes through, once each; one that does not exist is left out."""
    wanted: list[tuple[str, str, str, tuple[Any, ...]]] = [
        *(("v3", deployment.v3_factory, _GET_POOL, tuple(pool)) for pool in dict.fromkeys(reading.pools)),
        *(("v2", deployment.v2_factory, _GET_PAIR, tuple(pair)) for pair in dict.fromkeys(reading.v2_pools)),
    ]
    answers = chain.call_many([ReadCall(factory, signature, args) for _, factory, signature, args in wanted])
    return tuple(
        NamedPool(answer.values[0], version, args[0], args[1])
        for (version, _, _, args), answer in zip(wanted, answers, strict=True)
        if answer.ok and int(answer.values[0], 16)
    )


def value_pool(pool: NamedPool, chain: ChainReader) -> int | None:
    """Micro-USD in the pool at feed prices; with one feed the priced side counts twice, with none it is unknown."""
    tokens = [chain.token(address) for address in (pool.sold, pool.bought)]
    answers = chain.call_many([ReadCall(token.address, BALANCE_OF, (pool.address,)) for token in tokens])
    sides: list[int] = []
    for token, answer in zip(tokens, answers, strict=True):
        try:
            price = chain.price(token)
        except (PriceUnavailable, PriceStale):
            continue
        if answer.ok:
            held = int(answer.values[0])
            sides.append(
                value_in_micro_usd(
                    raw=held, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
                )
            )
    if not sides:
        return None
    return sum(sides) if len(sides) == len(tokens) else 2 * sides[0]


def read_prices(pool: NamedPool, chain: ChainReader, *, from_block: int) -> tuple[PricePoint, ...]:
    """The pool's price after each block in which it changed, from its own logs up to the pinned block."""
    event = _SWAP_V3 if pool.version == "v3" else _SYNC_V2
    logs = chain.logs(
        address=pool.address, topics=[event_topic(event)], from_block=from_block, to_block=chain.block.number
    )
    return tuple({point.block_number: point for point in _as_points(pool, event, logs)}.values())


def _as_points(pool: NamedPool, event: str, logs: Iterable[LogEntry]) -> Iterable[PricePoint]:
    for log in sorted(logs, key=lambda entry: (entry.block_number, entry.log_index)):
        values = decode_log(event, log)
        if values is None:
            continue
        if pool.version == "v3":
            yield PricePoint(log.block_number, int(values["sqrtPriceX96"]) ** 2, 2**192)
        elif int(values["reserve0"]):
            yield PricePoint(log.block_number, int(values["reserve1"]), int(values["reserve0"]))

"""Logs of V4's manager that tell of a pool which was opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.uniswap.v4.addresses import V4Contracts
from tools_app.protocols.uniswap.v4.keys import PoolKey
from tools_app.protocols.uniswap.v4.pools import pool_of
from tools_app.toolkit.markets import CreatedPool
from tools_app.toolkit.views import LogEntry

OPENED: Final = (
    "event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee,"
    " int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)"
)


@dataclass(frozen=True, slots=True)
class _PoolOpened:
    currency0: str
    currency1: str
    fee: int
    tick_spacing: int
    hooks: str


_OPENINGS: Final = AbiEvent(OPENED, _PoolOpened)


def read_opened_key(log: LogEntry) -> PoolKey | None:
    """The key of a pool in the log of its opening; None where the log is of something else."""
    told = _OPENINGS.read(log)
    if told is None:
        return None
    return PoolKey(told.currency0, told.currency1, told.fee, told.tick_spacing, told.hooks)


def read_opened(log: LogEntry, contracts: V4Contracts, wrapped: str) -> CreatedPool | None:
    """The pool that the manager opened; None where the log is of something else."""
    key = read_opened_key(log) if log.address == contracts.manager else None
    if key is None:
        return None
    pool = pool_of(key, contracts, wrapped)
    return CreatedPool(
        id=pool.id,
        version=pool.version,
        token0=pool.token0,
        token1=pool.token1,
        fee=pool.fee,
        block_number=log.block_number,
        tx_hash=log.tx_hash,
        protocol=pool.protocol,
        manager=contracts.manager,
        key=pool.key,
        block_hash=log.block_hash,
        log_index=log.log_index,
        hook=pool.hooks.address if pool.hooks is not None else "",
        powers=pool.hooks.powers if pool.hooks is not None else (),
    )

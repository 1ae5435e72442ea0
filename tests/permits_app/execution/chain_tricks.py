"""What tests do to the chain under a permit: stop mining, mine, reorganise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.evm.world import World


@contextmanager
def mining_paused(world: World) -> Iterator[None]:
    """Transactions wait in the node's pool until this ends or `mine` is called."""
    automine = world.rpc.call("anvil_getAutomine")
    interval = world.rpc.call("anvil_getIntervalMining")
    world.rpc.call("evm_setAutomine", False)
    world.rpc.call("evm_setIntervalMining", 0)
    try:
        yield
    finally:
        world.rpc.call("evm_setAutomine", automine)
        if interval:
            world.rpc.call("evm_setIntervalMining", interval)
        mine(world)


def mine(world: World, blocks: int = 1) -> None:
    """Mine `blocks` blocks now."""
    world.rpc.call("anvil_mine", hex(blocks))


def reorganise(world: World, depth: int) -> None:
    """Replace the last `depth` blocks by empty ones; their transactions are gone from the chain and from the pool."""
    world.rpc.call("anvil_reorg", depth, [])

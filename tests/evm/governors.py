"""A contract that logs what it is told to, as a governor would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from eth_abi import encode

from golem_project.embedded.world.rpc import checksum
from tests.evm.world import World
from tools_app.chain.abi import event_topic
from tools_app.history.log_meanings import GOVERNOR_EVENTS

CREATED, QUEUED, EXECUTED, CANCELED = GOVERNOR_EVENTS
# Copies all but the first word of what it is called with into one log, whose topic is that word.
_LOGS_WHAT_IT_IS_TOLD: Final = "0x60203603806020600037600035906000a100"


def open_governor(world: World, number: int = 1) -> str:
    """Its address."""
    address = checksum(f"0x60{number:038x}")
    world.rpc.call("anvil_setCode", address, _LOGS_WHAT_IT_IS_TOLD)
    return address


def log_as(world: World, governor: str, event: str, types: Sequence[str], values: Sequence[Any]) -> None:
    """Have it log one event."""
    data = event_topic(event) + encode(types, values).hex()
    world.send(world.actors.deployer, governor, data)


def propose(world: World, governor: str, number: int, words: str) -> None:
    """Have it log a proposal with these words."""
    types = ["uint256", "address", "address[]", "uint256[]", "string[]", "bytes[]", "uint256", "uint256", "string"]
    proposer = world.actors.deployer.address
    log_as(world, governor, CREATED, types, [number, proposer, [governor], [0], [""], [b""], 100, 200, words])

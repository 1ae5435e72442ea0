"""Shares what engines that read a chain from nodes have in common: making and failing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from tools_app.chain.blocks import parse_block
from tools_app.chain.networks import Network
from tools_app.chain.node_errors import ContractOutputUnexpected, GasLimitRefused, InsufficientFunds, RpcTimeout
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.simulation.engine import (
    SigningTerms,
    SimulationRequest,
    SimulationResult,
    SimulationTimeout,
    SimulationUnavailable,
)
from tools_app.simulation.measured_changes import normalise
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.views import BlockRef

_TOLD_AS_THEY_ARE = (
    InsufficientFunds,
    GasLimitRefused,
    ContractOutputUnexpected,
    PositionsUnreadable,
    SimulationUnavailable,
    SimulationTimeout,
)


def to_node_call(*, sender: str, to: str, data: bytes, value: int) -> dict[str, str]:
    """A call as nodes take it, without a gas price, so that nobody needs coins for it. A creation has `0x` as `to`."""
    target = {"to": to} if len(to) > 2 else {}
    return {"from": sender, **target, "input": "0x" + data.hex(), "value": hex(value)}


def to_signed_call(call: Call, *, sender: str, terms: SigningTerms | None, index: int) -> dict[str, str]:
    """The plan's call number `index`, from 0, with gas and fees as they are signed."""
    told = to_node_call(sender=sender, to=call.to, data=call.data, value=call.value)
    if terms is None:
        return told
    return {**told, "gas": hex(terms.gas_limits[index]), **to_fees(terms)}


def to_fees(terms: SigningTerms) -> dict[str, str]:
    """The fees of a transaction as nodes take them; none where the sender pays for no gas."""
    if not terms.pays:
        return {}
    return {
        "maxFeePerGas": hex(terms.max_fee_per_gas),
        "maxPriorityFeePerGas": hex(terms.max_priority_fee_per_gas),
    }


def describe_terms(terms: SigningTerms | None) -> str:
    """The end of every engine's label: what the calls were run with."""
    if terms is None:
        return "; gas of a whole block, no fees"
    if not terms.pays:
        return "; with the gas limits that are signed, no fees"
    return "; with the gas limits and fees that are signed"


class NodeEngine(ABC):
    """Simulates with the nodes of one chain. Holds no state of its own."""

    lacks: ClassVar[str]
    """What is missing when it cannot run, before `of {chain} is not available`."""

    def __init__(self, *, network: Network, pool: RpcPool) -> None:
        self._network = network
        self._pool = pool

    def run(self, request: SimulationRequest, *, deadline: Deadline) -> SimulationResult:
        """Run `request`, on the newest block when it names none. What moved unannounced is measured too.

        Raises SimulationUnavailable, SimulationTimeout, InsufficientFunds, GasLimitRefused, and
        ContractOutputUnexpected when a watched token does not tell balances.
        """
        try:
            block = request.block or parse_block(self._pool.latest_block(deadline=deadline))
            return self._simulate(normalise(request, block), block, deadline)
        except _TOLD_AS_THEY_ARE:
            raise
        except RpcTimeout as error:
            raise SimulationTimeout(error.detail, chain_id=request.chain_id) from error
        except GolemError as error:
            wait = error.data.get("retry_after_seconds")
            raise SimulationUnavailable(
                f"{self.lacks} of {self._network.name} is not available: {error.detail}",
                chain_id=request.chain_id,
                cause=error.code,
                **({} if wait is None else {"retry_after_seconds": wait}),
                # Only an owner can give a chain another node; everything else may pass by itself.
                recovery=Recovery.ASK_OWNER if error.next_step is Recovery.ASK_OWNER else None,
            ) from error

    @abstractmethod
    def _simulate(self, request: SimulationRequest, block: BlockRef, deadline: Deadline) -> SimulationResult:
        """Run a normalised request on `block`. Raises whatever the node and the calls raise."""

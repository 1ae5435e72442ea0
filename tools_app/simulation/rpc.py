"""RpcSimulationEngine: `eth_simulateV1` on the node that will carry the transaction, in one round trip.

One simulated block after the pinned one holds the balance reads, the calls as transactions of their own, and the
reads again; so gas is per transaction, with cold and warm slots as the receipt will have them. The block is dated
after its parent, because pools write an observation when time has moved and that costs gas.
Seed: stack, "Engines" (live chains: `eth_simulateV1` on the user's node first).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any, Final

from tools_app.chain.abi import checksum, clean_text
from tools_app.chain.node_errors import RpcNonsense, build_revert, revert_bytes
from tools_app.chain.rpc import parse_bytes, parse_quantity
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import CallOutcome, SimulationRequest, SimulationResult
from tools_app.simulation.measuring import (
    READ_FROM,
    READ_GAS,
    Read,
    build_result,
    find_unmeasured,
    list_reads,
    value_of,
)
from tools_app.simulation.node_engine import NodeEngine, to_node_call
from tools_app.simulation.node_state import read_state_diff
from tools_app.toolkit.views import BlockRef, LogEntry

ENGINE_NAME: Final = "rpc"
# A contract that exists in the simulated block only: it returns the coin balance of the address it is called with
# (calldataload, balance, mstore, return). A coin balance is no call, and asking elsewhere would be another round trip.
_COIN_READER_CODE: Final = "0x60003531600052" + "60206000f3"


class RpcSimulationEngine(NodeEngine):
    """Simulates on the nodes of one chain; a second round trip measures tokens that moved unannounced.

    The state difference is told when it is asked for, in a round trip for each call, by a node that traces.
    """

    lacks = "eth_simulateV1"

    def _simulate(self, request: SimulationRequest, block: BlockRef, deadline: Deadline) -> SimulationResult:
        result = self._run_once(request, block, extra=(), deadline=deadline)
        unmeasured = find_unmeasured(request, result.calls)
        if result.succeeded and unmeasured:
            result = self._run_once(request, block, extra=unmeasured, deadline=deadline)
        if not request.wants_state_diff:
            return result
        state_diff = read_state_diff(
            self._pool, calls=_plan_calls(request), outcomes=result.calls, block_hash=block.hash,
            block_overrides=self._next_block(request, block), deadline=deadline,
        )  # fmt: skip
        return replace(result, state_diff=state_diff)

    def _run_once(
        self, request: SimulationRequest, block: BlockRef, *, extra: Sequence[tuple[str, ...]], deadline: Deadline
    ) -> SimulationResult:
        reads = list_reads(request, extra)
        answer = self._pool.call("eth_simulateV1", *self._params(request, block, reads), deadline=deadline)
        rows = _rows_of(answer, block, expected=2 * len(reads) + len(request.calls))
        return build_result(
            engine=ENGINE_NAME,
            fidelity=(
                "rpc: eth_simulateV1 on the node that will carry the transaction, the node's own rules, "
                f"block {block.number}"
            ),
            request=request,
            block=block,
            calls=tuple(_outcome(row, block.number + 1) for row in rows[len(reads) : len(rows) - len(reads)]),
            reads=reads,
            before=[_value_of(read, row) for read, row in zip(reads, rows[: len(reads)], strict=True)],
            after=[_value_of(read, row) for read, row in zip(reads, rows[len(rows) - len(reads) :], strict=True)],
        )

    def _params(self, request: SimulationRequest, block: BlockRef, reads: Sequence[Read]) -> tuple[Any, Any]:
        # At an address nobody can guess, so that no contract knows a simulation by it.
        coin_reader = "0x" + token_hex(20)
        read_calls = [_read_call(read, coin_reader) for read in reads]
        simulated: dict[str, Any] = {
            "blockOverrides": self._next_block(request, block),
            "calls": [*read_calls, *_plan_calls(request), *read_calls],
        }
        if any(read.signature is None for read in reads):
            simulated["stateOverrides"] = {coin_reader: {"code": _COIN_READER_CODE}}
        payload = {"blockStateCalls": [simulated], "validation": False, "traceTransfers": False}
        return payload, {"blockHash": block.hash}

    def _next_block(self, request: SimulationRequest, block: BlockRef) -> dict[str, str]:
        timestamp = request.timestamp
        if timestamp is None:
            timestamp = block.timestamp + self._network.block_seconds
        return {"number": hex(block.number + 1), "time": hex(timestamp)}


def _plan_calls(request: SimulationRequest) -> list[dict[str, str]]:
    return [to_node_call(sender=request.sender, to=call.to, data=call.data, value=call.value) for call in request.calls]


def _read_call(read: Read, coin_reader: str) -> dict[str, str]:
    to, data = read.to, read.data
    if read.signature is None:
        to, data = coin_reader, bytes(12) + bytes.fromhex(read.to[2:])
    return {"from": READ_FROM, "to": to, "input": "0x" + data.hex(), "gas": hex(READ_GAS)}


def _value_of(read: Read, row: dict[str, Any]) -> int | None:
    return value_of(read, succeeded=_has_succeeded(row), output=parse_bytes(row.get("returnData")))


def _has_succeeded(row: dict[str, Any]) -> bool:
    """Raises RpcNonsense for a call that is neither a success nor a failure."""
    status = parse_quantity(row.get("status"))
    if status > 1:
        raise RpcNonsense("The node answered a call that neither succeeded nor failed")
    return status == 1


def _rows_of(answer: Any, block: BlockRef, *, expected: int) -> list[dict[str, Any]]:
    """The simulated calls of a well-formed answer for the block after `block`. Raises RpcNonsense."""
    if not isinstance(answer, list) or len(answer) != 1 or not isinstance(answer[0], dict):
        raise RpcNonsense("The node answered something that is no simulated block")
    rows = answer[0].get("calls")
    if parse_quantity(answer[0].get("number")) != block.number + 1:
        raise RpcNonsense("The node simulated on another block than it was asked to")
    if not isinstance(rows, list) or len(rows) != expected or not all(isinstance(row, dict) for row in rows):
        raise RpcNonsense("The node simulated another number of calls than it was asked to")
    return rows


def _outcome(row: dict[str, Any], block_number: int) -> CallOutcome:
    output = parse_bytes(row.get("returnData"))
    gas_used = parse_quantity(row.get("gasUsed"))
    if _has_succeeded(row):
        return CallOutcome(True, output, gas_used, _logs_of(row, block_number))
    error = row.get("error")
    detail = error if isinstance(error, dict) else {}
    data = output or revert_bytes(detail.get("data"))
    reverted = build_revert(data, message=clean_text(str(detail.get("message", ""))))
    return CallOutcome(False, data, gas_used, (), reverted.detail, reverted.data["error_name"])


def _logs_of(row: dict[str, Any], block_number: int) -> tuple[LogEntry, ...]:
    # A node that leaves logs out would hide what a plan moves and gives away: no list is no answer.
    try:
        return tuple(
            LogEntry(
                checksum(log["address"]),
                tuple("0x" + parse_bytes(topic).hex() for topic in log["topics"]),
                "0x" + parse_bytes(log["data"]).hex(),
                block_number,
                "",
                index,
            )
            for index, log in enumerate(row["logs"])
        )
    except (KeyError, TypeError, ValueError):
        raise RpcNonsense("The node answered something that is no log") from None

"""RpcSimulationEngine: `eth_simulateV1` on the node that will carry the transaction, in one round trip.

One simulated block after the pinned one holds the balance reads, the calls as transactions of their own, and the
reads again; so gas is per transaction, with cold and warm slots as the receipt will have them. The block is dated
after its parent, because pools write an observation when time has moved and that costs gas.
Seed: stack, "Engines" (live chains: `eth_simulateV1` on the user's node first).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, checksum, clean_text, decode_output, encode_call
from tools_app.chain.blocks import parse_block
from tools_app.chain.networks import Network
from tools_app.chain.node_errors import (
    ContractOutputUnexpected,
    GasLimitRefused,
    InsufficientFunds,
    RpcNonsense,
    RpcTimeout,
    build_revert,
    revert_bytes,
)
from tools_app.chain.rpc import parse_bytes, parse_quantity
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.simulation.engine import (
    CallOutcome,
    SimulationRequest,
    SimulationResult,
    SimulationTimeout,
    SimulationUnavailable,
)
from tools_app.simulation.side_effects import find_approvals, find_transfers
from tools_app.standards.erc20 import ALLOWANCE, BALANCE_OF
from tools_app.toolkit.views import NATIVE, BlockRef, LogEntry

ENGINE_NAME: Final = "rpc"
_READ_FROM: Final = "0x0000000000000000000000000000000000000000"
# A contract that exists in the simulated block only: it returns the coin balance of the address it is called with
# (calldataload, balance, mstore, return). A coin balance is no call, and asking elsewhere would be another round trip.
_COIN_READER: Final = "0x6F1eF3a2cB1aE3E6cD4B6a6d9B10c7D9a5C0b1a1".lower()
_COIN_READER_CODE: Final = "0x60003531600052" + "60206000f3"
_READ_GAS: Final = 1_000_000
# What is beyond this stays in the result as unexpected, unmeasured.
_MOST_UNMEASURED: Final = 32


@dataclass(frozen=True, slots=True)
class _Read:
    """One value measured before and after: a balance (account, token) or an allowance (token, owner, spender)."""

    key: tuple[str, ...]
    signature: str | None
    to: str
    data: bytes
    is_requested: bool


class RpcSimulationEngine:
    """Simulates on the nodes of one chain. Holds no state of its own."""

    def __init__(self, *, network: Network, pool: RpcPool) -> None:
        self._network = network
        self._pool = pool

    def run(self, request: SimulationRequest, *, deadline: Deadline) -> SimulationResult:
        """Run `request`; a second round trip measures tokens that moved unannounced.

        Raises SimulationUnavailable, SimulationTimeout, InsufficientFunds, GasLimitRefused, and
        ContractOutputUnexpected when a watched token does not tell balances.
        """
        try:
            block = request.block or parse_block(self._pool.latest_block(deadline=deadline))
            request = _normalise(request, block)
            result = self._run_once(request, block, extra=(), deadline=deadline)
            unmeasured = _find_unmeasured(request, result)
            if result.succeeded and unmeasured:
                result = self._run_once(request, block, extra=unmeasured, deadline=deadline)
            return result
        except (InsufficientFunds, GasLimitRefused, ContractOutputUnexpected, SimulationUnavailable):
            raise
        except RpcTimeout as error:
            raise SimulationTimeout(error.detail, chain_id=request.chain_id) from error
        except GolemError as error:
            raise SimulationUnavailable(
                f"eth_simulateV1 on {self._network.name} is not available: {error.detail}",
                chain_id=request.chain_id,
                cause=error.code,
                # Only an owner can give a chain another node; everything else may pass by itself.
                recovery=Recovery.ASK_OWNER if error.next_step is Recovery.ASK_OWNER else None,
            ) from error

    def _run_once(
        self, request: SimulationRequest, block: BlockRef, *, extra: Sequence[tuple[str, ...]], deadline: Deadline
    ) -> SimulationResult:
        reads = [_read(key, is_requested=True) for key in dict.fromkeys((*request.watch, *request.allowances))]
        reads += [_read(key, is_requested=False) for key in extra]
        answer = self._pool.call("eth_simulateV1", *self._params(request, block, reads), deadline=deadline)
        rows = _rows_of(answer, block, expected=2 * len(reads) + len(request.calls))
        before, after = rows[: len(reads)], rows[len(rows) - len(reads) :]
        calls = tuple(_outcome(row, block.number + 1) for row in rows[len(reads) : len(rows) - len(reads)])
        measured = [
            (read, first, last)
            for read, first, last in zip(
                reads, map(_value_of, reads, before), map(_value_of, reads, after), strict=True
            )
            if first is not None and last is not None
        ]
        balances = [item for item in measured if len(item[0].key) == 2]
        allowances = [item for item in measured if len(item[0].key) == 3]
        return SimulationResult(
            engine=ENGINE_NAME,
            fidelity=f"rpc: eth_simulateV1 on the node that will carry the transaction, block {block.number}",
            block=block,
            sender=request.sender,
            calls=calls,
            balances_before={read.key: first for read, first, _ in balances},  # type: ignore[misc]
            balances_after={read.key: last for read, _, last in balances},  # type: ignore[misc]
            allowances_before={read.key: first for read, first, _ in allowances},  # type: ignore[misc]
            allowances_after={read.key: last for read, _, last in allowances},  # type: ignore[misc]
            unexpected_transfers=find_transfers(calls, request),
            unexpected_approvals=find_approvals(calls, request),
        )

    def _params(self, request: SimulationRequest, block: BlockRef, reads: Sequence[_Read]) -> tuple[Any, Any]:
        timestamp = request.timestamp
        if timestamp is None:
            timestamp = block.timestamp + self._network.block_seconds
        read_calls = [
            {"from": _READ_FROM, "to": read.to, "input": "0x" + read.data.hex(), "gas": hex(_READ_GAS)}
            for read in reads
        ]
        plan_calls = [
            {"from": request.sender, "to": call.to, "input": "0x" + call.data.hex(), "value": hex(call.value)}
            for call in request.calls
        ]
        simulated: dict[str, Any] = {
            "blockOverrides": {"number": hex(block.number + 1), "time": hex(timestamp)},
            "calls": [*read_calls, *plan_calls, *read_calls],
        }
        if any(read.to == _COIN_READER for read in reads):
            simulated["stateOverrides"] = {_COIN_READER: {"code": _COIN_READER_CODE}}
        payload = {"blockStateCalls": [simulated], "validation": False, "traceTransfers": False}
        return payload, {"blockHash": block.hash}


def _normalise(request: SimulationRequest, block: BlockRef) -> SimulationRequest:
    """The same request with every address in its checksummed form, as logs give them."""
    return replace(
        request,
        block=block,
        sender=checksum(request.sender),
        watch=tuple((checksum(account), checksum(token)) for account, token in request.watch),
        allowances=tuple(
            (checksum(token), checksum(owner), checksum(spender)) for token, owner, spender in request.allowances
        ),
    )


def _read(key: tuple[str, ...], *, is_requested: bool) -> _Read:
    if len(key) == 3:
        token, owner, spender = key
        return _Read(key, ALLOWANCE, token, encode_call(ALLOWANCE, owner, spender), is_requested)
    account, token = key
    if token == NATIVE:
        return _Read(key, None, _COIN_READER, bytes(12) + bytes.fromhex(account[2:]), is_requested)
    return _Read(key, BALANCE_OF, token, encode_call(BALANCE_OF, account), is_requested)


def _value_of(read: _Read, row: dict[str, Any]) -> int | None:
    """The measured value; None where a token nobody asked about does not answer. Raises ContractOutputUnexpected."""
    data = parse_bytes(row.get("returnData", "0x"))
    if parse_quantity(row.get("status")) == 1:
        try:
            return (
                int.from_bytes(data, "big") if read.signature is None else int(decode_output(read.signature, data)[0])
            )
        except AbiDecodeError:
            data = b""
    if not read.is_requested:
        return None
    raise ContractOutputUnexpected(
        f"{read.to} does not tell {'balances' if len(read.key) == 2 else 'allowances'} like an ERC-20",
        address=read.to,
    )


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
    output = parse_bytes(row.get("returnData", "0x"))
    gas_used = parse_quantity(row.get("gasUsed"))
    if parse_quantity(row.get("status")) == 1:
        return CallOutcome(True, output, gas_used, _logs_of(row, block_number))
    error = row.get("error")
    detail = error if isinstance(error, dict) else {}
    data = output or revert_bytes(detail.get("data"))
    reverted = build_revert(data, message=clean_text(str(detail.get("message", ""))))
    return CallOutcome(False, data, gas_used, (), reverted.detail, reverted.data["error_name"])


def _logs_of(row: dict[str, Any], block_number: int) -> tuple[LogEntry, ...]:
    try:
        return tuple(
            LogEntry(checksum(log["address"]), tuple(log["topics"]), log["data"], block_number, "", index)
            for index, log in enumerate(row.get("logs") or ())
        )
    except (KeyError, TypeError, ValueError):
        raise RpcNonsense("The node answered something that is no log") from None


def _find_unmeasured(request: SimulationRequest, result: SimulationResult) -> tuple[tuple[str, ...], ...]:
    """What moved or was approved without being watched: balances and allowances to measure in a second run."""
    balances: list[tuple[str, ...]] = [(request.sender, seen.token) for seen in result.unexpected_transfers]
    allowances: list[tuple[str, ...]] = [
        (seen.token, request.sender, seen.spender)
        for seen in result.unexpected_approvals
        if seen.contract == seen.token and seen.token_id is None and seen.amount >= 0
    ]
    return tuple(dict.fromkeys((*balances, *allowances)))[:_MOST_UNMEASURED]

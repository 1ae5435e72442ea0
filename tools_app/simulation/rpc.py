"""RpcSimulationEngine: `eth_simulateV1` on the node that will carry the transaction, in one round trip.

One simulated block after the pinned one holds the balance reads, the calls as transactions of their own, and the
reads again; so gas is per transaction, with cold and warm slots as the receipt will have them. The block is dated
after its parent, because pools write an observation when time has moved and that costs gas. A read is undone by the
contract that asks it, so no token finds a mark of it when the calls run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Annotated, Final

from pydantic import Field

from tools_app.chain.abi import checksum, clean_text, encode_call
from tools_app.chain.node_errors import RpcNonsense, build_revert, revert_bytes
from tools_app.chain.rpc import parse_bytes, parse_quantity
from tools_app.core.clock import Deadline
from tools_app.core.stored_json import read_stored
from tools_app.simulation.before_after_reads import Conversation, begin, read_outcome, with_told
from tools_app.simulation.engine import CallOutcome, SimulationRequest, SimulationResult
from tools_app.simulation.measured_changes import (
    ASK_GAS,
    READ_FROM,
    READ_GAS,
    Read,
    build_result,
    find_unmeasured,
    list_reads,
    value_of,
)
from tools_app.simulation.node_engine import NodeEngine, describe_terms, to_fees, to_signed_call
from tools_app.simulation.node_state import read_state_diff
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.views import BlockRef, LogEntry

ENGINE_NAME: Final = "rpc"
_TRUE: Final = (1).to_bytes(32, "big")
# A contract that exists in the simulated block only. Called with one word it returns the coin balance of that address:
# a coin balance is no call, and asking elsewhere would be another round trip. Called with more it calls that address
# with the rest and reverts with a word for the success and all that was returned, so that whatever the call wrote is
# undone.
_READER_CODE: Final = "0x" + "".join(
    (
        "36602014602f57",  # one word: jump to the coin
        "602036038060206000376000600082600060006000355af1",  # copy the rest, call the first word with it
        "6000523d600060203e3d6020016000fd",  # success, what was returned, revert
        "5b600035316000526020" + "6000f3",  # the coin
    )
)
_READER_GAS: Final = READ_GAS + 100_000
_ASKER_GAS: Final = ASK_GAS + 100_000
# Whoever reads pays as everybody does where a node charges for gas.
_READER_COINS: Final = 10**24


@dataclass(frozen=True, slots=True)
class SimulatedRow:
    """One simulated call as a node tells it, before anything of it is checked."""

    status: object = None
    gas_used: Annotated[object, Field(alias="gasUsed")] = None
    return_data: Annotated[object, Field(alias="returnData")] = None
    error: object = None
    logs: object = None


@dataclass(frozen=True, slots=True)
class _ToldBlock:
    number: object = None
    calls: object = None


@dataclass(frozen=True, slots=True)
class _ToldError:
    message: object = ""
    data: object = None


@dataclass(frozen=True, slots=True)
class _ToldLog:
    address: str
    topics: list[object]
    data: object


class RpcSimulationEngine(NodeEngine):
    """Simulates on the nodes of one chain; a second round trip measures tokens that moved unannounced.

    The state difference is told when it is asked for, in a round trip for each call, by a node that traces.
    """

    lacks = "eth_simulateV1"

    def _simulate(self, request: SimulationRequest, block: BlockRef, deadline: Deadline) -> SimulationResult:
        before, after = begin(request), begin(request)
        result = self._run_once(request, block, extra=(), asked=(before, after), deadline=deadline)
        extra: tuple[tuple[str, ...], ...] = ()
        if result.succeeded:
            extra = find_unmeasured(request, result.calls)
            # What was asked last may need a further question, and what moved unannounced is measured along with it.
            while extra or before.told is None or after.told is None:
                result = self._run_once(request, block, extra=extra, asked=(before, after), deadline=deadline)
                extra = () if before.told is not None and after.told is not None else extra
        if before.told is not None and after.told is not None:
            result = with_told(result, request, before.told, after.told)
        if not request.wants_state_diff:
            return result
        state_diff = read_state_diff(
            self._pool,
            calls=_plan_calls(request),
            outcomes=result.calls,
            terms=request.terms,
            block_hash=block.hash,
            block_overrides={"baseFeePerGas": "0x0", **self._next_block(request, block)},
            deadline=deadline,
        )
        return replace(result, state_diff=state_diff)

    def _run_once(
        self,
        request: SimulationRequest,
        block: BlockRef,
        *,
        extra: Sequence[tuple[str, ...]],
        asked: tuple[Conversation, Conversation],
        deadline: Deadline,
    ) -> SimulationResult:
        """One round trip, in which both conversations go one step on where every call succeeds."""
        reads, (before, after) = list_reads(request, extra), asked
        wanted = (list(before.wanted), list(after.wanted))
        answer = self._pool.call("eth_simulateV1", *self._params(request, block, reads, wanted), deadline=deadline)
        first, last = len(reads) + len(wanted[0]), len(reads) + len(wanted[1])
        rows = _rows_of(answer, block, expected=first + len(request.calls) + last)
        ahead, run, behind = rows[:first], rows[first : len(rows) - last], rows[len(rows) - last :]
        result = build_result(
            engine=ENGINE_NAME,
            fidelity=_label(request, block),
            request=request,
            block=block,
            calls=tuple(to_outcome(row, block.number + 1) for row in run),
            reads=reads,
            before=[_value_of(read, row) for read, row in zip(reads, ahead[: len(reads)], strict=True)],
            after=[_value_of(read, row) for read, row in zip(reads, behind[: len(reads)], strict=True)],
        )
        if result.succeeded:
            for conversation, told in ((before, ahead[len(reads) :]), (after, behind[len(reads) :])):
                if conversation.told is None:
                    answers = zip(conversation.wanted, told, strict=True)
                    conversation.go_on([_outcome_of(each, row) for each, row in answers])
        return result

    def _params(
        self,
        request: SimulationRequest,
        block: BlockRef,
        reads: Sequence[Read],
        asked: tuple[Sequence[ReadCall], Sequence[ReadCall]],
    ) -> tuple[object, object]:
        # At addresses nobody can guess, so that no contract knows a simulation by them.
        reader, payer = "0x" + token_hex(20), "0x" + token_hex(20)
        terms = request.terms
        # Only where everybody pays does a node show the base fee, the gas price and a balance less what gas costs.
        pays = terms is not None and terms.pays
        fees = to_fees(terms) if terms is not None else {}
        asks = payer if pays else READ_FROM
        payload_of = {"from": asks, **fees}
        read_calls = [{**_read_call(read, reader), **payload_of} for read in reads]
        ahead, behind = ([{**_ask_call(each, reader), **payload_of} for each in some] for some in asked)
        simulated: dict[str, object] = {
            "blockOverrides": self._next_block(request, block),
            "calls": [*read_calls, *ahead, *_plan_calls(request), *read_calls, *behind],
        }
        if reads or ahead or behind:
            rich = {payer: {"balance": hex(_READER_COINS)}} if pays else {}
            simulated["stateOverrides"] = {reader: {"code": _READER_CODE}, **rich}
        payload = {"blockStateCalls": [simulated], "validation": pays, "traceTransfers": False}
        return payload, {"blockHash": block.hash}

    def _next_block(self, request: SimulationRequest, block: BlockRef) -> dict[str, str]:
        timestamp = request.timestamp
        if timestamp is None:
            timestamp = block.timestamp + self._network.block_seconds
        told = {"number": hex(block.number + 1), "time": hex(timestamp)}
        if request.terms is not None:
            told["baseFeePerGas"] = hex(request.terms.base_fee if request.terms.pays else 0)
            if request.terms.randomness:
                told["prevRandao"] = "0x" + request.terms.randomness.hex()
        return told


def _label(request: SimulationRequest, block: BlockRef) -> str:
    label = (
        f"rpc: eth_simulateV1 on the node that will carry the transaction, the node's own rules, block {block.number}"
    )
    return label + describe_terms(request.terms)


def _plan_calls(request: SimulationRequest) -> list[dict[str, str]]:
    return [
        to_signed_call(call, sender=request.sender, terms=request.terms, index=index)
        for index, call in enumerate(request.calls)
    ]


def _read_call(read: Read, reader: str) -> dict[str, str]:
    target = bytes(12) + bytes.fromhex(read.to[2:])
    asked = target if read.signature is None else target + read.data
    return {"to": reader, "input": "0x" + asked.hex(), "gas": hex(_READER_GAS)}


def _ask_call(asked: ReadCall, reader: str) -> dict[str, str]:
    target = bytes(12) + bytes.fromhex(asked.to[2:])
    data = target + encode_call(asked.signature, *asked.args)
    return {"to": reader, "input": "0x" + data.hex(), "gas": hex(_ASKER_GAS)}


def _outcome_of(asked: ReadCall, row: SimulatedRow) -> ReadOutcome:
    """As the reader told it, which always reverts."""
    has_returned, output = _has_succeeded(row), _output_of(row)
    return read_outcome(asked, succeeded=not has_returned and output[:32] == _TRUE, output=output[32:])


def _value_of(read: Read, row: SimulatedRow) -> int | None:
    has_returned, output = _has_succeeded(row), _output_of(row)
    if read.signature is None:
        return value_of(read, succeeded=has_returned, output=output)
    # The reader always reverts; one that does not, or says nothing, ran out of gas or is not ours.
    succeeded = not has_returned and output[:32] == _TRUE
    return value_of(read, succeeded=succeeded, output=output[32:])


def _has_succeeded(row: SimulatedRow) -> bool:
    """Raises RpcNonsense for a call that is neither a success nor a failure."""
    status = parse_quantity(row.status)
    if status > 1:
        raise RpcNonsense("The node answered a call that neither succeeded nor failed")
    return status == 1


def _rows_of(answer: object, block: BlockRef, *, expected: int) -> list[SimulatedRow]:
    """The simulated calls of a well-formed answer for the block after `block`. Raises RpcNonsense."""
    if not isinstance(answer, list) or len(answer) != 1 or not isinstance(answer[0], dict):
        raise RpcNonsense("The node answered something that is no simulated block")
    told = read_stored(_ToldBlock, answer[0])
    rows = told.calls
    if parse_quantity(told.number) != block.number + 1:
        raise RpcNonsense("The node simulated on another block than it was asked to")
    if not isinstance(rows, list) or len(rows) != expected or not all(isinstance(row, dict) for row in rows):
        raise RpcNonsense("The node simulated another number of calls than it was asked to")
    return [read_row(row) for row in rows]


def read_row(told: Mapping[str, object]) -> SimulatedRow:
    """One simulated call as the node told it."""
    return read_stored(SimulatedRow, told)


def to_outcome(row: SimulatedRow, block_number: int) -> CallOutcome:
    """What one simulated call did. Raises RpcNonsense."""
    gas_used = parse_quantity(row.gas_used)
    if _has_succeeded(row):
        return CallOutcome(True, parse_bytes(row.return_data), gas_used, _logs_of(row, block_number))
    data = _output_of(row)
    detail = read_stored(_ToldError, row.error) if isinstance(row.error, dict) else _ToldError()
    reverted = build_revert(data, message=clean_text(str(detail.message)))
    return CallOutcome(False, data, gas_used, (), reverted.detail, reverted.data["error_name"])


def _output_of(row: SimulatedRow) -> bytes:
    """What a call returned or reverted with; nodes give the latter in one of two places."""
    output = parse_bytes(row.return_data)
    if output or not isinstance(row.error, dict):
        return output
    return revert_bytes(read_stored(_ToldError, row.error).data)


def _read_logs(told: object) -> list[_ToldLog]:
    if not isinstance(told, list):
        raise TypeError("no list of logs")
    return [read_stored(_ToldLog, each) for each in told]


def _logs_of(row: SimulatedRow, block_number: int) -> tuple[LogEntry, ...]:
    # A node that leaves logs out would hide what a plan moves and gives away: no list is no answer.
    try:
        return tuple(
            LogEntry(
                checksum(log.address),
                tuple("0x" + parse_bytes(topic).hex() for topic in log.topics),
                "0x" + parse_bytes(log.data).hex(),
                block_number,
                "",
                index,
            )
            for index, log in enumerate(_read_logs(row.logs))
        )
    except (KeyError, TypeError, ValueError):
        raise RpcNonsense("The node answered something that is no log") from None

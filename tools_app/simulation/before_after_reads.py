"""Asks the simulated block for positions and gauges before and after the calls.

A question goes on with what it is told, so before and after are two conversations. An engine in process has each of
them at its moment; a node is asked for both together, once for every step, and runs the calls anew each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tools_app.chain.abi import AbiDecodeError, decode_output
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import MOST_BATCHES, Gauge, Position, PositionsUnreadable, Reads, side_by_side

Told: TypeAlias = tuple[tuple[Position, ...], tuple[int, ...]]
"""Positions, and the values of the gauges in the order of the request."""


def ask(request: SimulationRequest) -> Reads[Told]:
    """Everything the request wants to know of one moment. Raises PositionsUnreadable, ContractOutputUnexpected."""
    told = yield from side_by_side([_positions(request), _gauges(request.gauges)])
    return tuple(each for each in told[0] if isinstance(each, Position)), tuple(
        each for each in told[1] if isinstance(each, int)
    )


def _positions(request: SimulationRequest) -> Reads[tuple[Position | int, ...]]:
    return () if request.positions is None else (yield from request.positions.ask())


def _gauges(gauges: Sequence[Gauge]) -> Reads[tuple[Position | int, ...]]:
    if not gauges:
        return ()
    outcomes = yield [gauge.read for gauge in gauges]
    values: list[int] = []
    for gauge, outcome in zip(gauges, outcomes, strict=True):
        if not outcome.ok or not isinstance(outcome.values[gauge.index], int):
            raise ContractOutputUnexpected(f"{gauge.to} does not tell {gauge.name}", address=gauge.to)
        values.append(int(outcome.values[gauge.index]))
    return tuple(values)


def read_outcome(read: ReadCall, *, succeeded: bool, output: bytes) -> ReadOutcome:
    """What one read of a simulated state told; what cannot be decoded is no answer."""
    if not succeeded:
        return ReadOutcome(False, (), "the read reverted")
    try:
        return ReadOutcome(True, decode_output(read.signature, output))
    except AbiDecodeError:
        return ReadOutcome(False, (), "the contract answered something else", is_absent=not output)


@dataclass(slots=True)
class Conversation:
    """One moment's questions, step by step."""

    reads: Reads[Told]
    wanted: Sequence[ReadCall] = ()
    told: Told | None = None
    steps: int = 0

    def go_on(self, outcomes: Sequence[ReadOutcome] | None = None) -> None:
        """Begin, or take the answers to `wanted`. Raises PositionsUnreadable for one that never ends."""
        self.steps += 1
        # The first step answers nothing.
        if self.steps > MOST_BATCHES + 1:
            raise PositionsUnreadable(f"positions were not told within {MOST_BATCHES} batches of reads")
        try:
            self.wanted = next(self.reads) if outcomes is None else self.reads.send(outcomes)
        except StopIteration as ended:
            self.wanted, self.told = (), ended.value


def begin(request: SimulationRequest) -> Conversation:
    """The first step of one moment's questions."""
    conversation = Conversation(ask(request))
    conversation.go_on()
    return conversation


def with_told(result: SimulationResult, request: SimulationRequest, before: Told, after: Told) -> SimulationResult:
    """The result with what both moments told; as it is where nothing was asked."""
    if request.positions is None and not request.gauges:
        return result
    return replace(
        result,
        positions_before=before[0],
        positions_after=after[0],
        gauges_before=before[1],
        gauges_after=after[1],
    )

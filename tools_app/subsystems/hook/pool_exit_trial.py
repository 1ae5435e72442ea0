"""Tries the ways out of a pool, back in and out again, as somebody who is in it, in a simulation that nobody sends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.core.clock import Deadline
from tools_app.core.ratio import shortfall_bps
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.hooked_pools import Holder
from tools_app.toolkit.plan import Call


@dataclass(frozen=True, slots=True)
class WayTried:
    """Whether it goes, and how much is lost of what the pool's price alone says, in basis points of the token that
    loses more; `reason` says why it does not go, or was not tried.
    """

    succeeds: bool | None
    taken_bps: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class WaysTried:
    """Out with all of a position, in again with half of it, and out of that."""

    leaving: WayTried
    entering: WayTried
    leaving_again: WayTried


def not_tried(reason: str) -> WaysTried:
    """None of the three, and why."""
    one = WayTried(None, None, reason)
    return WaysTried(one, one, one)


def try_ways(reader: ChainReader, holder: Holder, *, deadline: Deadline) -> WaysTried:
    """The three, each after those before it. Raises SimulationUnavailable, SimulationTimeout."""
    runs = [
        _run(reader, holder, calls, deadline)
        for calls in (
            holder.out,
            (*holder.out, *holder.back_in),
            (*holder.out, *holder.back_in, *holder.out_again),
        )
    ]
    first, second, third = (_gains(run, holder) for run in runs)
    leaving = _judge(runs[0], holder.amounts, first)
    if not runs[0].succeeded:
        after = WayTried(None, None, "who is in it does not get out")
        return WaysTried(leaving, after, after)
    spent = (first[0] - second[0], first[1] - second[1])
    entering = _judge(runs[1], spent, holder.enters)
    if not runs[1].succeeded:
        return WaysTried(leaving, entering, WayTried(None, None, "nobody gets in"))
    again = (third[0] - second[0], third[1] - second[1])
    return WaysTried(leaving, entering, _judge(runs[2], tuple(max(0, each - 3) for each in spent), again))


def _run(reader: ChainReader, holder: Holder, calls: Sequence[Call], deadline: Deadline) -> SimulationResult:
    request = SimulationRequest(
        chain_id=reader.chain_id,
        sender=holder.account,
        calls=tuple(calls),
        watch=tuple((holder.account, token) for token in holder.tokens),
        block=reader.block,
    )
    return run_simulation(request, deadline=deadline)


def _gains(run: SimulationResult, holder: Holder) -> tuple[int, int]:
    first, second = (run.deltas.get(token, 0) for token in holder.tokens)
    return first, second


def _judge(run: SimulationResult, ideal: Sequence[int], actual: Sequence[int]) -> WayTried:
    """How much less `actual` is than `ideal`."""
    if not run.succeeded:
        failed = next((each for each in run.calls if not each.succeeded), None)
        return WayTried(False, None, (failed.revert_reason if failed is not None else None) or "it reverts")
    lost = [
        shortfall_bps(ideal=wanted, actual=max(0, found))
        for wanted, found in zip(ideal, actual, strict=True)
        if wanted > 0
    ]
    return WayTried(True, max(lost, default=0), None)

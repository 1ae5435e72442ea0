"""Two engines on the same calls: what they agree on is worth a permit, what they do not agree on is refused.

The engines share no code that runs contracts: one is the node's, one is ours. Gas may differ within a tolerance,
because a chain's newest rules may price an opcode anew before py-evm does; everything else must be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.json_types import JsonObject
from tools_app.simulation.engine import CallOutcome, SimulationEngine, SimulationRequest, SimulationResult
from tools_app.toolkit.views import BlockRef

GAS_TOLERANCE_BPS: Final = 200
"""As much as a receipt may differ from its prediction before that counts as a divergence."""
_BPS: Final = 10_000


class SimulationDisagrees(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="Two engines disagree about what the action does"
):
    """Two engines ran the same calls and saw different things; at least one is wrong, so nothing is permitted.

    `data.differences` names what differs, `first` and `second` hold both results whole.
    """

    def __init__(self, differences: tuple[Difference, ...], first: SimulationResult, second: SimulationResult) -> None:
        listed = "; ".join(f"{d.what}: {first.engine} {d.first}, {second.engine} {d.second}" for d in differences[:3])
        super().__init__(
            f"{first.engine} and {second.engine} disagree on {len(differences)} points: {listed}",
            engines=[first.engine, second.engine],
            differences=[difference.as_dict() for difference in differences],
        )
        self.first, self.second = first, second

    def as_event(self) -> JsonObject:
        """The payload of the event an owner sees: the differences and both results."""
        return {**self.data, "results": [self.first.as_dict(), self.second.as_dict()]}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing two engines see differently. Values as text."""

    what: str
    first: str
    second: str

    def as_dict(self) -> dict[str, str]:
        """JSON-ready."""
        return {"what": self.what, "first": self.first, "second": self.second}


def run_both(
    request: SimulationRequest,
    *,
    first: SimulationEngine,
    second: SimulationEngine,
    deadline: Deadline,
    forget: Callable[[BlockRef], None] = lambda block: None,
) -> SimulationResult:
    """The first engine's result with what only the second knows, once both agree.

    Both run on the same block: without one in the request, on the block the first engine chose. Where they disagree
    both run once more on it, after `forget` let go of what is held of its state: a node that mines while it answers
    for its newest block may answer from the next one's. Raises SimulationDisagrees, and what either engine raises.
    """
    one = first.run(request, deadline=deadline)
    same = replace(request, block=one.block)
    two = second.run(same, deadline=deadline)
    if find_differences(one, two):
        forget(one.block)
        one, two = first.run(same, deadline=deadline), second.run(same, deadline=deadline)
    differences = find_differences(one, two)
    if differences:
        raise SimulationDisagrees(differences, one, two)
    calls = tuple(
        replace(a, gas_before_refunds=b.gas_before_refunds if a.gas_before_refunds is None else a.gas_before_refunds)
        for a, b in zip(one.calls, two.calls, strict=True)
    )
    return replace(
        one,
        engine=f"{one.engine}+{two.engine}",
        fidelity=f"two engines agree. {one.fidelity}. {two.fidelity}",
        calls=calls,
        state_diff=one.state_diff or two.state_diff,
        ran=one.ran or two.ran,
    )


def find_differences(first: SimulationResult, second: SimulationResult) -> tuple[Difference, ...]:
    """What two results of the same request see differently; empty when they agree."""
    found: list[Difference] = []

    def compare(what: str, one: object, two: object) -> None:
        if one != two:
            found.append(Difference(what, str(one), str(two)))

    compare("block", first.block.hash, second.block.hash)
    compare("number of calls", len(first.calls), len(second.calls))
    for index, (one, two) in enumerate(zip(first.calls, second.calls, strict=False), start=1):
        compare(f"call {index} succeeded", one.succeeded, two.succeeded)
        compare(f"call {index} output", "0x" + one.output.hex(), "0x" + two.output.hex())
        compare(f"call {index} logs", _logs_of(one), _logs_of(two))
        if not is_gas_close(one.gas_used, two.gas_used):
            compare(f"call {index} gas", one.gas_used, two.gas_used)
    for what in ("balances_before", "balances_after", "allowances_before", "allowances_after"):
        one_values, two_values = getattr(first, what), getattr(second, what)
        for key in sorted({*one_values, *two_values}):
            compare(f"{what.replace('_', ' ')} of {'/'.join(key)}", one_values.get(key), two_values.get(key))
    # Where calls fail, which was compared, not every engine goes on to ask what is held.
    if first.succeeded and second.succeeded:
        compare("positions before", first.positions_before, second.positions_before)
        compare("positions after", first.positions_after, second.positions_after)
        compare("gauges", (first.gauges_before, first.gauges_after), (second.gauges_before, second.gauges_after))
    return tuple(found)


def is_gas_close(one: int, two: int) -> bool:
    """Whether two gas figures differ by no more than the tolerance of the larger."""
    return abs(one - two) * _BPS <= max(one, two) * GAS_TOLERANCE_BPS


def _logs_of(call: CallOutcome) -> list[tuple[str, tuple[str, ...], str]]:
    return [(log.address, log.topics, log.data) for log in call.logs]

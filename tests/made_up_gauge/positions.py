"""What an account has at the gauge: what it put in, a reward and points that never count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import Act, ExitStep, Leg, Position, PositionRef, PositionsUnreadable, Reads
from tools_app.toolkit.valuation_rules import Uncounted
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED

NAME = "made_up_gauge"
STAKED = "function staked(address) view returns (uint256)"
EARNED = "function earned(address) view returns (uint256)"


class GaugePositions:
    """One batch."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """The one position, while something is in it or earned."""
        at = DEPLOYED[chain_id]
        told = yield [ReadCall(at["gauge"], each, (account,)) for each in (STAKED, EARNED)]
        if not all(each.ok for each in told):
            raise PositionsUnreadable("the gauge does not answer")
        staked, earned = (int(each.values[0]) for each in told)
        if not staked and not earned:
            return ()
        return (
            Position(
                ref=PositionRef(NAME, "stake", chain_id, account),
                label="At the gauge",
                legs=(Leg(at["token"], staked),) if staked else (),
                uncounted=(
                    Uncounted(at["reward"], earned, "RWD", 18, "reward"),
                    Uncounted(at["gauge"], 3 * earned, "points", 18, "points"),
                ),
            ),
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Nothing that the gauge itself does not tell."""
        return ()


class GaugeExits:
    """What was put in comes out. A reward that nobody prices keeps nobody in."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step."""
        staked = sum(leg.raw for leg in position.legs)
        return Act("gauge_withdraw", {"amount": str(staked)}, "it is taken out") if staked else None

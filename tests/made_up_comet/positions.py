"""What an account has at the comet, and how it gets out: the debt first, then the deposit, then what covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import (
    ACCOUNT,
    Act,
    ExitStep,
    Leg,
    NeedsTrade,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
)
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED

NAME = "made_up_comet"
PRINCIPAL = "function principal(address) view returns (int256)"
PLEDGED = "function pledged(address) view returns (uint256)"
HEALTH = "function health(address) view returns (uint256)"
COVER_BPS = 8_000

CARELESS: dict[str, int] = {}
"""An author who leaves with amounts where the largest number would do, or takes out more than there is."""


class CometPositions:
    """One account: what is deposited or owed of the base asset, and what covers it."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """One batch."""
        at = DEPLOYED[chain_id]
        told = yield [ReadCall(at["comet"], each, (account,)) for each in (PRINCIPAL, PLEDGED, HEALTH)]
        if not all(each.ok for each in told):
            raise PositionsUnreadable("the comet does not answer")
        principal, pledged, health = (each.values[0] for each in told)
        if not principal and not pledged:
            return ()
        legs = (Leg(at["base"], principal), Leg(at["cover"], pledged, cover_bps=COVER_BPS))
        return (
            Position(
                ref=PositionRef(NAME, ACCOUNT, chain_id, account),
                label="Account at the comet",
                legs=tuple(leg for leg in legs if leg.raw),
                health_bps=min(health, 10**9) if principal < 0 else None,
            ),
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Nothing that the account itself does not tell."""
        return ()


class CometExits:
    """Repay, take out the deposit, take out the cover."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """The debt first."""
        at = DEPLOYED[position.ref.chain_id]
        base, pledged = position.raw_of(at["base"]), position.raw_of(at["cover"])
        if base < 0:
            missing = -base - held.get(at["base"], 0)
            if missing > 0:
                return NeedsTrade(at["base"], missing, "the debt is repaid first")
            return Act("comet_repay", {"amount": str(-base)}, "the debt is repaid first")
        if base > 0 or CARELESS.get("takes_out"):
            return Act("comet_withdraw", {"amount": str(CARELESS.get("takes_out") or base)}, "the deposit is taken out")
        return Act("comet_release", {"amount": str(pledged)}, "nothing is owed") if pledged else None

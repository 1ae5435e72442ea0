"""`phase`: an owner's reset to a better phase. Where a contract holds the phase, the owners reset it there.

It holds here once the contract's delay is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from archetypes_app.actions.change_phase import reset_phase
from archetypes_app.models import Golem
from archetypes_app.phases import is_worse
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.cage_rules_text import PHASES
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, SeenSafe
from permits_app.approvals.operations.cage import draft_safe_tx, find_mirror, observe_safe
from permits_app.halts.deaths import end_open_death
from permits_app.models import CageMirror
from permits_app.policy_cage.contract import Limit, encode_propose, limit_rule
from permits_app.policy_cage.state import CageState
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.toolkit.enums import Phase, RiskTier


@dataclass(frozen=True, slots=True)
class _PhaseArguments:
    """The phase to reset to, and the Safe where the contract has to be told."""

    to: str
    seen: SeenSafe | None = None


@dataclass(frozen=True, slots=True)
class _PhaseChange:
    """What was asked for, as its request keeps it; `contract` None where no contract is told."""

    was: Annotated[str, Field(alias="from")]
    to: str
    contract: str | None = None


class ResetPhase:
    """`arguments`: `to`, a phase."""

    name = "phase"

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """The Safe, when the contract behind the cage holds a worse phase than the one asked for."""
        if _find_worse_contract(golem, Phase(read_stored(_PhaseArguments, arguments).to)) is None:
            return dict(arguments)
        return {**arguments, "seen": write_stored(observe_safe(golem, now=now))}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the phase it is in to the one asked for."""
        asked = read_stored(_PhaseArguments, arguments)
        to, seen = Phase(asked.to), asked.seen
        if to.value == golem.phase:
            raise ChangeUnchanged(f"the golem is {golem.phase.lower()} already")
        change: dict[str, object] = {"from": golem.phase, "to": to.value}
        title = f"Reset the phase to {to.value.lower()}"
        mirror = _find_worse_contract(golem, to) if seen is not None else None
        if mirror is None or seen is None:
            line = BeforeAndAfter("Phase", golem.phase.lower(), to.value.lower(), "an owner's reset")
            return Proposal(title, change, (line,), RiskTier.HIGH)
        wait = "loosens; the contract lets it wait 2 d, then it holds here too"
        line = BeforeAndAfter("Phase on chain", golem.phase.lower(), to.value.lower(), wait)
        data = encode_propose([limit_rule(Limit.PHASE, PHASES.index(to))])
        return Proposal(
            title,
            {**change, "contract": mirror.contract},
            (line,),
            RiskTier.CRITICAL,
            safe_tx=draft_safe_tx(seen, to=mirror.contract, data=data),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It is still in the phase it was in."""
        if golem.phase != read_stored(_PhaseChange, change).was:
            raise ChangeStale(f"the golem is {golem.phase.lower()} now")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Reset it, with the reason it was asked for; on chain it is proposed now, and applied when it is due."""
        kept = read_stored(_PhaseChange, change)
        if kept.contract is not None:
            return {"phase": golem.phase, "proposed": kept.to}
        reset_phase(golem=golem, to=Phase(kept.to), reason=reason, actor=actor, now=now)
        end_open_death(golem_id=golem.pk, reason=f"its owner reset its phase: {reason}", actor=actor, now=now)
        return {"phase": kept.to}


def _find_worse_contract(golem: Golem, to: Phase) -> CageMirror | None:
    """The contract that would have to be told of a better phase; None without one, or when it allows it already."""
    mirror = find_mirror(golem)
    if mirror is None or not mirror.is_enforced:
        return None
    held = PHASES[CageState.from_dict(mirror.state).limit(Limit.PHASE)]
    return mirror if is_worse(held, to) else None

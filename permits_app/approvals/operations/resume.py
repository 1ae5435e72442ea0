"""`resume`: let a halted golem act again; a second factor always, a second owner where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, SeenSafe
from permits_app.approvals.operations.cage import draft_safe_tx, find_mirror, observe_safe
from permits_app.custody.exposed_safe_checks import check_not_known_open
from permits_app.halts.resume import resume_golem
from permits_app.models import CageMirror
from permits_app.policy_cage.contract import encode_resume
from permits_app.policy_cage.state import CageState
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.toolkit.enums import RiskTier

RESUME: Final = "resume"


@dataclass(frozen=True, slots=True)
class _ResumeArguments:
    """Whether its heartbeat acts again at once, and the Safe where the contract is halted too."""

    live: bool | None = None
    seen: SeenSafe | None = None


@dataclass(frozen=True, slots=True)
class _ResumeChange:
    """What was asked for, as its request keeps it: the halt it ends."""

    halt_epoch: str
    live: bool = False


def say_over(golem: Golem, change: Mapping[str, object]) -> str:
    """Why `change` ends no halt any more, and what comes next; empty while it still is the halt it was asked for."""
    if golem.retired_at is not None or not golem.is_halted:
        return "this halt is over"
    if str(golem.halt_epoch) == read_stored(_ResumeChange, change).halt_epoch:
        return ""
    return (
        f"the golem was halted again since: {golem.halt_reason or 'no reason given'}. Find out why, then make a new"
        " request to resume it; an API key that halts it again and again is revoked first"
    )


class ResumeGolem:
    """`arguments`: `live`, whether its heartbeat acts again at once; else it rehearses until its owners set it live.

    Bound to the halt it ends: a later halt is not ended by an older request.
    """

    name = RESUME

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """The Safe, when the contract behind the cage is halted too."""
        return (
            {**arguments, "seen": write_stored(observe_safe(golem, now=now))}
            if _find_halted(golem)
            else dict(arguments)
        )

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From halted to acting."""
        if not golem.is_halted:
            raise ChangeUnchanged("the golem is not halted")
        if golem.retired_at is not None:
            raise ChangeUnchanged("the golem is retired; bring it back first")
        line = BeforeAndAfter(
            "State",
            f"halted: {golem.halt_reason or 'no reason given'}",
            "its agents act again",
            "its keys get back what the halt took",
        )
        asked = read_stored(_ResumeArguments, arguments)
        is_live = bool(asked.live) and golem.is_live
        if is_live:
            check_not_known_open(golem)
        lines = [line]
        if golem.is_live:
            after = "live: it acts at once" if is_live else "rehearses until you set it live"
            lines.append(BeforeAndAfter("Heartbeat", "live, stopped by the halt", after, "loosens" if is_live else ""))
        change: dict[str, object] = {"halt_epoch": str(golem.halt_epoch), "live": is_live}
        stake = read_stake(golem)
        mirror = _find_halted(golem) if asked.seen is not None else None
        if mirror is None or asked.seen is None:
            title = "Let it act again after the stop, live" if is_live else "Let it act again after the stop"
            return Proposal(title, change, tuple(lines), RiskTier.CRITICAL, value_micro_usd=stake)
        chain = BeforeAndAfter("The cage on chain", "halted: no batch runs", "lets the session key act", "loosens")
        return Proposal(
            "Let it act again after the stop, on chain too",
            {**change, "contract": mirror.contract},
            (*lines, chain),
            RiskTier.CRITICAL,
            value_micro_usd=stake,
            safe_tx=draft_safe_tx(asked.seen, to=mirror.contract, data=encode_resume()),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It is the same halt."""
        over = say_over(golem, change)
        if over:
            raise ChangeStale(over)

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Resume it, unless it was halted again while its Safe carried this out on chain."""
        over, kept = say_over(golem, change), read_stored(_ResumeChange, change)
        if over:
            return {"halt_epoch": kept.halt_epoch, "not_resumed": over}
        resume_golem(golem=golem, reason=reason, actor=actor, now=now, stays_live=kept.live)
        return {"halt_epoch": kept.halt_epoch, "live": kept.live}


def _find_halted(golem: Golem) -> CageMirror | None:
    """The contract that is halted, None when it is not or there is none."""
    mirror = find_mirror(golem)
    is_halted = mirror is not None and mirror.is_enforced and CageState.from_dict(mirror.state).is_halted
    return mirror if is_halted else None

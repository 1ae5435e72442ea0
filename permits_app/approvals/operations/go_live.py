"""`live`: let a golem's heartbeat act with its money instead of rehearsing. Going back to rehearsal needs nobody."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from archetypes_app.models import CodingWorkspace, Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged, SafeStandsOpen
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.custody.exposed_safe_checks import check_closed_now, check_not_known_open
from permits_app.models import PolicyCage, SpendingLimits
from tools_app.core import audit_log
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import format_bps, format_usd


class GoLive:
    """No arguments. What may be lost in a day is part of what owners are shown, and so of what they approve.

    A golem whose Safe stands open to strangers does not go live.
    """

    name = "live"

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """Nothing is added. Raises SafeStandsOpen, and what a node raises."""
        check_closed_now(golem, now=now)
        return dict(arguments)

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From rehearsing to acting. Raises ChangeUnchanged, SafeStandsOpen."""
        if golem.is_live:
            raise ChangeUnchanged("its heartbeat is live already")
        check_not_known_open(golem)
        limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
        cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
        held = read_stake(golem)
        day = limits.per_day_micro_usd
        lines = (
            BeforeAndAfter(
                "Heartbeat", "rehearses: nothing is signed", "acts: it signs and spends by itself", "loosens"
            ),
            BeforeAndAfter(
                "Agent keys",
                "may spend" if golem.may_keys_spend else "preview only",
                "as before",
                "a switch of its own; both share these limits",
            ),
            BeforeAndAfter("Its heartbeat spends in 24 h, at most", "nothing", format_usd(day)),
            BeforeAndAfter(
                "Its heartbeat spends in one transaction, at most",
                "nothing",
                format_usd(limits.per_transaction_micro_usd),
            ),
            BeforeAndAfter("Slippage of one trade, at most", "none", format_bps(limits.max_slippage_bps)),
            BeforeAndAfter(
                "Drawdown within 24 h that stops it", "none", format_bps(cage.max_drawdown_bps), "of all it holds"
            ),
            BeforeAndAfter("It holds", "", format_usd(held) if held else "not measured yet"),
            *_tell_coding(golem),
        )
        return Proposal(
            "Let the heartbeat act",
            {"is_live": True},
            lines,
            RiskTier.HIGH,
            value_micro_usd=min(day, held) if held else day,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It still rehearses, is not halted, and no Safe of it was found open."""
        if golem.is_live:
            raise ChangeStale("its heartbeat is live already")
        if golem.is_halted:
            raise ChangeStale("it is halted; resume it first")
        try:
            check_not_known_open(golem)
        except SafeStandsOpen as error:
            raise ChangeStale(error.detail) from error

    def check_chain(self, golem: Golem, change: Mapping[str, object], *, now: datetime) -> None:
        """Right before it is set live. Raises SafeStandsOpen, and what a node raises."""
        check_closed_now(golem, now=now)

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Set it live; appends LiveSet."""
        set_live(golem=golem, is_live=True, actor=actor, reason=reason, now=now)
        return {"is_live": True}


def _tell_coding(golem: Golem) -> list[BeforeAndAfter]:
    """How it codes, where its owner set that: it may have been loosened while it rehearsed."""
    workspace = CodingWorkspace.objects.filter(golem=golem).first()
    if workspace is None:
        return []
    network = ", with the network" if workspace.allows_network else ""
    words = f"on {workspace.where}{network}"
    return [BeforeAndAfter("Of its coding waits for an owner", "", workspace.get_needs_owner_display(), words)]


def set_live(*, golem: Golem, is_live: bool, actor: str, reason: str, now: datetime) -> None:
    """Write it down; joins the caller's transaction."""
    Golem.objects.filter(pk=golem.pk).update(is_live=is_live)
    facts = {"is_live": is_live, "reason": reason}
    audit_log.append(golem_id=golem.pk, event="LiveSet", actor=actor, data=facts, now=now)

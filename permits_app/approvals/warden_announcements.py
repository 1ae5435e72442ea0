"""A golem's Warden: whether it is on, how long it makes a tier wait, and whether an announcement has run out."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.approval_errors import ActionAnnounced
from permits_app.approvals.approval_rules import WARDEN_DELAY_SECONDS
from permits_app.models import ActionPermit, Announcement, ChangeRequest, Warden
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.models.warden import AnnouncementState
from tools_app.core.compiled_query import CompiledStatement
from tools_app.toolkit.enums import LEAVING, RiskTier

OWNERS_TAKE_SECONDS: Final = 30
"""When to look again while people decide."""


_IS_ON = CompiledStatement(
    lambda golem_id: Warden.objects.filter(golem=golem_id, is_on=True).values_list("pk"), UUID(int=0)
)


def is_warden_on(golem: Golem) -> bool:
    """Whether actions of `golem` are announced before they are executed."""
    return bool(_IS_ON.fetch(golem.pk))


def delay_of(permit: ActionPermit) -> int:
    """Seconds a permit is announced with the Warden on. None for a halt's own, and for what sends nothing and only ends
    something. That is the circuit breaker: until it is done the golem goes on.
    """
    is_never_announced = permit.halt_epoch is not None or (permit.is_local and permit.action_class in LEAVING)
    return 0 if is_never_announced else WARDEN_DELAY_SECONDS[RiskTier(permit.risk_tier)]


def wait_of(*, golem: Golem, permit: ActionPermit) -> int:
    """The same; 0 with the Warden off."""
    return delay_of(permit) if is_warden_on(golem) else 0


def expected_wait_of(*, golem: Golem, tier: RiskTier) -> int:
    """Seconds of a tier by the row that was loaded with `golem`: what a preview tells; a commit asks the database."""
    return WARDEN_DELAY_SECONDS[tier] if expects_warden(golem) else 0


def expects_warden(golem: Golem) -> bool:
    """Whether the Warden was on when `golem` was loaded. `check_announced` asks the database before anything starts."""
    row = getattr(golem, "warden", None)
    return row is not None and bool(row.is_on)


def check_announced(permit: ActionPermit) -> None:
    """Raises ActionAnnounced when the Warden is on and this permit's delay is not over. One query with it off."""
    if not wait_of(golem=permit.golem, permit=permit):
        return
    if not Announcement.objects.filter(permit=permit, state=AnnouncementState.EXECUTED).exists():
        raise ActionAnnounced(
            "this golem's actions are announced first; the commit has to be asked for, not started",
            permit_id=str(permit.pk),
        )


def tell_wait(permit: ActionPermit) -> dict[str, object]:
    """What ends the wait of an announced or asked-for permit, and when where time does."""
    if permit.status == PermitStatus.ANNOUNCED:
        due = Announcement.objects.filter(permit=permit).values_list("executes_at", flat=True).first()
        return {"cleared_by": "its delay ends", "resets_at": due.isoformat() if due else None}
    asked = ChangeRequest.objects.filter(permit=permit, state=ChangeState.OPEN)
    deadline = asked.values_list("deadline_at", flat=True).first()
    return {
        "cleared_by": "its owners decide; what nobody decides in time is rejected",
        "decide_by": deadline.isoformat() if deadline else None,
        "retry_after_seconds": OWNERS_TAKE_SECONDS,
    }

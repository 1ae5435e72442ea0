"""A golem's Warden: whether it is on, how long it makes a tier wait, and whether an announcement has run out."""

from __future__ import annotations

from archetypes_app.models import Golem
from permits_app.approvals.errors import ActionAnnounced
from permits_app.approvals.rules import WARDEN_DELAY_SECONDS
from permits_app.models import ActionPermit, Announcement, Warden
from permits_app.models.warden import AnnouncementState
from tools_app.toolkit.enums import RiskTier


def is_warden_on(golem: Golem) -> bool:
    """Whether actions of `golem` are announced before they are executed."""
    return Warden.objects.filter(golem=golem, is_on=True).exists()


def wait_of(*, golem: Golem, tier: RiskTier) -> int:
    """Seconds an action of `tier` is announced; 0 with the Warden off."""
    return WARDEN_DELAY_SECONDS[tier] if is_warden_on(golem) else 0


def expected_wait_of(*, golem: Golem, tier: RiskTier) -> int:
    """The same from the row that was loaded with `golem`: what a preview tells; a commit asks the database."""
    row = getattr(golem, "warden", None)
    return WARDEN_DELAY_SECONDS[tier] if row is not None and row.is_on else 0


def check_announced(permit: ActionPermit) -> None:
    """Raises ActionAnnounced when the Warden is on and this permit's delay is not over. One query with it off."""
    if not is_warden_on(permit.golem):
        return
    if not WARDEN_DELAY_SECONDS[RiskTier(permit.risk_tier)] or permit.halt_epoch is not None:
        return
    if not Announcement.objects.filter(permit=permit, state=AnnouncementState.EXECUTED).exists():
        raise ActionAnnounced(
            "this golem's actions are announced first; the commit has to be asked for, not started",
            permit_id=str(permit.pk),
        )

"""Moves the trust in a venue by outcomes: a divergence takes it away, clean outcomes give it back.

Appends VenueTrustLowered and VenueTrustRestored; emits policy:cage_updated. Only amounts count: gas also moves with a
block's time.
"""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from permits_app.models import ActionPermit, VenueTrust
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.prepared_statements import Prepared
from tools_app.simulation.differential import GAS_TOLERANCE_BPS

DIVERGENCE_TOLERANCE_BPS = GAS_TOLERANCE_BPS
"""Beyond this an outcome counts as another than was simulated."""


def note_outcome(
    *, permit: ActionPermit, succeeded: bool, is_verified: bool, divergence_bps: int, is_first: bool, now: datetime
) -> None:
    """Lower or rebuild the trust of `permit`'s golem in its venue; joins the caller's transaction.

    A transaction that reverted says nothing about amounts and changes nothing. One permit counts as clean once:
    `is_first` is off for what is judged anew after a rollback.
    """
    if not succeeded:
        return
    if divergence_bps > DIVERGENCE_TOLERANCE_BPS:
        _lower(permit, divergence_bps, now)
    elif is_verified and is_first:
        _count_clean(permit, now)


_COUNT_CLEAN = Prepared(
    "count_clean",
    f"""
UPDATE {VenueTrust._meta.db_table} SET clean_outcomes = clean_outcomes + 1, updated_at = %(now)s
 WHERE golem_id = %(golem)s AND chain_id = %(chain)s AND venue = %(venue)s AND is_low
RETURNING id, clean_outcomes""",  # noqa: S608  (the table's own name)
)


def restore(*, trust: VenueTrust, actor: str, reason: str, now: datetime) -> bool:
    """Trust the venue again; joins the caller's transaction. False when somebody else did meanwhile."""
    done = VenueTrust.objects.filter(pk=trust.pk, is_low=True).update(
        is_low=False, clean_outcomes=0, restored_at=now, restored_by=actor, restored_reason=reason, updated_at=now
    )
    if done:
        facts = {"venue": trust.venue, "chain_id": trust.chain_id, "reason": reason}
        _tell(trust, "VenueTrustRestored", actor, facts, now)
    return bool(done)


def _lower(permit: ActionPermit, divergence_bps: int, now: datetime) -> None:
    trust, _ = VenueTrust.objects.update_or_create(
        golem_id=permit.golem_id,
        chain_id=permit.chain_id,
        venue=permit.venue,
        defaults={
            "is_low": True,
            "lowered_at": now,
            "permit": permit,
            "divergence_bps": divergence_bps,
            "clean_outcomes": 0,
        },
    )
    facts = {
        "venue": trust.venue,
        "chain_id": trust.chain_id,
        "permit_id": str(permit.pk),
        "divergence_bps": divergence_bps,
    }
    _tell(trust, "VenueTrustLowered", "system:worker", facts, now)


def _count_clean(permit: ActionPermit, now: datetime) -> None:
    enough = settings.GOLEM_VENUE_TRUST_CLEAN_OUTCOMES
    counted = _COUNT_CLEAN.fetch(golem=permit.golem_id, chain=permit.chain_id, venue=permit.venue, now=now)
    for key, clean in counted:
        if clean < enough:
            continue
        trust = VenueTrust.objects.get(pk=key)
        restore(trust=trust, actor="system:worker", reason=f"{enough} outcomes as they were simulated", now=now)


def _tell(trust: VenueTrust, event: str, actor: str, facts: dict[str, object], now: datetime) -> None:
    audit_log.append(golem_id=trust.golem_id, event=event, actor=actor, data=facts, now=now)
    payload = {"row": "trust in a venue", "fields": ["is_low"]}
    event_bus.emit(golem_id=trust.golem_id, event=Event(EventType.POLICY_CAGE_UPDATED, payload), now=now)

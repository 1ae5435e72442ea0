"""A golem with its heartbeat on, ticked by hand with a clock of its own and without a queue."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from archetypes_app.models import DecisionCycleRecord, Golem, Heartbeat
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.tick_claims import TickClaim, claim_due
from permits_app.actions.commit import commit_permit
from tools_app.core import clock

RULE = {
    "token_a": "WETH",
    "token_b": "USDC",
    "fee_tier": 500,
    "half_width_bps": 300,
    "target_micro_usd": 800_000_000,
    "harvest_micro_usd": 500_000,
}


def turn_on(golem: Golem, *, is_live: bool = True, rule: dict[str, Any] | None = None, **columns: Any) -> Heartbeat:
    """Its clock, due since a second."""
    Golem.objects.filter(pk=golem.pk).update(is_live=is_live)
    golem.is_live = is_live
    return Heartbeat.objects.create(
        golem=golem,
        is_on=True,
        liquidity_rule=RULE if rule is None else rule,
        next_tick_at=columns.pop("next_tick_at", clock.now() - timedelta(seconds=1)),
        **columns,
    )


def claim_one(golem: Golem, *, now: datetime | None = None) -> TickClaim:
    """The claim of the golem's next tick."""
    claims = claim_due(
        now=now or clock.now(),
        limit=1_000,
        lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
        jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
    )
    return next(claim for claim in claims if claim.golem_id == golem.pk)


def make_due(golem: Golem) -> None:
    """As if its interval had passed."""
    Heartbeat.objects.filter(pk=golem.pk).update(next_tick_at=clock.now() - timedelta(milliseconds=1))


def work_here(permit_id: UUID, seconds: float) -> None:
    """The commit worker's share, in this process."""
    commit_permit(permit_id=permit_id)


def tick(golem: Golem) -> DecisionCycleRecord:
    """One whole tick, now."""
    make_due(golem)
    record = run_heartbeat_tick(claim=claim_one(golem), work=work_here)
    assert record is not None, "the tick did not run"
    return record

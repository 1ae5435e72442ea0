"""Celery entry points of the heartbeat: one look for due golems a second, one task per golem that is due."""

from __future__ import annotations

import logging
from uuid import UUID

from celery import shared_task
from django.conf import settings

from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.duties.regular_valuation import value_after_outcomes, value_unattended
from golem_project.heartbeat.duties.run import run_duties
from golem_project.heartbeat.tick_claims import TickClaim, claim_due
from tools_app.core import clock

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def claim_heartbeats_task(**_: object) -> int:
    """Claim golems that are due and give each to a worker. Two at once share them; one that dies leaves its leases."""
    claims = claim_due(
        now=clock.now(),
        limit=settings.GOLEM_HEARTBEAT_CLAIM_BATCH,
        lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
        jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
    )
    for claim in claims:
        # A claim that waited longer than its lease is void, and its golem was claimed again.
        tick_golem_task.apply_async(
            kwargs={"golem_id": str(claim.golem_id), "fence": claim.fence},
            expires=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
        )
    return len(claims)


@shared_task(ignore_result=True)
def tick_golem_task(*, golem_id: str, fence: int, **_: object) -> None:
    """One tick of one golem; delivered twice it runs once."""
    run_heartbeat_tick(claim=TickClaim(UUID(golem_id), fence))


@shared_task(ignore_result=True)
def run_duties_task(**_: object) -> dict[str, int]:
    """What is done beside the ticks: consolidation every 50, the monitor's alerts, quiet records past their time."""
    return run_duties(now=clock.now())


@shared_task(ignore_result=True)
def value_unattended_task(**_: object) -> int:
    """Golems that no tick looks at: what they are worth, how far that fell, and how much life is left in them."""
    return value_unattended(now=clock.now())


@shared_task(ignore_result=True)
def value_after_outcomes_task(**_: object) -> int:
    """Golems that acted since anything was held to their mark."""
    return value_after_outcomes(now=clock.now())

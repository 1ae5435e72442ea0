"""The record of a tick whose worker stopped: written by the tick that found it, so that no tick is without one."""

from __future__ import annotations

from datetime import datetime

from archetypes_app.models import DecisionCycleRecord, Golem, HeartbeatTick
from archetypes_app.models.tick import TickStatus


def record_abandoned(*, tick_id: int, golem: Golem, now: datetime) -> None:
    """Write it once."""
    tick = HeartbeatTick.objects.get(pk=tick_id)
    DecisionCycleRecord.objects.get_or_create(
        tick=tick,
        defaults={
            "golem": golem,
            "heartbeat_tick": tick.number,
            "decided_at": now,
            "is_live": golem.is_live,
            "gating_reason": "its worker stopped; actions it had begun are followed by later ticks",
            "outcome": {"status": str(TickStatus.ABANDONED)},
            "phase": golem.phase,
        },
    )

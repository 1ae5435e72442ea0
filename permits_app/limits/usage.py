"""Reads how much of its limits a golem has used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """Micro-USD reserved or settled per window, writes within the hour, and when each window frees its oldest part."""

    tick_micro_usd: int
    session_micro_usd: int
    day_micro_usd: int
    writes_last_hour: int
    day_resets_at: datetime | None = None
    hour_resets_at: datetime | None = None
    tick_resets_at: datetime | None = None
    """When the next heartbeat tick is due; None while the heartbeat is off."""
    session_resets_at: datetime | None = None
    """When a session of seven days frees its oldest part; None for a key's, and while nothing is used."""

"""What a tick leaves to the next one, as the heartbeat's row keeps it (`steps.reflect.remember`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class TickMemory:
    """What the tick before saw and decided; prices as the watched pool tells them, fees in wei, `waits` and `health`
    by their keys. A golem's first tick finds nothing.
    """

    has_locked: bool | None = None
    phase: str | None = None
    prices: tuple[int, ...] = ()
    base_fees: tuple[int, ...] = ()
    expected_price: int | None = None
    regime_before: str | None = None
    regime_seen_at: str | None = None
    total_micro_usd: int | None = None
    known_positions: Mapping[str, object] = field(default_factory=dict)
    pressure_ticks: int = 0
    mood: Mapping[str, object] = field(default_factory=dict)
    waits: Mapping[str, object] = field(default_factory=dict)
    health: Mapping[str, object] = field(default_factory=dict)
    unheard: tuple[JsonObject, ...] = ()
    failed_to_think: int | None = None
    failed_to_think_micro_usd: int | None = None


def read_memory(stored: Mapping[str, object]) -> TickMemory:
    """Read a heartbeat's state. Raises ValueError naming the member that is none of its type."""
    return read_stored(TickMemory, stored)

"""What waited in a tick and why, as its record keeps it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeldByMemory:
    """A wish that waits for a memory, with how sure the memory is in percent."""

    action_type: str
    text: str
    confidence_percent: int


@dataclass(frozen=True, slots=True)
class HeldByDoubt:
    """A wish to enter that waits, with why in words."""

    action_type: str
    words: str


@dataclass(frozen=True, slots=True)
class RecordedIntervention:
    """One intervention of a record; both are None where an owner or a rule spoke."""

    held_back: HeldByMemory | None = None
    doubted: HeldByDoubt | None = None

"""Pleasure, arousal, dominance: a golem's temper as three running averages. Pure, millionths from -1 to +1.

It decides nothing by itself; arousal lowers the gate's threshold, and the record shows all three before and after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

MILLION: Final = 1_000_000
_FULL_RANGE_BPS: Final = 500


@dataclass(frozen=True, slots=True)
class Mood:
    """Millionths from minus to plus one million."""

    pleasure: int = 0
    arousal: int = 0
    dominance: int = 0

    def as_dict(self) -> dict[str, int]:
        """For the record."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class MoodSigns:
    """What moves it: actions done and refused, the market's range, anomalies, and vitality in millionths."""

    executed: int = 0
    refused: int = 0
    range_bps: int = 0
    anomalies: int = 0
    vitality: int | None = None


def update_mood(mood: Mood, signs: MoodSigns) -> Mood:
    """A quarter of the way from `mood` to what `signs` alone would mean."""
    tried = signs.executed + signs.refused
    pleasure = (signs.executed - signs.refused) * MILLION // tried if tried else 0
    arousal = min(MILLION, signs.range_bps * MILLION // _FULL_RANGE_BPS + signs.anomalies * MILLION // 5)
    dominance = 0 if signs.vitality is None else 2 * signs.vitality - MILLION
    return Mood(_near(mood.pleasure, pleasure), _near(mood.arousal, arousal), _near(mood.dominance, dominance))


def read_mood(stored: Mapping[str, Any]) -> Mood:  # Any: JSON that a tick stored
    """The mood of a stored record; neutral where it is missing."""
    return Mood(*(_clip(int(stored.get(name, 0))) for name in ("pleasure", "arousal", "dominance")))


def _near(now: int, wanted: int) -> int:
    return _clip((3 * now + wanted) // 4)


def _clip(value: int) -> int:
    return max(-MILLION, min(MILLION, value))

"""The gate: how surprised a golem is, how much surprise it takes to think, and how hard. Pure, in millionths.

Everything is a share from 0 to one million; sums are capped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from archetypes_app.models.archetype import InferenceTier

MILLION: Final = 1_000_000
BASE_THRESHOLD: Final = 300_000
LEAST_HEALTH_DELTA: Final = 100_000
MOST_INTERVENTIONS: Final = 3
MOST_ANOMALIES: Final = 5
_OF_DIVERGENCE: Final = 300_000
_OF_REGIME: Final = 400_000
_OF_HEALTH: Final = 200_000
_OF_THREAT: Final = 150_000
_PER_INTERVENTION: Final = 100_000
_PER_ANOMALY: Final = 50_000


@dataclass(frozen=True, slots=True)
class Surprise:
    """What differs from what was expected. Shares in millionths; the rest are counts."""

    price_divergence: int = 0
    regime_changed: bool = False
    health_delta: int = 0
    threat: int = 0
    interventions: int = 0
    anomalies: int = 0


@dataclass(frozen=True, slots=True)
class Temper:
    """What raises or lowers the threshold. `confidence` is how often predictions came true; millionths all."""

    confidence: int = 0
    pressure: int = 0
    arousal: int = 0


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The tier with the two figures it came from, and why in words."""

    tier: InferenceTier
    prediction_error: int
    threshold: int
    reason: str


def measure_surprise(surprise: Surprise) -> int:
    """The prediction error, at most one million. A health delta counts only above a tenth."""
    health = surprise.health_delta if surprise.health_delta > LEAST_HEALTH_DELTA else 0
    weighed = (
        _OF_DIVERGENCE * _share(surprise.price_divergence)
        + _OF_REGIME * (MILLION if surprise.regime_changed else 0)
        + _OF_HEALTH * _share(health)
        + _OF_THREAT * _share(surprise.threat)
    ) // MILLION
    counted = _PER_INTERVENTION * max(0, min(MOST_INTERVENTIONS, surprise.interventions)) + _PER_ANOMALY * max(
        0, min(MOST_ANOMALIES, surprise.anomalies)
    )
    return min(MILLION, weighed + counted)


def compute_threshold(temper: Temper) -> int:
    """0.3 x (1 + .5 confidence) x (1 - .3 pressure) x (1 - .2 arousal), in millionths: between 168,000 and 450,000."""
    grown = BASE_THRESHOLD * (MILLION + _share(temper.confidence) // 2) // MILLION
    pressed = grown * (MILLION - _share(temper.pressure) * 3 // 10) // MILLION
    return pressed * (MILLION - _share(temper.arousal) * 2 // 10) // MILLION


def choose_tier(
    *, surprise: Surprise, temper: Temper, forced: tuple[str, ...] = (), due: tuple[str, ...] = ()
) -> GateVerdict:
    """T2 from twice the threshold or when forced; T1 from the threshold or for a due duty; else T0.

    `forced` are an owner's words and a change of phase; `due` are upkeep that waits, such as a harvest, and what became
    of an earlier action, such as an owner's no, which surprise nobody and would otherwise never be seen to.
    """
    error, threshold = measure_surprise(surprise), compute_threshold(temper)
    figures = f"it was off by {_show(error)} from what it expected, and thinks from {_show(threshold)} on"
    if forced:
        return GateVerdict(InferenceTier.T2, error, threshold, f"forced by {', '.join(forced)}; {figures}")
    if error >= 2 * threshold:
        return GateVerdict(InferenceTier.T2, error, threshold, f"a great surprise: {figures}")
    if error >= threshold:
        return GateVerdict(InferenceTier.T1, error, threshold, f"a surprise: {figures}")
    if due:
        return GateVerdict(InferenceTier.T1, error, threshold, f"due: {', '.join(due)}; {figures}")
    return GateVerdict(InferenceTier.T0, error, threshold, f"as expected: {figures}")


def _share(value: int) -> int:
    return max(0, min(MILLION, value))


def _show(value: int) -> str:
    return f"{value // MILLION}.{value % MILLION:06d}"[:5]

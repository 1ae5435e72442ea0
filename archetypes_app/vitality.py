"""Vitality: how much life a golem has left, in integer millionths, and the phase that follows from it. Pure.

Economic x epistemic x stochastic, each from 0 to one million. Rounded down, so that a doubt counts against the golem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from archetypes_app.phases import phase_of_vitality
from tools_app.toolkit.enums import Phase

MILLION: Final = 1_000_000
LEAST_PREDICTIONS: Final = 20
PREDICTION_WINDOW_TICKS: Final = 2_000
HAZARD_PER_TICK_MILLIONTHS: Final = 1
LEAST_RESERVE_MICRO_USD: Final = 300_000
RESERVE_BPS: Final = 200


@dataclass(frozen=True, slots=True)
class VitalitySigns:
    """What vitality is computed from. Amounts are micro-USD; predictions those of the last 2,000 ticks.

    `hazard_millionths` is what `add_hazard` accumulated over the golem's life.
    """

    balance_micro_usd: int
    starting_budget_micro_usd: int
    predictions: int = 0
    correct_predictions: int = 0
    hazard_millionths: int = 0


@dataclass(frozen=True, slots=True)
class Vitality:
    """The three factors and their product in millionths, and the phase the product stands for."""

    economic: int
    epistemic: int
    stochastic: int

    @property
    def value(self) -> int:
        """The product, rounded down."""
        return self.economic * self.epistemic * self.stochastic // (MILLION * MILLION)

    @property
    def phase(self) -> Phase:
        """The phase of this value alone, without regard to where the golem was before."""
        return phase_of_vitality(self.value)


def compute_vitality(signs: VitalitySigns) -> Vitality:
    """The vitality of `signs`. Raises ValueError for figures that cannot be."""
    if signs.predictions < 0 or not 0 <= signs.correct_predictions <= max(0, signs.predictions):
        raise ValueError("more predictions came true than were made")
    if signs.hazard_millionths < 0 or signs.starting_budget_micro_usd < 0:
        raise ValueError("neither hazard nor budget can be negative")
    return Vitality(
        economic=measure_economic(
            balance_micro_usd=signs.balance_micro_usd, starting_budget_micro_usd=signs.starting_budget_micro_usd
        ),
        epistemic=measure_epistemic(predictions=signs.predictions, correct=signs.correct_predictions),
        stochastic=max(0, MILLION - signs.hazard_millionths),
    )


def measure_economic(*, balance_micro_usd: int, starting_budget_micro_usd: int) -> int:
    """(balance - death reserve) / starting budget, between 0 and one million; without a budget there is no life."""
    if starting_budget_micro_usd <= 0:
        return 0
    left = balance_micro_usd - death_reserve(starting_budget_micro_usd)
    return max(0, min(MILLION, left * MILLION // starting_budget_micro_usd))


def measure_epistemic(*, predictions: int, correct: int) -> int:
    """Accuracy in millionths; one million until there are twenty predictions to judge."""
    return MILLION if predictions < LEAST_PREDICTIONS else correct * MILLION // predictions


def death_reserve(starting_budget_micro_usd: int) -> int:
    """What is kept to die in order: $0.30 or 2% of the starting budget, whichever is more. Micro-USD, rounded up."""
    return max(LEAST_RESERVE_MICRO_USD, -(-starting_budget_micro_usd * RESERVE_BPS // 10_000))


def add_hazard(*, accumulated_millionths: int, ticks: int) -> int:
    """Hazard after `ticks` more heartbeat ticks: 1e-6 a tick, one million in all."""
    if ticks < 0:
        raise ValueError("time and hazard do not run backwards")
    return min(MILLION, accumulated_millionths + ticks * HAZARD_PER_TICK_MILLIONTHS)

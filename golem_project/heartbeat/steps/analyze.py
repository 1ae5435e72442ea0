"""ANALYZE: what changed since the last look, in figures the gate weighs. Pure but for reading the clock's state."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from archetypes_app.models.tick import Regime
from archetypes_app.vitality import LEAST_PREDICTIONS, MILLION
from golem_project.heartbeat.cycle_state import Analysis, CycleState
from golem_project.heartbeat.gate_formulas import Surprise, Temper
from golem_project.heartbeat.mood import read_mood
from golem_project.heartbeat.refused_wish_backoff import REHEARSED
from golem_project.heartbeat.regime import WINDOW, detect_regime, is_gas_dear, range_bps
from golem_project.heartbeat.steps.wanted_actions import weigh_wishes
from tools_app.core.units import BPS

_FULL_PRESSURE_TICKS: Final = 3
_UNKNOWN_OUTCOME_THREAT: Final = MILLION // 2


def analyze(state: CycleState) -> None:
    """Regime, surprise, temper, and what is due."""
    before = state.begun.memory
    if state.golem.is_live:
        # What was only rehearsed was not refused; a golem that was just set live does it at once.
        state.waits = {key: wait for key, wait in state.waits.items() if wait.code != REHEARSED}
    state.mood = read_mood(before.mood)
    seen = state.observation
    prices = _append(list(before.prices), seen.price)
    fees = _append(list(before.base_fees), seen.block.base_fee if seen.block else None)
    regime = detect_regime(prices)
    health = _measure_health(state)
    weighed = weigh_wishes(state, regime=regime, range_bps=range_bps(prices))
    due = tuple(wish.key for wish in weighed.wishes if wish.key not in state.waiting)
    news = tuple(f"{each['action_type']} {str(each['state']).lower()}" for each in state.unheard)
    state.analysis = Analysis(
        regime=regime,
        range_bps=range_bps(prices),
        surprise=Surprise(
            price_divergence=_measure_divergence(before.expected_price, seen.price),
            regime_changed=regime is not Regime(state.begun.regime_before),
            health_delta=max(MILLION - health, _vitality_delta(state)),
            threat=_measure_threat(state, fees),
            interventions=len(state.steers) + len(due) + len(news),
            anomalies=len(state.anomalies),
        ),
        temper=Temper(
            confidence=_measure_confidence(state),
            pressure=_measure_pressure(before.pressure_ticks),
            arousal=max(0, state.mood.arousal),
        ),
        prices=tuple(prices),
        base_fees=tuple(fees),
        health=health,
        pressure_ticks=before.pressure_ticks + 1 if due else 0,
        wishes=weighed.wishes,
        held_back=weighed.held_back,
        entries_held=weighed.entries_held,
        due=due,
        news=news,
    )


def _measure_pressure(ticks: int) -> int:
    """Of something that was due in each of the last ticks: millionths, whole from the third on."""
    return MILLION * min(_FULL_PRESSURE_TICKS, ticks) // _FULL_PRESSURE_TICKS


def _measure_health(state: CycleState) -> int:
    """Share of the positions' worth that is in range; all of it when nothing is held."""
    held = [each for each in state.observation.positions if each.position.liquidity]
    if not held:
        return MILLION
    inside = sum(1 for each in held if each.position.is_in_range)
    worth = sum(each.micro_usd or 0 for each in held)
    if not worth:
        return MILLION * inside // len(held)
    return MILLION * sum(each.micro_usd or 0 for each in held if each.position.is_in_range) // worth


def _vitality_delta(state: CycleState) -> int:
    """How far vitality would move by the balance alone, against the last measured one."""
    last, now = state.begun.memory.total_micro_usd, state.observation.total_micro_usd
    if not last or now is None:
        return 0
    return min(MILLION, abs(now - last) * MILLION // last)


def _measure_divergence(expected: int | None, price: int | None) -> int:
    """The price against the expected one (the last), as a share of what counts as wholly different."""
    if not expected or price is None:
        return 0
    moved_bps = abs(price - expected) * BPS // expected
    return min(MILLION, moved_bps * MILLION // settings.GOLEM_HEARTBEAT_FULL_DIVERGENCE_BPS)


def _measure_threat(state: CycleState, base_fees: list[int]) -> int:
    if state.golem.is_halted or is_gas_dear(base_fees):
        return MILLION
    return _UNKNOWN_OUTCOME_THREAT if state.permits.unfinished else 0


def _measure_confidence(state: CycleState) -> int:
    facts = state.permits
    if facts.predictions < LEAST_PREDICTIONS:
        return 0
    return MILLION * facts.correct_predictions // facts.predictions


def _append(series: list[int], value: int | None) -> list[int]:
    return [*series, value][-WINDOW:] if value is not None else series[-WINDOW:]

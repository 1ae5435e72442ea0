"""How sure a heuristic is: its evidence fades by half in 45 days, and few outcomes that do not fit undo it."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_app.actions.consolidate import consolidate
from memory_app.heuristic_confidence import CONFIRMATION, HALF_LIFE, MOST_AGAINST, MOST_FOR, Belief, fade_factor
from memory_app.memory_adjustments import augment
from memory_app.models import Insight
from memory_app.models.insight import LARGEST_DEADLINE_FACTOR_BPS, LEAST_FACTOR_BPS, LEAST_PERCENT_TO_TUNE, Kind
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core.units import BPS

BELIEFS = st.builds(Belief, st.integers(0, MOST_FOR), st.integers(0, MOST_AGAINST))
AGES = st.timedeltas(timedelta(0), timedelta(days=3_000))
DAY = timedelta(days=1)


@given(belief=BELIEFS, outcomes=st.integers(1, 20))
def test_what_fits_makes_it_no_less_sure_and_what_does_not_no_more(belief: Belief, outcomes: int) -> None:
    assert 0 <= belief.contradicted(outcomes).percent <= belief.percent <= belief.confirmed().percent <= 100


@given(belief=BELIEFS, first=st.integers(1, 5), second=st.integers(1, 5))
def test_outcomes_count_the_same_told_at_once_or_one_by_one(belief: Belief, first: int, second: int) -> None:
    assert belief.contradicted(first).contradicted(second) == belief.contradicted(first + second)


@given(belief=BELIEFS, age=AGES, more=AGES)
def test_evidence_only_fades_and_halves_in_its_half_life(belief: Belief, age: timedelta, more: timedelta) -> None:
    faded = belief.faded(age)
    assert faded.supporting <= belief.supporting and faded.opposing <= belief.opposing
    later = belief.faded(age + more)
    assert later.supporting <= faded.supporting and later.opposing <= faded.opposing
    assert belief.faded(HALF_LIFE) == Belief(belief.supporting // 2, belief.opposing // 2)
    assert belief.faded(-age) == belief, "a clock that went back fades nothing"


@given(belief=BELIEFS)
def test_without_news_for_long_it_is_believed_as_what_nobody_has_seen(belief: Belief) -> None:
    assert belief.faded(timedelta(days=1_000)).percent == Belief().percent == 45 < LEAST_PERCENT_TO_TUNE


@given(cycles=st.integers(0, 500))
def test_three_outcomes_undo_what_any_number_of_cycles_had_built_up(cycles: int) -> None:
    belief = Belief()
    for _ in range(cycles):
        belief = belief.confirmed()
    assert belief.contradicted(3).percent < LEAST_PERCENT_TO_TUNE


@given(factor=st.integers(LEAST_FACTOR_BPS, LARGEST_DEADLINE_FACTOR_BPS), age=AGES, more=AGES)
def test_a_factor_only_ever_goes_back_to_what_is_asked_for(factor: int, age: timedelta, more: timedelta) -> None:
    faded, later = fade_factor(factor, age), fade_factor(factor, age + more)
    assert abs(later - BPS) <= abs(faded - BPS) <= abs(factor - BPS)
    assert (faded - BPS) * (factor - BPS) >= 0
    assert fade_factor(factor, timedelta(days=3_000)) == BPS


@given(percent=st.integers(0, 100))
def test_a_confidence_somebody_set_has_the_least_evidence_that_says_so(percent: int) -> None:
    found = Belief.from_percent(percent)
    if 11 <= percent <= 81:
        assert abs(found.percent - percent) <= 1
    else:
        assert (
            found in (Belief(supporting=MOST_FOR), Belief(opposing=MOST_AGAINST)) or abs(found.percent - percent) <= 1
        )


def test_the_first_cycle_makes_it_sixty_percent_sure() -> None:
    assert Belief().confirmed().percent == 60
    assert Belief.from_percent(60) == Belief(supporting=CONFIRMATION)


def live(golem: Any, count: int, *, reverted: bool = False, now: Any = NOW) -> None:
    """So many swaps that went as predicted, or slipped."""
    for _ in range(count):
        outcome: dict[str, Any] = {"amount_out": "5"}
        if reverted:
            outcome = {"status": "REVERTED", "revert_reason": "Too little received"}
        remember(
            golem,
            f"swap {uuid.uuid4()}",
            now=now,
            permit_id=uuid.uuid4(),
            prediction={"amount_out": "5"},
            outcome=outcome,
        )


def asked(golem: Any, *, now: Any) -> int:
    """What 50 bps of slippage come to after memory had its say."""
    params = {"token_in": "USDC", "token_out": "WETH", "slippage_bps": 50}
    found = augment(golem_id=golem.pk, tool_name="uniswap_execute_swap", params=params, now=now)
    return found.soft_params.slippage_bps or 50


def learn(golem: Any, cycles: int) -> Any:
    """So many cycles, five hours apart; the time of the last."""
    now = NOW
    for _ in range(cycles):
        now += timedelta(hours=5)
        live(golem, 5, now=now)
        consolidate(golem_id=golem.pk, now=now)
    return now


@pytest.mark.django_db
def test_a_learned_slippage_fades_and_is_gone_after_a_thousand_days() -> None:
    golem = make_golem()
    now = learn(golem, 8)
    at_once = asked(golem, now=now)
    assert at_once <= 25, "half of what was asked for"
    later = [asked(golem, now=now + days * DAY) for days in (20, 45, 90, 200, 1_000)]
    assert [at_once, *later] == sorted([at_once, *later])
    assert later[1] in (37, 38), "half of the way back after a half-life"
    assert later[-1] == later[-2] == 50


@pytest.mark.django_db
def test_what_its_owner_pinned_does_not_fade() -> None:
    golem = make_golem()
    now = learn(golem, 8)
    Insight.objects.filter(golem=golem, kind=Kind.HEURISTIC).update(is_pinned=True)
    assert asked(golem, now=now + 1_000 * DAY) == asked(golem, now=now)


@pytest.mark.django_db
def test_three_reverts_undo_it_without_waiting_for_the_next_cycle() -> None:
    golem = make_golem()
    now = learn(golem, 8) + timedelta(minutes=10)
    live(golem, 3, reverted=True, now=now)
    consolidate(golem_id=golem.pk, now=now)
    heuristic = Insight.objects.get(golem=golem, kind=Kind.HEURISTIC)
    assert heuristic.confidence_percent < LEAST_PERCENT_TO_TUNE
    assert asked(golem, now=now) == 50

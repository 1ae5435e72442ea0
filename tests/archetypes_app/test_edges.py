"""What archetypes and vitality decide by a number, just below, at and just above it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.archetype_toml import parse_archetype
from archetypes_app.errors import InvalidToml
from archetypes_app.vitality import MILLION, add_hazard, death_reserve, measure_economic, measure_epistemic
from tests import factories
from tools_app.core import clock

USD = 1_000_000


@pytest.mark.django_db
def test_a_token_that_nobody_sets_an_end_to_lives_ninety_days() -> None:
    golem, now = factories.make_golem(owner=factories.make_owner()), clock.now()
    made = create_api_key(golem=golem, scopes=["read"], label="agent", created_by=golem.owner, now=now)
    assert made.key.expires_at - now == timedelta(days=90)


@pytest.mark.parametrize(
    ("predictions", "correct", "epistemic"), [(19, 0, MILLION), (20, 0, 0), (20, 19, 950_000), (21, 21, MILLION)]
)
def test_predictions_count_from_the_twentieth_on(predictions: int, correct: int, epistemic: int) -> None:
    assert measure_epistemic(predictions=predictions, correct=correct) == epistemic


@pytest.mark.parametrize(
    ("budget", "reserve"), [(14 * USD, 300_000), (15 * USD, 300_000), (15 * USD + 1, 300_001), (15 * USD + 50, 300_001)]
)
def test_two_percent_are_kept_to_die_from_fifteen_dollars_on(budget: int, reserve: int) -> None:
    assert death_reserve(budget) == reserve


@pytest.mark.parametrize(
    ("balance", "economic"),
    [(2 * USD - 1, 0), (2 * USD, 0), (2 * USD + 100, 1), (102 * USD, MILLION), (103 * USD, MILLION)],
)
def test_what_is_below_the_reserve_is_no_life(balance: int, economic: int) -> None:
    assert measure_economic(balance_micro_usd=balance, starting_budget_micro_usd=100 * USD) == economic


@pytest.mark.parametrize(
    ("before", "ticks", "after"), [(999_998, 1, 999_999), (999_999, 1, MILLION), (MILLION, 1, MILLION)]
)
def test_hazard_ends_at_one(before: int, ticks: int, after: int) -> None:
    assert add_hazard(accumulated_millionths=before, ticks=ticks) == after


def parse(name: str, more: str = "") -> str:
    raw = f'name = "{name}"\ncategory = "trading"\n{more}'.encode()
    return parse_archetype(raw, source="a.toml", categories=("trading",)).name


def test_a_name_has_fifty_letters_at_most() -> None:
    assert parse("a" * 50) == "a" * 50
    with pytest.raises(InvalidToml, match="at most 50"):
        parse("a" * 51)


@pytest.mark.parametrize(("dots", "word"), [(200, "there is no key"), (201, "nested too deeply")])
def test_a_key_has_two_hundred_dots_at_most(dots: int, word: str) -> None:
    with pytest.raises(InvalidToml, match=word):
        parse("a", more=".".join(["x"] * (dots + 1)) + " = 1\n")

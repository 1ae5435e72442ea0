"""A word of another venue, or nearly a word, is answered with those that are right, and with all that was said."""

from __future__ import annotations

import pytest

from golem_project.pi.repair_from_refusal import find_fill
from tests.golem_project.pi.conftest import MakeAgent, assert_problem
from tools_app.toolkit.enums import Category

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("tasks_here")]

RANGE = {
    "action_type": "add_liquidity",
    "token0": "WETH",
    "token1": "USDC",
    "fee": 500,
    "price_lower": "2500",
    "price_upper": "3500",
    "amount0": "100000000000000000",
}


def test_what_only_another_venue_takes_is_asked_for_its_venue_and_nothing_said_is_dropped(
    make_agent: MakeAgent,
) -> None:
    agent = make_agent(most_tools=12)
    agent.key.key.loaded_tools = ["curve_add_liquidity"]
    agent.key.key.save()
    problem = assert_problem(agent.post("preview_action", RANGE), 422, "INVALID_PARAMS")
    assert problem["fill"] == {"venue": {"one_of": ["uniswap"]}}
    assert problem["unfinished_call"] == {"tool": "preview_action", "arguments": RANGE}


def test_a_venue_that_was_named_is_never_exchanged(make_agent: MakeAgent) -> None:
    problem = assert_problem(make_agent().post("preview_action", {**RANGE, "venue": "curve"}), 422, "INVALID_PARAMS")
    assert "venue" not in problem.get("fill", {})


def test_part_of_a_word_is_answered_with_the_words_that_have_it_at_the_venue_that_was_named(
    make_agent: MakeAgent,
) -> None:
    agent = make_agent(categories=["trading", "staking"], most_tools=12)
    body = {"action_type": "claim", "venue": "lido", "request_ids": ["1"]}
    problem = assert_problem(agent.post("preview_action", body), 404, "UNKNOWN_ACTION")
    assert problem["fill"] == {"action_type": {"one_of": ["claim_withdrawal"]}}
    assert problem["unfinished_call"]["arguments"] == {"venue": "lido", "request_ids": ["1"]}
    assert problem["or_call"]["arguments"] == {"query": "browse_tools"}


def test_what_has_four_letters_is_a_part_to_go_by_and_three_are_none(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=[str(each) for each in Category], most_tools=12)
    asked = {part: agent.post("query_state", {"query": f"zzz_{part}"}).json() for part in ("pool", "fee")}
    four, three = (asked[part]["fill"]["query"]["one_of"] for part in ("pool", "fee"))
    assert four and all("pool" in word.split("_") for word in four)
    # What is no part to go by is answered with the words that are loaded.
    assert "limits" in three


def test_whole_units_are_answered_with_the_base_units_that_were_meant_beside_the_parameter() -> None:
    problem = {"code": "AMOUNT_LOOKS_LIKE_WHOLE_UNITS", "parameter": "amount", "base_units": "100000000"}
    told = find_fill(problem, {"action_type": "swap", "amount": "100"})
    assert told == {"amount": {"one_of": ["100000000"], "unit": "base units"}}
    assert find_fill(problem, {"action_type": "swap"}) == {}

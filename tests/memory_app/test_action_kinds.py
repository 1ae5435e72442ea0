"""What a question asks about and what a tool does, and that the one brings the other forward."""

from __future__ import annotations

import pytest

from memory_app.action_kinds import name_deeds, read_deeds, weigh_deeds
from memory_app.filters import EpisodeFilters
from memory_app.retrieval import retrieve_episodes
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.toolkit.registry import REGISTRY


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("what did we still owe", "aave_repay"),
        ("was it dear to sell", "uniswap_execute_swap"),
        ("moving money to another chain", "bridge_transfer"),
        ("waiting for a validator to be paid out", "lido_request_withdrawal"),
        ("how did the DAO decide", "gov_vote"),
    ],
)
def test_a_question_and_a_tool_of_one_deed_share_it(question: str, tool: str) -> None:
    assert read_deeds(question) & name_deeds(tool)


@pytest.mark.parametrize("question", ["", " ", "what was learned last week", "\x00", "(" * 10_000])
def test_a_question_about_no_deed_gains_nothing(question: str) -> None:
    assert read_deeds(question) == frozenset()
    assert weigh_deeds(question, ["aave_repay", "uniswap_execute_swap"]) == [0.0, 0.0]


def test_what_every_row_shares_or_none_does_is_worth_nothing() -> None:
    assert weigh_deeds("what did we borrow", ["aave_borrow", "aave_repay"]) == [0.0, 0.0]
    assert weigh_deeds("what did we borrow", ["lido_stake", "bridge_transfer"]) == [0.0, 0.0]
    assert weigh_deeds("what did we borrow", []) == []


def test_the_rarer_deed_is_worth_more_and_a_named_venue_more_still() -> None:
    crowd = ["uniswap_execute_swap"] * 20
    rare = weigh_deeds("a loan", [*crowd, "morpho_borrow"])[-1]
    common = weigh_deeds("a loan", [*crowd, *["morpho_borrow"] * 10])[-1]
    named = weigh_deeds("a loan at Morpho", [*crowd, "morpho_borrow"])[-1]
    assert 0 < common < rare < named
    assert weigh_deeds("rates at Rocket Pool", [*crowd, "rocketpool_get_stats"])[-1] > 0


def test_most_tools_of_the_product_do_a_deed_that_can_be_asked_about() -> None:
    names = [tool.name for tool in REGISTRY]
    assert sum(bool(name_deeds(name)) for name in names) > 0.6 * len(names)


@pytest.mark.django_db
def test_an_episode_whose_tool_does_what_is_asked_comes_before_one_with_the_same_words() -> None:
    golem = make_golem()
    wanted = remember(golem, summary="It took two tries on Sunday", tool_name="aave_repay")
    for number in range(5):
        remember(golem, summary=f"It took two tries on Sunday, number {number}", tool_name="uniswap_execute_swap")
    found = retrieve_episodes(
        golem_id=golem.pk,
        query="two tries until the debt was gone",
        query_vector=None,
        filters=EpisodeFilters(),
        limit=1,
        now=NOW,
    )
    assert [hit.episode.pk for hit in found.hits] == [wanted.pk]

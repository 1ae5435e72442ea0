"""What the glossary says, and that two wordings of one thing find each other through it."""

from __future__ import annotations

import pytest

from memory_app.filters import EpisodeFilters
from memory_app.glossary import mark_concepts, name_concepts, read_glossary
from memory_app.retrieval import retrieve_episodes
from tests.memory_app.factories import NOW, make_golem, remember


def test_two_wordings_of_one_thing_name_one_concept() -> None:
    assert "liquidated" in name_concepts("The loan was LIQUIDATED at a loss")
    assert "liquidated" in name_concepts("we lost the collateral")
    assert name_concepts("zebra crossings in Paris") == ()


@pytest.mark.parametrize("text", ["", "  ", "_", "'", "…", "loan to", "\x00"])
def test_a_text_of_nothing_names_no_concept(text: str) -> None:
    assert name_concepts(text) == ()
    assert mark_concepts(text) == ""


def test_words_of_a_term_stand_side_by_side_and_parts_of_one_anywhere() -> None:
    terms = read_glossary("a: big sale\nb: waits+block")
    assert [(term.concept, term.parts) for term in terms] == [
        ("a", (("big", "sale"),)),
        ("b", (("waits",), ("block",))),
    ]
    assert "arbitrage" in name_concepts("prices were not the same in two places")
    assert "arbitrage" not in name_concepts("prices in one place")


@pytest.mark.parametrize("line", ["nothing", "a: , b", "a: ab*", "a: x++y"])
def test_a_line_that_is_none_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        read_glossary(line)


@pytest.mark.django_db
def test_a_question_that_shares_no_word_finds_what_speaks_of_the_same_concept() -> None:
    golem = make_golem()
    for number in range(8):
        remember(golem, f"Swap number {number} of the day went as it was predicted on the local chain")
    remember(golem, "Health factor fell to 1.08 overnight and was lifted by a repayment")
    found = retrieve_episodes(
        golem_id=golem.pk, query="near forced closing", query_vector=None, filters=EpisodeFilters(), limit=1, now=NOW
    )
    assert found.hits[0].episode.summary.startswith("Health factor")
    assert found.hits[0].text_rank == 1

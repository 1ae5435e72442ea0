"""Insights: confidence, ranking, scope, and the tools that read and write them."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from memory_app.actions.embed_missing import embed_missing_insights
from memory_app.actions.manage_insight import InsightChange, Operation, manage_insight
from memory_app.actions.query_grimoire import query_grimoire
from memory_app.errors import InsightNotFound
from memory_app.insights import confirm, contradict, show_percent
from memory_app.models import Insight
from memory_app.models.insight import InsightCategory, Kind, Tunable
from memory_app.models.provenance import Source, Trust
from tests.memory_app.calls import read, write
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core.errors import InvalidParams


def manage(golem: Any, operation: Operation, **given: Any) -> InsightChange:
    facts: dict[str, Any] = {
        "insight_id": None,
        "content": None,
        "category": None,
        "chain_id": None,
        "tokens": (),
        "reason": "",
        "actor": "golem:x",
        "now": NOW,
    }
    return manage_insight(golem_id=golem.pk, operation=operation, **(facts | given))


def test_confidence_moves_by_what_the_specification_says_and_stays_in_bounds() -> None:
    assert [confirm(60), confirm(95), contradict(60), contradict(10)] == [70, 100, 45, 0]
    assert [show_percent(60), show_percent(5), show_percent(100)] == ["0.60", "0.05", "1.00"]


@pytest.mark.django_db
def test_an_insight_is_added_voted_on_and_reworded() -> None:
    golem = make_golem()
    added = manage(golem, Operation.ADD, content="Gas is cheap on Sundays", category=InsightCategory.GAS_TIMING)
    assert (added.before, added.after) == (None, 30)
    by_owner = {"source": Source.OWNER, "actor": "owner:1"}
    assert manage(golem, Operation.UPVOTE, insight_id=added.insight_id, **by_owner).after == 40
    assert manage(golem, Operation.DOWNVOTE, insight_id=added.insight_id).after == 25
    assert manage(golem, Operation.ADD, content=" gas is  CHEAP on sundays ").insight_id == added.insight_id
    manage(golem, Operation.EDIT, insight_id=added.insight_id, content="Gas is cheap at night")
    assert Insight.objects.get(pk=added.insight_id).text == "Gas is cheap at night"


@pytest.mark.django_db
@pytest.mark.parametrize("operation", [Operation.UPVOTE, Operation.DOWNVOTE, Operation.EDIT])
def test_another_golems_insight_is_unknown(operation: Operation) -> None:
    stranger = manage(make_golem(), Operation.ADD, content="Secret")
    with pytest.raises(InsightNotFound):
        manage(make_golem(), operation, insight_id=stranger.insight_id, content="Changed")
    assert Insight.objects.get(pk=stranger.insight_id).text == "Secret"


@pytest.mark.django_db
def test_the_store_of_insights_answers_by_words_and_by_meaning() -> None:
    golem = make_golem()
    gas = manage(golem, Operation.ADD, content="Transaction costs are lowest on Sunday nights")
    manage(golem, Operation.ADD, content="The USDC pool is deep")
    manage(make_golem(), Operation.ADD, content="Transaction costs of a stranger")
    assert embed_missing_insights() == 3
    by_meaning = query_grimoire(golem_id=golem.pk, query="cheap gas fees weekend", store="insights", now=NOW)
    assert by_meaning["mode"] == "hybrid"
    assert by_meaning["insights"][0]["id"] == str(gas.insight_id)
    by_words = query_grimoire(
        golem_id=golem.pk, query="costs", store="insights", limit=1, now=NOW, text_only_reason="no model"
    )
    assert (by_words["mode"], by_words["insights"][0]["id"]) == ("text_only", str(gas.insight_id))
    assert by_words["insights_searched"] == 2


@pytest.mark.django_db
def test_confidence_and_forgetting_decide_between_equal_texts_and_none_fades_below_the_floor() -> None:
    golem = make_golem()
    doubted = manage(golem, Operation.ADD, content="Swap slippage rises at noon")
    trusted = manage(golem, Operation.ADD, content="Swap slippage rises at dusk")
    for _ in range(3):
        manage(golem, Operation.UPVOTE, insight_id=trusted.insight_id, source=Source.OWNER)
        manage(golem, Operation.DOWNVOTE, insight_id=doubted.insight_id)
    answer = query_grimoire(
        golem_id=golem.pk,
        query="swap slippage",
        store="insights",
        now=NOW + timedelta(days=5_000),
        text_only_reason="no model",
    )
    assert [row["id"] for row in answer["insights"]] == [str(trusted.insight_id), str(doubted.insight_id)]
    assert {row["retention"] for row in answer["insights"]} == {"0.100000"}


@pytest.mark.django_db
def test_an_insight_that_is_remembered_lasts_half_as_long_again_up_to_a_year() -> None:
    golem = make_golem()
    said = manage(golem, Operation.ADD, content="Swap slippage rises at noon")
    row = Insight.objects.get(pk=said.insight_id)
    before = row.stability_days
    for expected in (before * 1.5, before * 2.25):
        query_grimoire(golem_id=golem.pk, query="swap slippage", store="insights", now=NOW, text_only_reason="no model")
        row.refresh_from_db()
        assert row.stability_days == pytest.approx(expected)
    Insight.objects.filter(pk=row.pk).update(stability_days=300)
    query_grimoire(golem_id=golem.pk, query="swap slippage", store="insights", now=NOW, text_only_reason="no model")
    row.refresh_from_db()
    assert (row.stability_days, row.access_count) == (365, 3)


@pytest.mark.django_db
def test_the_tools_write_read_and_find_insights() -> None:
    golem = make_golem()
    added = write(golem, "memory_manage_insight", operation="ADD", content="Swaps at noon slip", category="slippage")
    assert (added["confidence_before"], added["confidence_after"]) == (None, "0.30")
    voted = write(golem, "memory_manage_insight", operation="DOWNVOTE", insight_id=added["insight_id"])
    assert (voted["confidence_before"], voted["confidence_after"]) == ("0.30", "0.15")
    listed = read(golem, "memory_get_insights", category="slippage")
    assert (listed["total"], listed["insights"][0]["id"]) == (1, added["insight_id"])
    assert listed["insights"][0]["untrusted"] is True
    assert read(golem, "memory_get_insights", min_confidence="0.5")["total"] == 0
    assert read(make_golem(), "memory_get_insights")["total"] == 0
    assert read(golem, "memory_search", query="noon")["results"][0]["source"] == "insight"
    assert read(golem, "memory_search", query="noon", min_confidence="0.5")["results"] == []


@pytest.mark.django_db
def test_the_consolidation_tool_tunes_from_verified_outcomes() -> None:
    golem = make_golem()
    same = {"amount_out": "5"}
    for _ in range(5):
        remember(golem, f"swap {uuid.uuid4()}", permit_id=uuid.uuid4(), prediction=same, outcome=same)
    done = write(golem, "memory_consolidate")
    assert (done["clusters_found"], done["insights_created"], done["heuristics_tuned"]) == (1, 1, 1)
    found = query_grimoire(golem_id=golem.pk, query="swap", store="heuristics", now=NOW, text_only_reason="no model")
    assert (found["heuristics"][0]["parameter"], found["heuristics"][0]["factor_bps"]) == ("slippage_bps", 9_000)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "params",
    [
        {"operation": "ADD"},
        {"operation": "ADD", "content": " \x00 "},
        {"operation": "UPVOTE"},
        {"operation": "DELETE", "insight_id": str(uuid.uuid4())},
        {"operation": "UPVOTE", "insight_id": "-" * 36},
        {"operation": "ADD", "content": "x", "factor_bps": 1},
    ],
)
def test_malformed_changes_are_refused_before_anything_is_written(params: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams):
        write(make_golem(), "memory_manage_insight", **params)
    assert not Insight.objects.exists()


@pytest.mark.django_db
def test_words_cannot_become_a_heuristic_and_runtime_insights_are_not_reworded() -> None:
    golem = make_golem()
    for _ in range(3):
        remember(golem, f"s {uuid.uuid4()}", permit_id=uuid.uuid4(), prediction={"a": "1"}, outcome={"a": "1"})
    write(golem, "memory_consolidate")
    drawn = Insight.objects.get(golem=golem)
    with pytest.raises(InvalidParams):
        manage(golem, Operation.EDIT, insight_id=drawn.pk, content="slippage_bps must be 10000")
    added = manage(golem, Operation.ADD, content="HEURISTIC slippage_bps factor 20000")
    row = Insight.objects.get(pk=added.insight_id)
    assert (row.kind, row.parameter, row.factor_bps) == ("INSIGHT", "", 10_000)


def warn(golem: Any) -> Insight:
    """A warning that outcomes gave."""
    return Insight.objects.create(
        golem=golem,
        kind=Kind.WARNING,
        text="Swaps of WETH at noon reverted: slippage",
        trust=Trust.VERIFIED,
        source=Source.RUNTIME,
        recorded_by="system:memory",
        confidence_percent=60,
        identity_hash="0x77",
        last_accessed_at=NOW,
    )


@pytest.mark.django_db
def test_an_agent_does_not_confirm_itself_and_is_told_so() -> None:
    golem = make_golem()
    added = write(golem, "memory_manage_insight", operation="ADD", content="Noon is the best time for swaps")
    for _ in range(6):
        again = write(golem, "memory_manage_insight", operation="ADD", content="noon is the best time for SWAPS")
        voted = write(golem, "memory_manage_insight", operation="UPVOTE", insight_id=added["insight_id"])
    assert (again["confidence_after"], voted["confidence_after"]) == ("0.30", "0.30")
    assert "not confirmed by the agent" in again["note"] and "not confirmed by the agent" in voted["note"]
    assert Insight.objects.get(golem=golem).upvotes == 0


@pytest.mark.django_db
def test_what_was_only_said_is_never_certain_whoever_confirms_it() -> None:
    golem = make_golem()
    added = manage(golem, Operation.ADD, content="Noon is good")
    for _ in range(9):
        manage(golem, Operation.UPVOTE, insight_id=added.insight_id, source=Source.OWNER)
    assert Insight.objects.get(pk=added.insight_id).confidence_percent == 70


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "trust", "by", "most"),
    [
        (Kind.INSIGHT, Trust.REPORTED, Source.AGENT, 70),
        (Kind.HEURISTIC, Trust.REPORTED, Source.AGENT, 70),
        (Kind.HEURISTIC, Trust.REPORTED, Source.OWNER, 100),
        (Kind.WARNING, Trust.VERIFIED, Source.AGENT, 100),
    ],
)
def test_an_agents_word_makes_nothing_certain_that_outcomes_have_not(
    kind: Kind, trust: Trust, by: Source, most: int
) -> None:
    golem = make_golem()
    row = warn(golem)
    tuning = {"parameter": Tunable.SLIPPAGE, "episode_ids": [uuid.uuid4() for _ in range(5)]}
    Insight.objects.filter(pk=row.pk).update(kind=kind, trust=trust, **(tuning if kind is Kind.HEURISTIC else {}))
    for _ in range(9):
        voted = manage(golem, Operation.UPVOTE, insight_id=row.pk, source=by)
    assert voted.after == most
    Insight.objects.filter(pk=row.pk).update(confidence_percent=90)
    assert manage(golem, Operation.UPVOTE, insight_id=row.pk, source=by).after == max(90, most)


@pytest.mark.django_db
def test_an_agent_votes_no_warning_of_outcomes_down() -> None:
    golem = make_golem()
    row = warn(golem)
    for _ in range(6):
        voted = write(golem, "memory_manage_insight", operation="DOWNVOTE", insight_id=str(row.pk))
    row.refresh_from_db()
    assert (row.confidence_percent, row.downvotes) == (60, 0)
    assert voted["confidence_after"] == "0.60" and "outcomes" in voted["note"]
    assert manage(golem, Operation.DOWNVOTE, insight_id=row.pk, source=Source.OWNER).after == 45


@pytest.mark.django_db
def test_a_warning_keeps_its_place_among_many_texts_of_an_agent() -> None:
    golem = make_golem()
    row = warn(golem)
    for number in range(25):
        manage(golem, Operation.ADD, content=f"Swaps of WETH at noon are safe, slippage is low, number {number}")
    embed_missing_insights()
    for reason in ("no model", ""):
        answer = query_grimoire(
            golem_id=golem.pk,
            query="swap WETH at noon slippage",
            store="insights",
            limit=5,
            now=NOW,
            text_only_reason=reason,
        )
        assert str(row.pk) in [found["id"] for found in answer["insights"]]
        assert {found["provenance"]["trust"] for found in answer["insights"]} == {"VERIFIED", "REPORTED"}

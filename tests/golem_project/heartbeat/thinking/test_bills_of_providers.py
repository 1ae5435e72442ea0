"""What thinking is told to cost beside what its provider bills: the higher counts, and what cannot be is doubted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import ModelSpendDay
from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.decision_sentences import tell_decision
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.thinking import model_planner
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.thinking.conftest import PRICE, Think, make_client
from tests.live_golem import LiveGolem
from tests.scripted_model import Answer, raw, serve_model
from tools_app.core import clock
from tools_app.core.models import AuditEntry

TOKENS = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
COUNTED = PRICE.cost(input_llm_tokens=900, output_llm_tokens=40)
WORST = 30_000
"""Less than the worst case of these requests, and far more than what is counted."""


def bill(usage: Any) -> Answer:
    """A last word of an OpenAI-compatible endpoint with this `usage`; None leaves it out."""
    message = {"role": "assistant", "content": "I looked around."}
    body: dict[str, Any] = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    return raw(json.dumps(body if usage is None else {**body, "usage": usage}).encode())


def with_own_key(cost: float, upstream: float | None) -> dict[str, Any]:
    return {**TOKENS, "cost": cost, "is_byok": True, "cost_details": {"upstream_inference_cost": upstream}}


def assert_told(live: LiveGolem, found: Any, *, cost: int, doubted: int = 0, dearer: int = 0) -> None:
    """The deliberation, the day's cap and the entry of the audit log tell one cost."""
    assert (found.stopped_by, found.cost_micro_usd) == ("", cost)
    assert (found.doubted_bills, found.dearer_bills) == (doubted, dearer)
    day = ModelSpendDay.objects.get(golem=live.golem)
    assert (day.reserved_micro_usd, day.spent_micro_usd) == (0, cost)
    data = AuditEntry.objects.filter(golem_id=live.golem.pk, event="InferenceCall").latest("seq").data
    assert (data["cost_micro_usd"], data["doubted_bills"], data["dearer_bills"]) == (str(cost), doubted, dearer)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({**TOKENS, "cost": 0.01}, 10_000),
        ({**TOKENS, "cost": 0.0100000004}, 10_001),
        ({**TOKENS, "cost": 1}, 1_000_000),
        (with_own_key(0.0002, 0.01), 10_200),
    ],
    ids=["higher", "a part of a micro-dollar", "whole dollars", "own key at the maker"],
)
def test_a_bill_above_what_its_tokens_come_to_counts(
    live_golem: LiveGolem, think: Think, usage: dict[str, Any], cost: int
) -> None:
    assert cost > COUNTED == 3_300
    found, _ = think(live_golem.golem, bill(usage))
    assert_told(live_golem, found, cost=cost, dearer=1)
    assert (found.input_llm_tokens, found.output_llm_tokens) == (900, 40)


@pytest.mark.parametrize(
    "usage",
    [
        TOKENS,
        {**TOKENS, "cost": None},
        {**TOKENS, "cost": 0.0033},
        {**TOKENS, "cost": 0.0005, "is_byok": False, "cost_details": {"upstream_inference_cost": 19}},
        {**TOKENS, "queue_time": 0.03, "total_time": 0.5},
    ],
    ids=["tokens alone", "an empty cost", "as counted", "a discount", "seconds beside the tokens"],
)
def test_a_bill_that_is_no_higher_leaves_what_its_tokens_come_to(
    live_golem: LiveGolem, think: Think, usage: dict[str, Any]
) -> None:
    found, _ = think(live_golem.golem, bill(usage))
    assert_told(live_golem, found, cost=COUNTED)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {**TOKENS, "cost": 0},
        {**TOKENS, "cost": 0.0001},
        {**TOKENS, "cost": -5},
        {**TOKENS, "cost": True},
        {**TOKENS, "cost": "a gift"},
        with_own_key(0, None),
        {"prompt_tokens": 1, "completion_tokens": 40, "total_tokens": 41, "cost": 0.0033},
    ],
    ids=str,
)
def test_a_bill_that_is_missing_or_cannot_be_counts_as_the_worst_case(
    live_golem: LiveGolem, think: Think, usage: dict[str, Any] | None
) -> None:
    found, _ = think(live_golem.golem, bill(usage))
    assert found.cost_micro_usd > WORST
    assert_told(live_golem, found, cost=found.cost_micro_usd, doubted=1)


def test_a_bill_under_a_twentieth_of_its_tokens_is_doubted_and_at_a_twentieth_not(
    live_golem: LiveGolem, think: Think
) -> None:
    found, _ = think(live_golem.golem, bill({**TOKENS, "cost": 0.000165}))
    assert (found.cost_micro_usd, found.doubted_bills) == (COUNTED, 0)
    found, _ = think(live_golem.golem, bill({**TOKENS, "cost": 0.000164}))
    assert found.cost_micro_usd > WORST and found.doubted_bills == 1


@pytest.mark.parametrize("usage", [{}, {"cost": 0.0033}], ids=str)
def test_a_bill_without_its_counts_is_no_answer_and_counts_as_the_worst_case(
    live_golem: LiveGolem, think: Think, usage: dict[str, Any]
) -> None:
    found, _ = think(live_golem.golem, bill(usage))
    assert found.stopped_by == "MODEL_ANSWER_INVALID" and found.cost_micro_usd > WORST


def test_a_bill_above_the_worst_case_counts_even_where_its_tokens_cannot_be(
    live_golem: LiveGolem, think: Think
) -> None:
    found, _ = think(live_golem.golem, bill({**TOKENS, "prompt_tokens": -1, "cost": 0.9}))
    assert_told(live_golem, found, cost=900_000, doubted=1)


def test_a_bill_beyond_the_days_cap_fills_it(live_golem: LiveGolem, think: Think) -> None:
    found, _ = think(live_golem.golem, bill({**TOKENS, "cost": 1e300}), bill(TOKENS))
    day = ModelSpendDay.objects.get(golem=live_golem.golem)
    assert day.spent_micro_usd == day.cap_micro_usd and found.stopped_by == ""
    again, model = think(live_golem.golem, bill(TOKENS))
    assert (again.stopped_by, model.requests) == ("MODEL_BUDGET_SPENT", [])


@pytest.fixture
def model_of_ticks() -> Iterator[Any]:
    """Sets the planner the ticks of this process ask."""
    yield model_planner.configure
    model_planner.configure(None)


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        (0.01, "Above the prices in the settings, and counted as billed: 1 of its bills."),
        (0.0001, "1 of its bills could not be true and count as the worst case."),
        (0.0033, ""),
    ],
    ids=["higher", "too low", "as counted"],
)
def test_the_decision_tells_its_owner_what_a_bill_did(
    live_golem: LiveGolem, think: Think, model_of_ticks: Any, cost: float, told: str
) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Look around.", actor="owner:1", now=clock.now())
    with serve_model([bill({**TOKENS, "cost": cost})]) as model:
        model_of_ticks(make_client(model.url))
        record = tick(live_golem.golem)
    (line,) = [line for line in tell_decision(record) if line.startswith("Thinking cost ")]
    assert line.partition("written.")[2].strip() == told
    assert int(record.costs["model_micro_usd"]) == ModelSpendDay.objects.get(golem=live_golem.golem).spent_micro_usd

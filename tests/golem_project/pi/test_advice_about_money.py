"""What a refusal advises never turns one action into another, nor chooses where money goes or how much of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from golem_project.pi.suggest_next_call import teach
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY

ACTIONS = sorted({tool.key for tool in REGISTRY if tool.pi_tool is PiTool.PREVIEW_ACTION})
SCHEMA: Mapping[str, Any] = {
    "properties": {
        "token_in": {"type": "string"},
        "amount": {"type": "string"},
        "slippage_bps": {"type": "integer", "minimum": 0, "maximum": 5_000},
        "rate_mode": {"type": "string", "enum": ["variable"]},
    },
    "required": ["token_in", "amount"],
}


def advise(body: Mapping[str, Any], *, words: list[str] | None = None, **problem: Any) -> dict[str, Any]:
    return teach(
        {"code": "INVALID_PARAMS", **problem},
        tool=str(PiTool.PREVIEW_ACTION),
        body=body,
        words=words or ["swap"],
        describe=lambda key, _: SCHEMA if key else None,
    )


def test_no_action_is_taught_as_another_one() -> None:
    taught = []
    for given in [*ACTIONS, *(f"un{key}" for key in ACTIONS)]:
        others = [key for key in ACTIONS if key != given]
        lesson = advise({"action_type": given}, words=others, code="UNKNOWN_ACTION")
        assert lesson["or_call"]["arguments"] == {"query": "browse_tools"}
        taught += [(given, key) for key in [lesson["unfinished_call"]["arguments"].get("action_type")] if key]
    assert taught == []


@pytest.mark.parametrize(
    ("given", "known", "is_put_right"),
    [
        ("ab_cdf", "ab_cde", False),
        ("ab_cdef", "ab_cdee", True),
        ("buy_pt", "buy_yt", False),
        ("bu_pt", "buy_pt", False),
    ],
)
def test_another_letter_in_a_part_of_three_is_another_thing(given: str, known: str, is_put_right: bool) -> None:
    lesson = advise({"action_type": given}, words=[known], code="UNKNOWN_ACTION")
    assert ("or_call" not in lesson) is is_put_right


@pytest.mark.parametrize("slip", ["swaps", "Swap", "swapp", "s-wap"])
def test_a_slip_of_the_pen_is_put_right(slip: str) -> None:
    lesson = advise({"action_type": slip}, code="UNKNOWN_ACTION")
    assert lesson["next_call"] == {"tool": "preview_action", "arguments": {"action_type": "swap"}}


@pytest.mark.parametrize(("given", "venues"), [("uniswap_v2", ["uniswap_v3"]), ("aave", ["spark", "aave_v3"])])
def test_a_venue_is_never_chosen_for_the_caller(given: str, venues: list[str]) -> None:
    lesson = advise({"action_type": "swap", "venue": given}, code="UNKNOWN_VENUE", venues=venues)
    assert "venue" not in lesson["unfinished_call"]["arguments"]
    assert lesson["fill"] == {"venue": {"one_of": venues}}


def test_a_venue_spelt_otherwise_is_the_same_venue() -> None:
    lesson = advise({"action_type": "swap", "venue": "UniswapV3"}, code="UNKNOWN_VENUE", venues=["uniswap_v3"])
    assert lesson["next_call"]["arguments"]["venue"] == "uniswap_v3"


@pytest.mark.parametrize("name", ["amount_out", "min_amount", "amount_usd", "value", "size"])
def test_a_field_that_may_mean_another_amount_does_not_become_the_amount(name: str) -> None:
    body = {"action_type": "swap", "token_in": "USDC", name: "500"}
    lesson = advise(body, fields={name: "does not exist here", "amount": "field required"}, allowed=["amount"])
    assert "amount" not in lesson["unfinished_call"]["arguments"]
    assert (lesson["extra"], lesson["missing"]) == ([name], ["amount"])
    assert "amount" in lesson["fill"]


@pytest.mark.parametrize("name", ["amountIn", "amount_in", "Amount"])
def test_an_amount_under_another_spelling_is_the_amount(name: str) -> None:
    body = {"action_type": "swap", "token_in": "USDC", name: "500"}
    lesson = advise(body, fields={name: "does not exist here", "amount": "field required"}, allowed=["amount"])
    assert lesson["next_call"]["arguments"]["amount"] == "500"


def test_a_slippage_out_of_range_is_asked_for_and_not_set_to_the_most_there_is() -> None:
    body = {"action_type": "swap", "token_in": "USDC", "amount": "5", "slippage_bps": 20_000}
    lesson = advise(body, fields={"slippage_bps": "at most 5000"})
    assert "slippage_bps" not in lesson["unfinished_call"]["arguments"]
    assert lesson["fill"]["slippage_bps"]["maximum"] == 5_000


def test_a_value_that_is_not_offered_does_not_become_one_that_sounds_like_it() -> None:
    body = {"action_type": "swap", "token_in": "USDC", "amount": "5", "rate_mode": "stable"}
    lesson = advise(body, fields={"rate_mode": "must be variable"})
    assert "rate_mode" not in lesson["unfinished_call"]["arguments"]
    assert lesson["fill"]["rate_mode"] == {"one_of": ["variable"]}


@pytest.mark.parametrize(
    ("given", "is_kept"), [(500_000_000.0, True), (1_234_567_890_123_456_789.0, False), (1.5, False)]
)
def test_an_amount_written_as_a_fraction_is_kept_only_where_nothing_is_lost(given: float, is_kept: bool) -> None:
    body = {"action_type": "swap", "token_in": "USDC", "amount": given}
    lesson = advise(body, fields={"amount": "must be text"})
    assert ("next_call" in lesson) is is_kept
    assert is_kept or "amount" not in lesson["unfinished_call"]["arguments"]

"""The whole lesson of a refusal, member by member: what is put right, what is asked for, what is left out and told.

The refusals are made here, so that no golem, chain or database stands between a mistake and its lesson.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from golem_project.pi.suggest_next_call import complete, teach

ACTION, STATE, SEARCH, GRIMOIRE = "preview_action", "query_state", "search_context", "query_grimoire"
CANCEL, HALT, UPDATE = "cancel_action", "emergency_halt", "update_directive"
NOT_HERE, NEEDED = "does not exist here", "This field is required."
BROWSING: Final = {"tool": STATE, "arguments": {"query": "browse_tools"}}
TEXT: Final = {"type": "string"}
SWAP: Final[dict[str, dict[str, Any]]] = {
    "token_in": TEXT,
    "token_out": TEXT,
    "amount": {"type": "string", "description": "base units", "pattern": "^[0-9]+$"},
    "slippage_bps": {"type": "integer", "minimum": 0, "maximum": 5_000},
    "chain_id": {"anyOf": [{"type": "integer", "description": "which chain"}, {"type": "null"}]},
    "exact_output": {"type": "boolean"},
    "mode": {"type": "string", "enum": ["stable", "variable"]},
}
QUOTE: Final = {**SWAP, "limit": {"type": "integer", "minimum": 1, "maximum": 50}}
FREE: Final = {
    SEARCH: {"query": TEXT, "limit": {"type": "integer", "minimum": 1, "maximum": 50}},
    GRIMOIRE: {"query": TEXT, "store": {"type": "string", "enum": ["episodes", "insights"]}, "limit": QUOTE["limit"]},
    CANCEL: {"permit_id": TEXT, "reason": TEXT},
    HALT: {"reason": TEXT, "drill": {"type": "boolean"}},
    UPDATE: {"section": TEXT, "change": TEXT, "reason": TEXT},
}
CALLED: Final = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH"}


def learn(tool: str, body: Mapping[str, Any], *, words: tuple[str, ...] = ("swap", "supply"), **problem: Any) -> Any:
    """The lesson of a refusal; `fields` are texts by name."""

    def describe(key: str, venue: str | None) -> Mapping[str, Any] | None:
        properties = {ACTION: SWAP, STATE: QUOTE}.get(tool) if key else FREE.get(tool)
        return None if properties is None else {"properties": properties}

    return teach({"code": "INVALID_PARAMS", **problem}, tool=tool, body=body, words=words, describe=describe)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


@pytest.mark.parametrize(
    ("tool", "body", "fields", "lesson"),
    [
        (
            ACTION,
            {**CALLED, "quantity": "5"},
            {"quantity": NOT_HERE, "amount": NEEDED},
            {"next_call": call(ACTION, **CALLED, amount="5"), "missing": ["amount"], "extra": ["quantity"]},
        ),
        (
            ACTION,
            CALLED,
            {"amount": NEEDED},
            {
                "unfinished_call": call(ACTION, **CALLED),
                "missing": ["amount"],
                "fill": {"amount": {"type": ["string"], "description": "base units", "pattern": "^[0-9]+$"}},
            },
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "recipient": "0x12"},
            {"recipient": NOT_HERE},
            {
                "unfinished_call": call(ACTION, **CALLED, amount="5"),
                "extra": ["recipient"],
                "drops": ["recipient"],
            },
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "confirm": True},
            {"confirm": NOT_HERE},
            {"next_call": call(ACTION, **CALLED, amount="5"), "extra": ["confirm"]},
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "colour": "red"},
            {"colour": NOT_HERE},
            {"unfinished_call": call(ACTION, **CALLED, amount="5"), "extra": ["colour"], "drops": ["colour"]},
        ),
        (
            STATE,
            {"query": "quote", "colour": "red"},
            {"colour": NOT_HERE},
            {"next_call": call(STATE, query="quote"), "extra": ["colour"]},
        ),
        (
            STATE,
            {"query": "quote", "wallet": "0x12"},
            {"wallet": NOT_HERE},
            {"unfinished_call": call(STATE, query="quote"), "extra": ["wallet"], "drops": ["wallet"]},
        ),
        (
            STATE,
            {"query": "quote", "limt": 5},
            {"limt": NOT_HERE},
            {"next_call": call(STATE, query="quote", limit=5), "extra": ["limt"]},
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "slippage": 1},
            {"slippage": NOT_HERE},
            {
                "unfinished_call": call(ACTION, **CALLED, amount="5"),
                "extra": ["slippage"],
                "fill": {"slippage_bps": {"type": ["integer"], "description": "", "minimum": 0, "maximum": 5_000}},
            },
        ),
        (
            ACTION,
            {**CALLED, "amountIn": "5"},
            {"amountIn": NOT_HERE},
            {"next_call": call(ACTION, **CALLED, amount="5"), "extra": ["amountIn"]},
        ),
        (
            ACTION,
            {**CALLED, "amountIn": "5", "exact_output": True},
            {"amountIn": NOT_HERE},
            {
                "unfinished_call": call(ACTION, **CALLED, exact_output=True),
                "extra": ["amountIn"],
                "fill": {"amount": {"type": ["string"], "description": "base units", "pattern": "^[0-9]+$"}},
            },
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "network": "base"},
            {"network": NOT_HERE},
            {"next_call": call(ACTION, **CALLED, amount="5", chain_id=8453), "extra": ["network"]},
        ),
        (
            ACTION,
            {**CALLED, "amount": 5},
            {"amount": "Input should be a valid string"},
            {"next_call": call(ACTION, **CALLED, amount="5")},
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "slippage_bps": "30"},
            {"slippage_bps": "Input should be a valid integer"},
            {"next_call": call(ACTION, **CALLED, amount="5", slippage_bps=30)},
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "slippage_bps": 9_000},
            {"slippage_bps": "Input should be less than or equal to 5000"},
            {
                "unfinished_call": call(ACTION, **CALLED, amount="5"),
                "fill": {"slippage_bps": {"type": ["integer"], "description": "", "minimum": 0, "maximum": 5_000}},
            },
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "chain_id": "mainnets"},
            {"chain_id": "Input should be a valid integer"},
            {
                "unfinished_call": call(ACTION, **CALLED, amount="5"),
                "fill": {"chain_id": {"type": ["integer"], "description": "which chain"}},
            },
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "mode": "Stable"},
            {"mode": "Input should be 'stable' or 'variable'"},
            {"next_call": call(ACTION, **CALLED, amount="5", mode="stable")},
        ),
        (
            ACTION,
            {**CALLED, "amount": "5", "mode": "varable"},
            {"mode": "Input should be 'stable' or 'variable'"},
            {
                "unfinished_call": call(ACTION, **CALLED, amount="5"),
                "fill": {"mode": {"one_of": ["stable", "variable"]}},
            },
        ),
        (
            GRIMOIRE,
            {"query": "a swap", "store": "episode"},
            {"store": "is not a valid choice"},
            {"next_call": call(GRIMOIRE, query="a swap", store="episodes")},
        ),
        (
            SEARCH,
            {"query": "x", "limit": 500},
            {"limit": "Ensure this value is less than or equal to 50."},
            {"next_call": call(SEARCH, query="x", limit=50)},
        ),
        (
            SEARCH,
            {"query": "x", "limit": 0},
            {"limit": "Ensure this value is greater than or equal to 1."},
            {"next_call": call(SEARCH, query="x", limit=1)},
        ),
        (
            CANCEL,
            {"id": "7b", "why": "changed"},
            {"id": NOT_HERE, "why": NOT_HERE, "permit_id": NEEDED, "reason": NEEDED},
            {
                "next_call": call(CANCEL, permit_id="7b", reason="changed"),
                "missing": ["permit_id", "reason"],
                "extra": ["id", "why"],
            },
        ),
        (
            CANCEL,
            {"permit_id": "7b", "reason": "x", "amount": 1},
            {"amount": NOT_HERE},
            {"next_call": call(CANCEL, permit_id="7b", reason="x"), "extra": ["amount"]},
        ),
        (
            HALT,
            {"reason": "drained", "dry_run": "true"},
            {"dry_run": NOT_HERE},
            {"next_call": call(HALT, reason="drained", drill=True), "extra": ["dry_run"]},
        ),
        (
            UPDATE,
            {"title": "Exits", "text": "Leave."},
            {"title": NOT_HERE, "text": NOT_HERE, "section": NEEDED, "change": NEEDED, "reason": NEEDED},
            {
                "unfinished_call": call(UPDATE, section="Exits", change="Leave."),
                "missing": ["section", "change", "reason"],
                "extra": ["title", "text"],
                "fill": {"reason": {"type": ["string"], "description": NEEDED}},
            },
        ),
        (
            ACTION,
            {"type": "swapp", "token_in": "USDC"},
            {"action_type": NEEDED},
            {
                "next_call": call(ACTION, action_type="swap", token_in="USDC"),
                "missing": ["action_type"],
                "extra": ["type"],
            },
        ),
        (
            ACTION,
            {"token_in": "USDC"},
            {"action_type": NEEDED},
            {
                "unfinished_call": call(ACTION, token_in="USDC"),
                "missing": ["action_type"],
                "fill": {"action_type": {"one_of": ["swap", "supply"]}},
            },
        ),
        (
            ACTION,
            {**CALLED, "params": '{"amount": 5}'},
            {"amount": "Input should be a valid string"},
            {"next_call": call(ACTION, amount="5", **CALLED)},
        ),
        (STATE, {"query": "load_tools"}, {"category": "one of the two"}, {"next_call": BROWSING}),
    ],
)
def test_a_wrong_field_is_put_right_asked_for_or_left_out_and_told(
    tool: str, body: dict[str, Any], fields: dict[str, str], lesson: dict[str, Any]
) -> None:
    assert learn(tool, body, fields=fields) == lesson


@pytest.mark.parametrize(
    ("tool", "body", "problem", "lesson"),
    [
        (ACTION, {"action_type": "swapp"}, {}, {"next_call": call(ACTION, action_type="swap")}),
        (STATE, {"query": "suply", "venue": "x"}, {}, {"next_call": call(STATE, query="supply", venue="x")}),
        (SEARCH, {"read": "suply"}, {}, {"next_call": call(SEARCH, read="supply")}),
        (
            ACTION,
            {"action_type": "bridge", "amount": "5"},
            {},
            {
                "unfinished_call": call(ACTION, amount="5"),
                "fill": {"action_type": {"one_of": ["swap", "supply"]}},
                "or_call": BROWSING,
            },
        ),
        (
            ACTION,
            {"action_type": "swap"},
            {"code": "VENUE_REQUIRED", "venues": ["a", "b"]},
            {
                "unfinished_call": call(ACTION, action_type="swap"),
                "missing": ["venue"],
                "fill": {"venue": {"one_of": ["a", "b"]}},
            },
        ),
        (
            ACTION,
            {"action_type": "swap", "venue": "Uni Swap"},
            {"code": "UNKNOWN_VENUE", "venues": ["uniswap"]},
            {"next_call": call(ACTION, action_type="swap", venue="uniswap")},
        ),
        (
            STATE,
            {"query": "load_tools", "category": "lend"},
            {"code": "CATEGORY_UNKNOWN", "suggestions": ["lending", "lp"]},
            {"next_call": call(STATE, query="load_tools", category="lending")},
        ),
        (STATE, {"query": "load_tools", "category": "x"}, {"code": "CATEGORY_UNKNOWN"}, {"next_call": BROWSING}),
        (
            ACTION,
            {"action_type": "swap", "amount": "5", "params": {"amount": "6", "token": "USDC"}},
            {"code": "AMBIGUOUS_PARAMS", "fields": ["amount"]},
            {
                "unfinished_call": call(ACTION, token="USDC", action_type="swap"),
                "fill": {"amount": {"one_of": ["5", "6"]}},
            },
        ),
        (
            ACTION,
            {"action_type": "swap", "amount": "5", "params": {"amount": "5"}},
            {"code": "AMBIGUOUS_PARAMS", "fields": ["amount"]},
            {"next_call": call(ACTION, amount="5", action_type="swap")},
        ),
        (
            ACTION,
            {"action_type": "swap", "type": "swap", "params": "nothing"},
            {"code": "AMBIGUOUS_PARAMS"},
            {"unfinished_call": call(ACTION, action_type="swap"), "drops": ["params"]},
        ),
        (
            ACTION,
            {"action_type": "swap", "kind": "borrow"},
            {"code": "AMBIGUOUS_PARAMS"},
            {"unfinished_call": call(ACTION), "fill": {"action_type": {"one_of": ["borrow", "swap"]}}},
        ),
        (ACTION, {"action_type": "swapp"}, {"next_call": BROWSING}, {}),
        (ACTION, {"action_type": "swapp"}, {"unfinished_call": BROWSING}, {}),
        (ACTION, {"action_type": "swapp"}, {"code": "POLICY_REJECTED"}, {}),
        ("another_tool", {"action_type": "swapp"}, {}, {}),
    ],
)
def test_a_wrong_word_venue_or_category_is_put_right_where_only_one_thing_can_be_meant(
    tool: str, body: dict[str, Any], problem: dict[str, Any], lesson: dict[str, Any]
) -> None:
    assert learn(tool, body, **{"code": "UNKNOWN_ACTION", **problem}) == lesson


def test_a_call_that_would_be_refused_again_asks_for_what_it_needs() -> None:
    members = {"next_call": call(ACTION, **CALLED, amount="x", recipient="0x12"), "missing": ["venue"], "extra": ["a"]}
    faults = {"amount": "a whole number", "recipient": NOT_HERE, "chain_id": NEEDED}
    assert complete({**members, "available": ["swap"]}, faults, SWAP) == {
        "available": ["swap"],
        "unfinished_call": call(ACTION, **CALLED),
        "missing": ["venue", "chain_id"],
        "extra": ["a", "recipient"],
        "fill": {
            "amount": {"type": ["string"], "description": "base units", "pattern": "^[0-9]+$"},
            "chain_id": {"type": ["integer"], "description": "which chain"},
        },
        "drops": ["recipient"],
    }

"""What agents get wrong, over HTTP: each answer names all that is wrong and what would be right, at once."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models.api_key import Scope
from golem_project.pi.exception_handler import describe_problem
from tests.architecture.sources import ROOT
from tests.architecture.test_errors import _CARRIERS, ERRORS
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.core.errors import GolemError, Recovery

PERMIT = "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d"

# tool, body, every field that is named, words that the answer holds
MISTAKES: list[tuple[str, dict[str, Any], set[str], tuple[str, ...]]] = [
    ("commit_action", {"permit": PERMIT}, {"permit", "permit_id"}, ("permit_id",)),
    ("commit_action", {"id": PERMIT}, {"id", "permit_id"}, ("permit_id",)),
    ("commit_action", {"permitId": PERMIT, "confirm": True}, {"permitId", "confirm", "permit_id"}, ()),
    ("commit_action", {"permit_id": [PERMIT]}, {"permit_id"}, ()),
    ("commit_action", {"permit_id": PERMIT.replace("-", "")}, {"permit_id"}, ()),
    ("commit_action", {"permit_id": PERMIT, "idempotency_key": "x"}, {"idempotency_key"}, ("permit_id",)),
    ("cancel_action", {"id": PERMIT}, {"id", "permit_id", "reason"}, ("permit_id", "reason")),
    ("cancel_action", {"permit_id": PERMIT, "why": "x"}, {"why", "reason"}, ("reason",)),
    ("cancel_action", {"permit_id": "x", "reason": "", "force": 1}, {"permit_id", "reason", "force"}, ()),
    ("search_context", {"q": "x"}, {"q", "query"}, ("limit", "query")),
    ("search_context", {"text": "x", "limit": "ten"}, {"text", "query", "limit"}, ()),
    ("search_context", {"query": "x", "limit": "10"}, {"limit"}, ("integer",)),
    ("search_context", {"query": "x", "top_k": 5}, {"top_k"}, ("limit",)),
    ("query_grimoire", {"query": "x", "store": "diary"}, {"store"}, ("episodes", "insights")),
    ("query_grimoire", {"query": "x", "importance": "huge"}, {"importance"}, ("BASE",)),
    ("query_grimoire", {"text": "x", "store": "diary"}, {"text", "query", "store"}, ("episodes",)),
    ("query_grimoire", {"query": "x", "filters": {"colour": "red"}}, {"filters.colour"}, ("venue", "tokens")),
    ("query_grimoire", {"query": "x", "since": "yesterday"}, {"since"}, ("2026-11-21T06:00:00Z",)),
    ("query_grimoire", {"query": "x", "chain_id": "1"}, {"chain_id"}, ("integer",)),
    ("update_directive", {"text": "x"}, {"text", "section", "change", "reason"}, ("section", "change")),
    ("update_directive", {"section": "A", "content": "B", "reason": "C"}, {"content", "change"}, ("change",)),
    ("emergency_halt", {"message": "x"}, {"message", "reason"}, ("reason", "drill")),
    ("emergency_halt", {"reason": "x", "drill": "true"}, {"drill"}, ()),
    ("emergency_halt", {"reason": "x", "dry_run": True}, {"dry_run"}, ("drill",)),
    ("query_state", {}, {"query"}, ("limits", "quote")),
    ("query_state", {"name": "limits"}, {"query"}, ("limits", "quote")),
    ("query_state", {"query": 7}, {"query"}, ("limits", "quote")),
    ("query_state", {"query": "quote", "from": "USDC"}, {"from", "token_in", "token_out", "amount"}, ("token_in",)),
    (
        "query_state",
        {"query": "quote", "tokenIn": "USDC", "token_out": "WETH", "amount": "1"},
        {"tokenIn", "token_in"},
        ("token_in",),
    ),
    ("query_state", {"query": "limits", "asset": "USDC"}, {"asset"}, ()),
    ("query_state", {"query": "quote", "token_in": "USDC", "token_out": "WETH", "amount": 1.5}, {"amount"}, ()),
    ("preview_action", {}, {"action_type"}, ("swap", "add_liquidity")),
    ("preview_action", {"action": "swap"}, {"action_type"}, ("swap", "add_liquidity")),
    ("preview_action", {"action_type": None}, {"action_type"}, ("swap",)),
    ("preview_action", {"action_type": ["swap"]}, {"action_type"}, ("swap",)),
]


@pytest.mark.parametrize(
    ("tool", "body", "fields", "words"), MISTAKES, ids=[f"{row[0]}-{number}" for number, row in enumerate(MISTAKES)]
)
def test_a_mistake_is_answered_with_everything_that_is_wrong_and_what_would_be_right(
    agent: Agent, tool: str, body: dict[str, Any], fields: set[str], words: tuple[str, ...]
) -> None:
    answer = agent.post(tool, body)
    problem = assert_problem(answer, 422, "INVALID_PARAMS", "FIX_PARAMS")
    assert set(problem["fields"]) == fields
    missing = [word for word in words if word not in answer.content.decode()]
    assert missing == [], problem
    assert "manifest" not in problem["detail"]


def test_a_tool_that_does_not_exist_is_answered_with_those_this_key_may_call(make_agent: MakeAgent) -> None:
    every = make_agent().post("do_magic")
    assert "commit_action" in assert_problem(every, 404, "UNKNOWN_TOOL")["available"]
    reader = make_agent(scopes=[Scope.READ]).post("do_magic")
    assert assert_problem(reader, 404, "UNKNOWN_TOOL")["available"] == [
        "query_state",
        "search_context",
        "query_grimoire",
    ]
    tradeless = make_agent(categories=["data"]).post("do_magic")
    assert "preview_action" not in assert_problem(tradeless, 404, "UNKNOWN_TOOL")["available"]


@pytest.mark.parametrize(
    "kind",
    [kind for kind in ERRORS if kind.recovery is Recovery.WAIT and kind.__name__ not in _CARRIERS],
    ids=lambda kind: kind.__name__,
)
def test_whatever_time_clears_says_when_to_look_again(kind: type[GolemError]) -> None:
    error = kind.__new__(kind)
    GolemError.__init__(error, "for the test")
    problem, headers = describe_problem(error, instance="/x")
    assert problem["retry_after_seconds"] >= 1
    assert headers["Retry-After"] == str(problem["retry_after_seconds"])


def test_the_guide_for_agents_explains_every_recovery() -> None:
    guide = (ROOT / "docs" / "how-to" / "write-an-agent.md").read_text()
    assert [recovery for recovery in Recovery if f"| `{recovery}` |" not in guide] == []

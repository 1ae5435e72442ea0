"""Refusals that teach: an agent that reads nothing but the answer puts its mistake right with its next call.

The agent of these tests knows what it wants (`intent`) and one call of it, wrongly made. It makes the call that the
refusal names, with what `fill` asks for taken from its intent, and does nothing else. It acts for a golem with money on
the local chain: put right means done, by the permit, the commit or the answer.
"""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from archetypes_app.loadout import MOST_TOOLS
from archetypes_app.models import ApiKey, ToolProfile
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tests.golem_project.pi.test_schema_is_the_server import REFUSED_AS_BODIES, request_schema
from tools_app.toolkit.enums import Category, PiTool

EVERYTHING = [category.value for category in Category if category is not Category.CODING]
PERMIT = "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d"
"""Stands for a permit of the golem's own, made anew for each mistake."""
AMOUNT = "500000000"
"""Stands for an amount that no other mistake asks for: what is asked again and again is refused as a loop."""
SWAP = {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": AMOUNT}
QUOTE = {"query": "quote", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
PRICE = {"query": "token_price", "token": "WETH"}
CANCEL = {"permit_id": PERMIT, "reason": "changed my mind"}
SEARCH = {"query": "how do I leave", "limit": 10}
RECALL = {"query": "a swap", "store": "episodes", "limit": 5}
UPDATE = {"section": "Exits", "change": "Leave early.", "reason": "it paid"}
HALT = {"reason": "drained", "drill": True}
LOAD = {"query": "load_tools", "category": "lending"}
BROWSE = {"query": "browse_tools", "category": "lending"}
DESCRIBE = {"query": "describe_tool", "tools": ["uniswap_execute_swap"]}

# What was meant, the tool, the call that was made instead.
MISTAKES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"permit_id": PERMIT}, "commit_action", {"permit": PERMIT}),
    ({"permit_id": PERMIT}, "commit_action", {"id": PERMIT}),
    ({"permit_id": PERMIT}, "commit_action", {"permitId": PERMIT}),
    ({"permit_id": PERMIT}, "commit_action", {"permitId": PERMIT, "confirm": True}),
    ({"permit_id": PERMIT}, "commit_action", {"permit_id": [PERMIT]}),
    ({"permit_id": PERMIT}, "commit_action", {"permit_id": PERMIT, "idempotency_key": "x"}),
    ({"permit_id": PERMIT}, "commit_action", {}),
    ({"permit_id": PERMIT}, "commit_action", {"permit_id": PERMIT.replace("-", "")}),
    (CANCEL, "cancel_action", {"id": PERMIT, "reason": "changed my mind"}),
    (CANCEL, "cancel_action", {"permit_id": PERMIT, "why": "changed my mind"}),
    (CANCEL, "cancel_action", {"permit_id": PERMIT, "message": "changed my mind"}),
    (CANCEL, "cancel_action", {"permit_id": PERMIT}),
    (CANCEL, "cancel_action", {"permit_id": "x", "reason": "", "force": 1}),
    (SEARCH, "search_context", {"q": "how do I leave"}),
    (SEARCH, "search_context", {"text": "how do I leave", "limit": "ten"}),
    (SEARCH, "search_context", {"query": "how do I leave", "limit": "10"}),
    (SEARCH, "search_context", {"query": "how do I leave", "top_k": 10}),
    (SEARCH, "search_context", {"query": "how do I leave", "limit": 500}),
    (SEARCH, "search_context", {}),
    (RECALL, "query_grimoire", {"query": "a swap", "store": "episode"}),
    (RECALL, "query_grimoire", {"query": "a swap", "store": "diary"}),
    (RECALL, "query_grimoire", {"query": "a swap", "limit": "5"}),
    (RECALL, "query_grimoire", {"q": "a swap"}),
    (RECALL, "query_grimoire", {"query": "a swap", "importance": "notable"}),
    (RECALL, "query_grimoire", {"query": "a swap", "chain_id": "1"}),
    (RECALL, "query_grimoire", {"text": "a swap", "store": "Episodes"}),
    (UPDATE, "update_directive", {"section": "Exits", "content": "Leave early.", "reason": "it paid"}),
    (UPDATE, "update_directive", {"title": "Exits", "change": "Leave early.", "reason": "it paid"}),
    (UPDATE, "update_directive", {"section": "Exits", "change": "Leave early.", "why": "it paid"}),
    (UPDATE, "update_directive", {"section": "Exits"}),
    (HALT, "emergency_halt", {"message": "drained", "drill": True}),
    (HALT, "emergency_halt", {"reason": "drained", "drill": "true"}),
    (HALT, "emergency_halt", {"reason": "drained", "dry_run": True}),
    (HALT, "emergency_halt", {"drill": True}),
    ({"query": "limits"}, "query_state", {}),
    ({"query": "limits"}, "query_state", {"name": "limits"}),
    ({"query": "limits"}, "query_state", {"query": 7}),
    ({"query": "limits"}, "query_state", {"query": "limit"}),
    ({"query": "limits"}, "query_state", {"query": ["limits"]}),
    ({"query": "limits"}, "query_state", {"query": "limits", "asset": "USDC"}),
    ({"query": "permits"}, "query_state", {"query": "open_permits"}),
    (QUOTE, "query_state", {**QUOTE, "tokenIn": "USDC", "token_in": None}),
    (QUOTE, "query_state", {"query": "quote", "from": "USDC", "to": "WETH", "amount": "500000000"}),
    (QUOTE, "query_state", {"query": "quote", "token_in": "USDC", "token_out": "WETH", "amount": 1.5}),
    (QUOTE, "query_state", {"query": "quote", "token_in": "USDC", "token_out": "WETH"}),
    (QUOTE, "query_state", {"query": "quotes", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}),
    (QUOTE, "query_state", {**QUOTE, "venue": "uniswapv3"}),
    (QUOTE, "query_state", {**QUOTE, "slippage": 50}),
    (QUOTE, "query_state", {**QUOTE, "slippage_bps": 20_000}),
    (QUOTE, "query_state", {**QUOTE, "params": {"amount": "1"}}),
    (PRICE, "query_state", {"query": "token_price"}),
    (PRICE, "query_state", {"query": "token_price", "symbol": "WETH"}),
    (PRICE, "query_state", {"query": "price", "token": "WETH"}),
    (LOAD, "query_state", {"query": "load_tools"}),
    (LOAD, "query_state", {"query": "load_tools", "group": "lending"}),
    (LOAD, "query_state", {"query": "load_tools", "category": "lendings"}),
    (BROWSE, "query_state", {"query": "browse", "category": "lending"}),
    (BROWSE, "query_state", {"query": "browse_tools", "category": "Lending"}),
    (DESCRIBE, "query_state", {"query": "describe_tool", "tool": "uniswap_execute_swap"}),
    (DESCRIBE, "query_state", {"query": "describe_tool", "tools": "uniswap_execute_swap"}),
    (DESCRIBE, "query_state", {"query": "describe_tool"}),
    (SWAP, "preview_action", {}),
    (SWAP, "preview_action", {"action": "swap", "token_in": "USDC", "token_out": "WETH", "amount": AMOUNT}),
    (SWAP, "preview_action", {**SWAP, "action_type": ["swap"]}),
    (SWAP, "preview_action", {**SWAP, "action_type": "swaps"}),
    (SWAP, "preview_action", {**SWAP, "action_type": "trade"}),
    (SWAP, "preview_action", {**SWAP, "kind": "swap"}),
    (SWAP, "preview_action", {**SWAP, "params": {"amount": AMOUNT}}),
    (SWAP, "preview_action", {"action_type": "swap", "from": "USDC", "to": "WETH", "amount": AMOUNT}),
    (SWAP, "preview_action", {"action_type": "swap", "tokenIn": "USDC", "tokenOut": "WETH", "amountIn": AMOUNT}),
    (SWAP, "preview_action", {"action_type": "swap", "token_in": "USDC", "token_out": "WETH"}),
    (SWAP, "preview_action", {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": 1.5}),
    (SWAP, "preview_action", {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount_out": "1"}),
    (SWAP, "preview_action", {**SWAP, "venue": "Uni-Swap"}),
    (SWAP, "preview_action", {**SWAP, "venue": "sushiswap"}),
    ({**SWAP, "slippage_bps": 50}, "preview_action", {**SWAP, "slippage": 50}),
    ({**SWAP, "slippage_bps": 50}, "preview_action", {**SWAP, "slippage_bps": 20_000}),
    ({**SWAP, "slippage_bps": 50}, "preview_action", {**SWAP, "slippage_bps": "0.5%"}),
    (SWAP, "preview_action", {**SWAP, "urgent": True}),
]


WRONG = {"INVALID_PARAMS", "UNKNOWN_ACTION", "UNKNOWN_VENUE", "VENUE_REQUIRED", "AMBIGUOUS_PARAMS", "UNKNOWN_TOOL"}
WRONG |= {"CATEGORY_UNKNOWN"}


GOOD_TOOLS = frozenset(PiTool)
CONTRADICTS = "the document does not take"


def is_documented(tool: str, body: dict[str, Any]) -> bool:
    """Whether the OpenAPI document takes the body."""
    return bool(Draft202012Validator(request_schema(tool)).is_valid(body))


def code_of(answer: Any) -> str:
    return "" if answer.status_code < 300 else str(answer.json().get("code", answer.status_code))


def follow(agent: Agent, refusal: dict[str, Any], tool: str, intent: dict[str, Any], made: dict[str, Any]) -> str:
    """Make the call that the refusal names; the code of what comes of it, empty for success."""
    call = refusal.get("next_call") or refusal.get("unfinished_call")
    if call is None:
        return "nothing taught"
    if any(name in intent for name in refusal.get("drops", ())):
        return f"would drop {refusal['drops']}"
    arguments = dict(call["arguments"])
    for name in refusal.get("fill", {}):
        if name not in intent:
            return f"asked for {name}, which was never wanted"
        arguments[name] = intent[name]
    answer = agent.post(call["tool"], arguments)
    if not code_of(answer) and not is_documented(call["tool"], arguments):
        return f"{CONTRADICTS} {call['tool']} {arguments}"
    if not code_of(answer) and "then" in refusal:
        answer = agent.post(tool, made)
    if not code_of(answer) and "permit_id" in answer.json() and call["tool"] == "preview_action":
        agent.post("cancel_action", {"permit_id": answer.json()["permit_id"], "reason": "only a lesson"})
    return code_of(answer)


def put(value: Any, stands_for: dict[str, str]) -> Any:
    """`value` with what is written in it for something else replaced by that."""
    if isinstance(value, dict):
        return {name: put(each, stands_for) for name, each in value.items()}
    if isinstance(value, list):
        return [put(each, stands_for) for each in value]
    return stands_for.get(value, value) if isinstance(value, str) else value


def test_of_over_sixty_typical_mistakes_nearly_all_are_put_right_by_one_more_call(door: Door) -> None:
    agent = door.agent
    agent.golem.profiles.set(ToolProfile.objects.filter(name="full"))
    key = ApiKey.objects.filter(pk=agent.key.key.pk)
    assert len(MISTAKES) > 60
    failed, contradicted = [], []
    for number, (meant, tool, wrongly) in enumerate(MISTAKES, start=1):
        # Each agent is a new one: what an earlier lesson loaded is not there.
        key.update(most_tools=MOST_TOOLS, loaded_tools=[])
        permit = PERMIT
        if tool in ("commit_action", "cancel_action"):
            made_for_it = door.post("preview_action", {**SWAP, "amount": str(600_000_000 + number)})
            permit = made_for_it.get("permit_id") or str(made_for_it)
        stands_for = {
            PERMIT: permit,
            PERMIT.replace("-", ""): permit.replace("-", ""),
            AMOUNT: str(500_000_000 + number),
        }
        intent, made = put(meant, stands_for), put(wrongly, stands_for)
        first = agent.post(tool, made)
        assert code_of(first) in WRONG, (tool, made, first.content)
        if tool in GOOD_TOOLS and code_of(first) in REFUSED_AS_BODIES and is_documented(tool, made):
            contradicted.append((tool, made, code_of(first)))
        outcome = follow(agent, first.json(), tool, intent, made)
        if outcome.startswith(CONTRADICTS):
            contradicted.append((tool, made, outcome))
        if outcome:
            failed.append((tool, made, outcome, first.json().get("next_call"), first.json().get("fill")))
    assert len(failed) <= len(MISTAKES) * 5 // 100, "\n".join(map(str, failed))
    assert contradicted == [], "the OpenAPI document takes what is refused, or refuses what a refusal tells to send"


@pytest.mark.parametrize("tool", ["query_state", "commit_action", "search_context"])
def test_what_was_wrong_is_named_apart_from_what_is_missing(make_agent: MakeAgent, tool: str) -> None:
    agent = make_agent(categories=["trading"], most_tools=MOST_TOOLS)
    wrong = {"query_state": {"query": "quote", "from": "USDC"}, "commit_action": {"id": PERMIT, "x": 1}}
    problem = agent.post(tool, wrong.get(tool, {"q": "x"})).json()
    assert problem["extra"] and problem["missing"]
    assert not set(problem["extra"]) & set(problem["missing"])


def test_several_venues_are_the_callers_to_choose_between(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=EVERYTHING, most_tools=MOST_TOOLS)
    loading = {"query": "load_tools", "tools": ["lido_stake", "rocketpool_stake"]}
    assert agent.post("query_state", loading).status_code == 200
    problem = assert_problem(
        agent.post("preview_action", {"action_type": "stake", "amount": "1"}), 422, "VENUE_REQUIRED", "FIX_PARAMS"
    )
    assert len(problem["fill"]["venue"]["one_of"]) > 1
    assert "venue" not in problem["unfinished_call"]["arguments"]


def test_a_stranger_is_taught_nothing(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=["trading"], scopes=["read"], most_tools=MOST_TOOLS)
    refused = agent.post("commit_action", {"permit": PERMIT}).json()
    assert refused["code"] == "SCOPE_MISSING" and not {"next_call", "unfinished_call"} & set(refused)

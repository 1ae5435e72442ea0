"""Refusals that teach: an agent that reads nothing but the answer puts its mistake right with its next call.

The agent of these tests knows what it wants (`intent`) and one call of it, wrongly made. It makes the call that the
refusal names, with what `fill` asks for taken from its intent, and does nothing else. It acts for a golem with money on
the local chain: put right means done, by the permit, the commit or the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from archetypes_app.models import ApiKey, ToolProfile
from archetypes_app.tool_loadout import MOST_TOOLS
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
    ({**QUOTE, "slippage_bps": 50}, "query_state", {**QUOTE, "slippage": 50}),
    ({**QUOTE, "slippage_bps": 50}, "query_state", {**QUOTE, "slippage_bps": 20_000}),
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


ANY = "any that the answer offers"
"""Stands for what only the answer can tell: an id, a fee there is, how much is held."""
OWN = "the golem's own account"
MAINNET_USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
ETHER = str(10**18)
TRADE = {"token_in": "USDC", "token_out": "WETH", "amount": AMOUNT}
STAKE = {"action_type": "stake", "venue": "lido", "amount": ETHER}
LP = {
    "action_type": "add_liquidity",
    "venue": "uniswap",
    "token0": "USDC",
    "token1": "WETH",
    "price_lower": "0.0001",
    "price_upper": "0.001",
    "amount0": AMOUNT,
}
SUMMARY = {"query": "lending_summary", "venue": "aave"}
BOUGHT = {**SWAP, "amount": "10000000000000000", "exact_output": True}

# Those that were found by agents that others wrote: about money above all, with what the answer has to tell.
FURTHER: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({**SWAP, "amount": ANY}, "preview_action", {**SWAP, "amount": "max"}),
    ({**SWAP, "amount": ANY}, "preview_action", {**SWAP, "amount": "all"}),
    ({**SWAP, "amount": ANY}, "preview_action", {**SWAP, "amount": str(2**256 - 1)}),
    ({**SWAP, "amount": ANY}, "preview_action", {**SWAP, "amount": str(10**30)}),
    (SWAP, "preview_action", {**SWAP, "amount": "500 USDC"}),
    (SWAP, "preview_action", {**SWAP, "amount": "500,000,000"}),
    (SWAP, "preview_action", {**SWAP, "amount": 5e20}),
    (SWAP, "preview_action", {**SWAP, "amount": -500}),
    ({**SWAP, "token_in": ANY}, "preview_action", {**SWAP, "token_in": MAINNET_USDC}),
    ({**SWAP, "token_in": ANY}, "preview_action", {**SWAP, "token_in": OWN}),
    (SWAP, "preview_action", {**SWAP, "token_in": "USDX"}),
    (SWAP, "preview_action", {**SWAP, "token_in": "usd coin"}),
    ({**SWAP, "chain_id": 31337}, "preview_action", {**SWAP, "chain_id": "Local chain"}),
    ({**SWAP, "chain_id": 31337}, "preview_action", {**SWAP, "chain": "local"}),
    ({**SWAP, "chain_id": 31337}, "preview_action", {**SWAP, "chain_id": "31337"}),
    ({**SWAP, "chain_id": 31337}, "preview_action", {**SWAP, "network": 31337}),
    ({**SWAP, "slippage_bps": 50}, "preview_action", {**SWAP, "slippage": 0.5}),
    ({**SWAP, "slippage_bps": 100}, "preview_action", {**SWAP, "slippage": 1}),
    ({**SWAP, "slippage_bps": 50}, "preview_action", {**SWAP, "slippage_bps": 0.5}),
    (BOUGHT, "preview_action", {**BOUGHT, "exact_output": "yes"}),
    (BOUGHT, "preview_action", {**BOUGHT, "exact_output": "true"}),
    (SWAP, "preview_action", {**SWAP, "recipient": OWN}),
    (SWAP, "preview_action", {**SWAP, "min_amount_out": "1"}),
    (SWAP, "preview_action", {"action_type": "uniswap_execute_swap", **TRADE}),
    (SWAP, "preview_action", {"action_type": "swap", "venue": "uniswap", "params": '{"token_in": "USDC"}'} | TRADE),
    (SWAP, "query_state", {"query": "swap", "venue": "uniswap", **TRADE}),
    (SWAP, "swap", {"venue": "uniswap", **TRADE}),
    (SWAP, "uniswap_execute_swap", dict(TRADE)),
    (QUOTE, "preview_action", {"action_type": "quote", "venue": "uniswap", **TRADE}),
    (QUOTE, "quote", {"venue": "uniswap", **TRADE}),
    (PRICE, "token_price", {"token": "WETH"}),
    ({"permit_id": ANY}, "commit_action", {"permit_id": "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5e"}),
    ({**CANCEL, "permit_id": ANY}, "cancel_action", {**CANCEL, "permit_id": "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5e"}),
    (SUMMARY, "query_state", dict(SUMMARY)),
    ({**SUMMARY, "account": OWN}, "query_state", {**SUMMARY, "account": "mine"}),
    ({**LP, "fee": ANY}, "preview_action", {**LP, "fee": 123}),
    (LP, "preview_action", {**{k: v for k, v in LP.items() if k[:5] != "token"}, "tokenA": "USDC", "tokenB": "WETH"}),
    (STAKE, "preview_action", {**STAKE, "amount": "1"}),
    (
        {"action_type": "claim_withdrawal", "venue": "lido", "request_ids": ANY},
        "preview_action",
        {"action_type": "claim_withdrawal", "venue": "lido", "request_ids": ["9999999"]},
    ),
    (
        {"action_type": "deposit", "venue": "erc4626", "vault": ANY, "amount": AMOUNT},
        "preview_action",
        {"action_type": "deposit", "venue": "erc4626", "vault": "USDC", "amount": AMOUNT},
    ),
    (
        {"action_type": "supply", "venue": "aave", "asset": "WETH", "amount": ETHER},
        "preview_action",
        {"action_type": "borrow", "venue": "aave", "asset": "USDC", "amount": "1000000000"},
    ),
    (PRICE, "query_state", {"query": "token_price", "token": ["WETH"]}),
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
    for name, asked in refusal.get("fill", {}).items():
        if name not in intent:
            return f"asked for {name}, which was never wanted"
        arguments[name] = intent[name] if intent[name] is not ANY else choose(name, asked)
    answer = agent.post(call["tool"], arguments)
    if not code_of(answer) and not is_documented(call["tool"], arguments):
        return f"{CONTRADICTS} {call['tool']} {arguments}"
    if not code_of(answer) and "then" in refusal:
        answer = agent.post(tool, made)
    if not code_of(answer) and "permit_id" in answer.json() and call["tool"] == "preview_action":
        agent.post("cancel_action", {"permit_id": answer.json()["permit_id"], "reason": "only a lesson"})
    return code_of(answer)


def choose(name: str, asked: dict[str, Any]) -> Any:
    """What an agent takes that knows nothing but the answer: the first that is offered, or what is held."""
    if "held" in asked:
        return asked["held"]["raw"]
    if not asked.get("one_of"):
        return None
    first = asked["one_of"][0]
    first = first[name] if isinstance(first, dict) else first
    return [first] if name.endswith("s") else first


def put(value: Any, stands_for: dict[str, str]) -> Any:
    """`value` with what is written in it for something else replaced by that."""
    if isinstance(value, dict):
        return {name: put(each, stands_for) for name, each in value.items()}
    if isinstance(value, list):
        return [put(each, stands_for) for each in value]
    return stands_for.get(value, value) if isinstance(value, str) else value


@pytest.mark.protocols("lido", "aave_v3", "erc4626")
def test_of_120_typical_mistakes_nearly_all_are_put_right_by_one_more_call(
    door: Door, record_property: Callable[[str, object], None]
) -> None:
    agent = door.agent
    agent.golem.profiles.set(ToolProfile.objects.filter(name="full"))
    key = ApiKey.objects.filter(pk=agent.key.key.pk)
    assert len(MISTAKES) + len(FURTHER) >= 120
    door.do("lido_unstake")
    failed, contradicted = [], []
    for number, (meant, tool, wrongly) in enumerate([*MISTAKES, *FURTHER], start=1):
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
            OWN: agent.golem.address,
        }
        intent, made = put(meant, stands_for), put(wrongly, stands_for)
        first = agent.post(tool, made)
        assert code_of(first) in WRONG or number > len(MISTAKES), (tool, made, first.content)
        if tool in GOOD_TOOLS and code_of(first) in REFUSED_AS_BODIES and is_documented(tool, made):
            contradicted.append((tool, made, code_of(first)))
        outcome = follow(agent, first.json(), tool, intent, made)
        if outcome.startswith(CONTRADICTS):
            contradicted.append((tool, made, outcome))
        if outcome:
            told = {name: first.json().get(name) for name in ("code", "next_call", "fill")}
            failed.append((tool, made, outcome, told))
    record_property("mistakes", len(MISTAKES) + len(FURTHER))
    record_property("mended", len(MISTAKES) + len(FURTHER) - len(failed))
    assert len(failed) <= (len(MISTAKES) + len(FURTHER)) * 5 // 100, "\n".join(map(str, failed))
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


@pytest.mark.parametrize("word", ["browse_tools", "load_tools"])
@pytest.mark.parametrize("category", ["restakng", "nothing like it", "derivatives"])
def test_a_category_that_is_not_there_is_answered_with_another_call_that_works(
    make_agent: MakeAgent, word: str, category: str
) -> None:
    agent = make_agent(categories=EVERYTHING)
    body = {"query": word, "category": category}
    refusal = agent.post("query_state", body).json()
    assert refusal["code"] == "CATEGORY_UNKNOWN" and refusal["next_call"]["arguments"] != body, refusal
    answer = agent.post(refusal["next_call"]["tool"], refusal["next_call"]["arguments"])
    assert answer.status_code == 200, answer.content

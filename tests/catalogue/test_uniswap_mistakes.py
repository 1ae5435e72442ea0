"""The ten likeliest mistakes at each folder of Uniswap, over HTTP: a code, words with what was wrong, what to do next;
a call that is taught says all that was said and is accepted; and nothing moves.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from tests.catalogue.door import Door
from tests.catalogue.services import lend_services
from tests.catalogue.test_uniswap_folders import OWN, TESTS, folder_of
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

TEN: Final = 10
MOST: Final = str(10**30)
NOBODY: Final = "0x" + "00" * 20
HASH: Final = "0x" + "11" * 32
Mistake = tuple[dict[str, Any], str, str]
"""What is asked, the code of the answer, and a word or figure that it has to say."""

SWAP: Final = {
    "action_type": "swap",
    "venue": "uniswap",
    "token_in": "USDC",
    "token_out": "WETH",
    "amount": "500000000",
}
ADD: Final = {
    "action_type": "add_liquidity",
    "venue": "uniswap",
    "token0": "WETH",
    "token1": "USDC",
    "price_lower": "2700",
    "price_upper": "3300",
    "amount0": str(10**17),
}
API: Final = {**SWAP, "action_type": "api_swap"}
SLOW: Final = {
    "action_type": "submit_twamm_order",
    "venue": "uniswap_twamm",
    "token_in": "DAI",
    "token_out": "WETH",
    "amount": str(10**20),
    "duration": "4h",
}
ORDER: Final = {
    "action_type": "submit_order",
    "venue": "uniswap_x",
    "token_in": "DAI",
    "token_out": "WETH",
    "amount": str(10**20),
    "order_type": "limit",
    "limit_amount_out": str(10**16),
}
BURN: Final = {"action_type": "burn", "venue": "firepit", "assets": ["ETH", "USDC"]}


def without(body: dict[str, Any], *names: str, **more: Any) -> dict[str, Any]:
    return {**{name: value for name, value in body.items() if name not in names}, **more}


MISTAKES: Final[dict[str, tuple[Mistake, ...]]] = {
    "uniswap": (
        (without(SWAP, "token_in", tokenIn="USDC"), "INVALID_PARAMS", "token_in"),
        ({**SWAP, "amount": "1.5"}, "INVALID_PARAMS", "amount"),
        ({**SWAP, "slippage_bps": "1%"}, "INVALID_PARAMS", "slippage_bps"),
        ({**SWAP, "token_out": "WETHH"}, "TOKEN_NOT_FOUND", "WETHH"),
        ({**SWAP, "token_out": "USDC"}, "ROUTING_SAME_TOKEN", "USDC"),
        ({**SWAP, "amount": MOST}, "INSUFFICIENT_BALANCE", "USDC"),
        ({**SWAP, "chain_id": 999_999}, "CHAIN_NOT_SUPPORTED", "999999"),
        ({**ADD, "price_lower": "3300", "price_upper": "2700"}, "INVALID_RANGE", "price"),
        (without(ADD, "amount0"), "INVALID_PARAMS", "amount"),
        (
            {"action_type": "remove_liquidity", "venue": "uniswap", "position_id": "999999"},
            "POSITION_NOT_FOUND",
            "999999",
        ),
    ),
    "uniswap.trading_api": (
        (without(API, "token_in", tokenIn="USDC"), "INVALID_PARAMS", "token_in"),
        ({**API, "amount": "1.5"}, "INVALID_PARAMS", "amount"),
        ({**API, "slippage_bps": "1%"}, "INVALID_PARAMS", "slippage_bps"),
        ({**API, "token_out": "WETHH"}, "TOKEN_NOT_FOUND", "WETHH"),
        ({**API, "token_out": "USDC"}, "ROUTING_SAME_TOKEN", "USDC"),
        ({**API, "amount": MOST}, "INSUFFICIENT_BALANCE", "USDC"),
        ({**API, "chain_id": 999_999}, "CHAIN_NOT_SUPPORTED", "999999"),
        (
            {"action_type": "api_collect_fees", "venue": "uniswap", "position_id": "999999"},
            "POSITION_NOT_FOUND",
            "999999",
        ),
        (
            {"action_type": "api_remove_liquidity", "venue": "uniswap", "position_id": "1", "liquidity_pct": 101},
            "INVALID_PARAMS",
            "liquidity_pct",
        ),
        (
            {"query": "api_swap_status", "venue": "uniswap", "transaction_hashes": ["0x12"]},
            "INVALID_PARAMS",
            "transaction_hashes",
        ),
    ),
    "uniswap_twamm": (
        (without(SLOW, "token_in", tokenIn="DAI"), "INVALID_PARAMS", "token_in"),
        ({**SLOW, "amount": "1.5"}, "INVALID_PARAMS", "amount"),
        ({**SLOW, "duration": "2h"}, "INVALID_PARAMS", "duration"),
        ({**SLOW, "slippage_bps": "1%"}, "INVALID_PARAMS", "slippage_bps"),
        ({**SLOW, "token_out": "WETHH"}, "TOKEN_NOT_FOUND", "WETHH"),
        ({**SLOW, "token_out": "DAI"}, "TWAMM_TERMS_REFUSED", "the same"),
        ({**SLOW, "token_in": "ETH"}, "TWAMM_TERMS_REFUSED", "wrap ETH"),
        ({**SLOW, "amount": MOST}, "INSUFFICIENT_BALANCE", "DAI"),
        ({**SLOW, "chain_id": 1}, "CHAIN_NOT_SUPPORTED", "1"),
        (
            {"action_type": "cancel_twamm_order", "venue": "uniswap_twamm", "order_id": "999999"},
            "TWAMM_ORDER_UNKNOWN",
            "999999",
        ),
    ),
    "uniswap_x": (
        (without(ORDER, "token_in", tokenIn="DAI"), "INVALID_PARAMS", "token_in"),
        ({**ORDER, "amount": "1.5"}, "INVALID_PARAMS", "amount"),
        ({**ORDER, "order_type": "market"}, "INVALID_PARAMS", "order_type"),
        ({**ORDER, "token_out": "WETHH"}, "TOKEN_NOT_FOUND", "WETHH"),
        ({**ORDER, "token_out": "DAI"}, "ORDER_TERMS_REFUSED", "same"),
        (without(ORDER, "limit_amount_out"), "ORDER_TERMS_REFUSED", "limit_amount_out"),
        (ORDER, "ORDER_NEEDS_APPROVAL", "DAI"),
        ({**ORDER, "amount": MOST}, "INSUFFICIENT_BALANCE", "DAI"),
        ({**ORDER, "chain_id": 999_999}, "CHAIN_NOT_SUPPORTED", "999999"),
        ({"query": "uniswapx_order", "venue": "uniswap_x", "order_hash": HASH}, "ORDER_UNKNOWN", HASH),
    ),
    "firepit": (
        (without(BURN, "assets", asset="ETH"), "INVALID_PARAMS", "assets"),
        ({**BURN, "assets": []}, "INVALID_PARAMS", "assets"),
        ({**BURN, "assets": "ETH"}, "INVALID_PARAMS", "assets"),
        ({**BURN, "amount": "1"}, "INVALID_PARAMS", "amount"),
        ({**BURN, "assets": ["USDT"]}, "JAR_HOLDS_NONE", "USDT"),
        ({**BURN, "assets": ["USDC"]}, "BURN_NOT_WORTH_IT", "4000"),
        ({**BURN, "assets": ["USDC", "USDC"]}, "BURN_ASSETS_REFUSED", "twice"),
        ({**BURN, "assets": ["DAI", "USDC"]}, "BURN_ASSETS_REFUSED", "DAI"),
        ({**BURN, "assets": ["WETHH"]}, "TOKEN_NOT_FOUND", "WETHH"),
        ({**BURN, "chain_id": 999_999}, "CHAIN_NOT_SUPPORTED", "999999"),
    ),
    "hook": (
        ({"query": "hook_template", "kind": "counters"}, "INVALID_PARAMS", "kind"),
        ({"query": "hook_template", "kind": "zzz"}, "INVALID_PARAMS", "kind"),
        ({"query": "hook_template", "chain_id": 999_999}, "CHAIN_NOT_SUPPORTED", "999999"),
        ({"query": "hooks", "token_c": "WETH"}, "INVALID_PARAMS", "token_c"),
        ({"query": "hooks", "token": "WETH"}, "INVALID_PARAMS", "token"),
        ({"query": "hooks", "chain_id": 999_999}, "CHAIN_NOT_SUPPORTED", "999999"),
        ({"query": "hook_safety", "pool": "0x12"}, "INVALID_PARAMS", "pool"),
        ({"query": "hook_safety", "pool": HASH}, "POOL_NOT_FOUND", HASH),
        ({"query": "hook_safety"}, "INVALID_PARAMS", "pool"),
        ({"query": "hook_safety", "pool_id": HASH}, "INVALID_PARAMS", "pool"),
    ),
}
WORLDS: Final = {
    "uniswap": ("uniswap_v4",),
    "uniswap.trading_api": (),
    "uniswap_twamm": ("uniswap_twamm",),
    "uniswap_x": ("uniswap_x",),
    "firepit": ("firepit",),
    "hook": ("uniswap_v4",),
}


def test_ten_mistakes_of_each_folder_are_tried() -> None:
    assert set(MISTAKES) == set(TESTS)
    for folder, mistakes in MISTAKES.items():
        assert len({json.dumps(body, sort_keys=True) for body, _, _ in mistakes}) >= TEN, folder


def ask(door: Door, body: dict[str, Any]) -> dict[str, Any]:
    return door.post("preview_action" if "action_type" in body else "query_state", body)


def find_wrong(door: Door, body: dict[str, Any], code: str, said: str) -> str:
    problem = ask(door, body)
    if problem.get("code") != code or not 400 <= problem["http"] < 500:
        return f"{problem['http']} {problem.get('code')}: {problem.get('detail')}"
    if said not in json.dumps(problem) or not all(problem.get(each) for each in ("title", "detail", "recovery")):
        return f"says nothing of {said}: {problem}"
    call = problem.get("next_call")
    if call is None:
        return ""
    if not _flatten(body) <= _flatten(call["arguments"]):
        return f"teaches something else: {call}"
    again = door.post(call["tool"], call["arguments"])
    return f"teaches what is refused: {again}" if again.get("code") == code else ""


def _flatten(body: dict[str, Any]) -> set[str]:
    """Everything that is said, whether alone or in a list."""
    return {str(each) for value in body.values() for each in (value if isinstance(value, list) else [value])}


@pytest.mark.parametrize(
    "folder", [pytest.param(each, marks=pytest.mark.protocols(*WORLDS[each])) for each in MISTAKES]
)
def test_what_is_likely_to_be_asked_wrongly_is_refused_in_words_and_moves_nothing(door: Door, folder: str) -> None:
    golem = door.stage.live.golem
    for tool in REGISTRY:
        module = tool.handler.__module__
        if module.startswith(OWN) and folder_of(module) == folder:
            ToolOverride.objects.get_or_create(
                golem=golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
            )
            if isinstance(tool, WriteTool) and folder == "uniswap.trading_api":
                lend_services(door.stage.live, tool)
    before = door.stage.wallet()
    wrong = [(body, found) for body, code, said in MISTAKES[folder] if (found := find_wrong(door, body, code, said))]
    assert not wrong, "\n".join(f"{body}\n    {found}" for body, found in wrong)
    assert door.stage.wallet() == before

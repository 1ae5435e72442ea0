"""How a read that follows another is called: by what its parameters mean, and from what was answered."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import open_stage
from tests.live_golem import LiveGolem
from tests.tools_app.test_speculation import _ask, _close, _know, _nothing_known, ahead
from tools_app.toolkit.case import Case
from tools_app.toolkit.chained_read_params import list_from_answer, list_from_params
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.registry import REGISTRY

__all__ = ["_nothing_known", "ahead"]


def test_a_quoted_call_is_simulated_ahead_as_its_answer_writes_it(shared_golem: LiveGolem, ahead: list[str]) -> None:
    archetype = _know(shared_golem, first="uniswap_get_quote", second="safety_simulate_transaction")
    sold = {"token_in": "ETH", "token_out": "USDC", "amount": str(10**17)}
    plain = _ask(shared_golem, "quote", **sold)["data"]
    assert plain["call"] is None and ahead == [], "without the call there is nothing to simulate"
    call = _ask(shared_golem, "quote", **sold, call=True)["data"]["call"]
    told = _ask(shared_golem, "simulate_transaction", **call)["data"]
    assert ahead == ["safety_simulate_transaction"] and call["value"] == sold["amount"]
    assert told["success"] and {each["symbol"] for each in told["balance_changes"]} >= {"USDC"}
    assert _close(shared_golem, archetype) == (1, 0)


@pytest.mark.protocols("aave_v3")
def test_prices_that_move_a_health_factor_are_read_ahead(shared_golem: LiveGolem, ahead: list[str]) -> None:
    open_stage(shared_golem, load_cases()).prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=("aave_supply",)))
    ToolOverride.objects.create(golem=shared_golem.golem, tool_name="aave_get_health_factor", mode="INCLUDE")
    archetype = _know(shared_golem, first="aave_get_health_factor", second="data_get_token_price")
    told = _ask(shared_golem, "health_factor", account=shared_golem.golem.address)["data"]
    (lent,) = [each["token"]["symbol"] for each in told["assets"]]
    _ask(shared_golem, "token_price", token=lent)
    assert ahead == ["data_get_token_price"]
    assert _close(shared_golem, archetype) == (1, 0)


def test_what_one_tool_calls_otherwise_than_another_is_known_by_what_it_means() -> None:
    def calls(name: str, params: dict[str, Any], answer: Any = None) -> list[Any]:
        find = list_from_params(params) if answer is None else list_from_answer(params, answer)
        return [each[0] for each in find(REGISTRY.get(name))]

    pair = {"token0": "WETH", "token1": "USDC"}
    assert calls("uniswap_get_quote", {**pair, "amount": "1"}) == [
        {"token_in": "WETH", "token_out": "USDC", "amount": "1"}
    ]
    assert calls("data_get_pools_by_token_pair", {"token_in": "WETH", "token_out": "USDC"}) == [pair]
    account = "0x" + "11" * 20
    assert calls("aave_get_user_summary", {"wallet_address": account}) == [{"account": account}]
    assert calls("wallet_detect_account_type", {"account": account}) == [{"address": account}]
    # An address in an answer is a token's as likely as an account's.
    assert calls("aave_get_user_summary", {}, {"token": {"address": account, "symbol": "USDC"}}) == []
    assert calls("data_get_position", {"account": account}, {"position_id": "12"}) == [{"token_id": "12"}]
    assert calls("intel_estimate_revert_risk", {"pool": account, "amount_usd": "500"}) == [
        {"pool": account, "trade_size_usd": "500"}
    ]
    # Two parameters are taken from one object of the answer, and from no two of them where one has both.
    written = {"other": {"to": account}, "call": {"to": "0x" + "22" * 20, "data": "0x1234", "value": "7"}}
    assert calls("safety_simulate_transaction", {}, written) == [written["call"]]

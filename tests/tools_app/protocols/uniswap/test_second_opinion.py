"""Uniswap's SDKs beside our routes on the real contracts: their opinion, their bytes, and lies in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

import tools_app.protocols.uniswap.tools.second_opinion  # noqa: F401  declares the tools
from golem_project.runtime.sdk_socket import SdkSocket
from tests.evm.world import World
from tests.official_sdk import run_sdk
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.uniswap.test_liquidity import rich_account
from tools_app.core.errors import GolemError
from tools_app.toolkit.official_sdk import OfficialSdk
from tools_app.toolkit.plan import TxPlan

M = TypeVar("M", bound=BaseModel)

pytestmark = pytest.mark.protocols("uniswap_v4")

SWAPS = (
    ("USDC", "WETH", 5_000 * 10**6),
    ("WETH", "USDC", 10**18),
    ("WBTC", "USDC", 10**7),
    ("DAI", "USDC", 3_000 * 10**18),
    ("DAI", "WBTC", 3_000 * 10**18),
    ("USDT", "WETH", 500 * 10**6),
)


@pytest.fixture(scope="module")
def sdk() -> Iterator[SdkSocket]:
    with run_sdk() as path:
        yield SdkSocket(path)


class Liar:
    """Answers as the real one does, with some of it changed."""

    def __init__(self, real: SdkSocket, **changes: Any) -> None:
        self.real, self.changes = real, changes

    def ask(self, op: str, args: Mapping[str, Any], shape: type[M]) -> M:
        told = self.real.ask(op, {**args, **self.changes.get("asks", {})}, shape)
        return shape.model_validate({**told.model_dump(), **self.changes.get("says", {})})


def services(sdk: Any) -> dict[type, object]:
    return {OfficialSdk: sdk}


@pytest.mark.parametrize(("sold", "bought", "amount"), SWAPS)
def test_ours_and_the_sdks_route_give_the_same_and_its_figure_is_the_chain_s_to_the_base_unit(
    chain: World, sdk: SdkSocket, sold: str, bought: str, amount: int
) -> None:
    ctx = make_context(chain, address=rich_account(chain).address, services=services(sdk))
    told = answer_of(ctx, "uniswap_get_second_opinion", token_in=sold, token_out=bought, amount=str(amount))
    assert told["sdk_said"] == told["sdk"]["amount_out"]
    assert told["sdk_gives_more_bps"] <= 0
    assert told["pools_compared"] >= 1


@pytest.mark.parametrize(("sold", "bought", "amount"), SWAPS[:5])
def test_its_calldata_is_carried_out_as_our_own_plan_promises(
    chain: World, sdk: SdkSocket, sold: str, bought: str, amount: int
) -> None:
    account = rich_account(chain)
    params = {"token_in": sold, "token_out": bought, "amount": str(amount)}
    ctx = make_context(chain, address=account.address, services=services(sdk))
    try:
        plan: TxPlan = call_tool(ctx, "uniswap_sdk_swap", **params)
    except GolemError as refused:
        # Where the best way mixes versions, its bytes within one give less than ours must.
        assert (refused.code, refused.data["field"]) == ("FOREIGN_CALL_REFUSED", "receives")
        return
    outcome = run_plan(chain, account, plan)
    (given,), (wanted,) = plan.spends, plan.receives
    assert outcome.deltas[given.token.address] == -amount
    assert outcome.deltas[wanted.token.address] >= wanted.bound
    assert report_of("uniswap_sdk_swap", outcome)["amount_in"] == str(amount)


def test_bytes_that_pay_another_ask_for_less_run_longer_or_do_something_else_are_refused(
    chain: World, sdk: SdkSocket
) -> None:
    account = rich_account(chain)
    params = {"token_in": "USDC", "token_out": "WETH", "amount": str(5_000 * 10**6)}
    lies: dict[str, dict[str, Any]] = {
        "recipient": {"asks": {"recipient": "0x" + "66" * 20}},
        "receives": {"asks": {"slippage_bps": 900}},
        "deadline": {"asks": {"deadline": 4_000_000_000}},
        "spends": {"asks": {"amount": str(6_000 * 10**6)}},
        "coin": {"says": {"value": "1"}},
        "calldata": {"says": {"data": "0xdeadbeef"}},
    }
    for field, changes in lies.items():
        ctx = make_context(chain, address=account.address, services=services(Liar(sdk, **changes)))
        with pytest.raises(GolemError) as caught:
            call_tool(ctx, "uniswap_sdk_swap", **params)
        assert caught.value.code == "FOREIGN_CALL_REFUSED", field
    ctx = make_context(chain, address=account.address, services=services(sdk))
    with pytest.raises(GolemError) as caught:
        call_tool(ctx, "uniswap_sdk_swap", token_in="ETH", token_out="USDC", amount=str(10**17))
    assert caught.value.code == "INVALID_PARAMS"


def test_an_opinion_that_lies_is_seen_beside_what_the_chain_says(chain: World, sdk: SdkSocket) -> None:
    params = {"token_in": "USDC", "token_out": "WETH", "amount": str(5_000 * 10**6)}
    account = rich_account(chain).address
    boast = make_context(chain, address=account, services=services(Liar(sdk, says={"amount_out": "9" * 30})))
    told = answer_of(boast, "uniswap_get_second_opinion", **params)
    assert int(told["sdk_said"]) == int("9" * 30) and told["sdk_gives_more_bps"] <= 0
    for pools in ([999], [0, 0]):
        astray = make_context(chain, address=account, services=services(Liar(sdk, says={"pools": pools})))
        with pytest.raises(GolemError) as caught:
            answer_of(astray, "uniswap_get_second_opinion", **params)
        assert (caught.value.code, caught.value.data["reason"]) == ("SDK_FALLBACK_UNAVAILABLE", "route")
    nobody = make_context(chain, address=account, services=services(SdkSocket(None)))
    for tool in ("uniswap_get_second_opinion", "uniswap_sdk_swap"):
        with pytest.raises(GolemError) as caught:
            call_tool(nobody, tool, **params)
        assert caught.value.code == "SDK_FALLBACK_UNAVAILABLE"
    # Our own routing needs none of it.
    assert call_tool(nobody, "uniswap_execute_swap", **params).calls

"""What may only fall in the wallet comes out of a Morpho market with its sale, lent or as collateral."""

from __future__ import annotations

import pytest

from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.measured import Golem
from tests.tools_app.protocols.morpho_blue.golem import ETH, USDC, make_golem, pass_time, usdc_market
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.retiring_tokens import OnlyFalling

pytestmark = pytest.mark.protocols("morpho")


def context(chain: World, golem: Golem, symbol: str, *, base_asset: str = "USDC") -> WriteContext:
    """Of a golem whose cage lets this token only fall."""
    falling = frozenset({chain.tokens[symbol].address})
    services: dict[type, object] = {OnlyFalling: lambda *, golem_id, chain_id: falling}
    return make_context(chain, address=golem.address, base_asset=base_asset, services=services)


def test_collateral_that_retires_is_sold_whole(chain: World) -> None:
    golem, weth = make_golem(chain), chain.tokens["WETH"].address
    golem.act("morpho_supply_market", market_id=usdc_market(), amount=str(2 * ETH), asset="WETH")
    held = chain.rpc.balance_of(weth, golem.address)
    asked = {"market_id": usdc_market(), "amount": "max", "asset": "WETH"}
    plan = call_tool(context(chain, golem, "WETH"), "morpho_withdraw_market", **asked)
    outcome = run_plan(chain, golem.account, plan)
    assert chain.rpc.balance_of(weth, golem.address) == held and golem.positions() == ()
    assert outcome.deltas[chain.tokens["USDC"].address] >= plan.receives[1].bound > 5_900 * USDC
    assert report_of("morpho_withdraw_market", outcome)["assets_withdrawn"] == str(2 * ETH)


def test_what_is_lent_and_retires_is_sold_and_its_interest_stays(chain: World) -> None:
    golem, usdc = make_golem(chain), chain.tokens["USDC"].address
    golem.act("morpho_supply_market", market_id=usdc_market(), amount=str(9_000 * USDC))
    held = chain.rpc.balance_of(usdc, golem.address)
    asked = {"market_id": usdc_market(), "amount": "max"}
    plan = call_tool(context(chain, golem, "USDC", base_asset="DAI"), "morpho_withdraw_market", **asked)
    pass_time(chain, 60)
    run_plan(chain, golem.account, plan)
    assert chain.rpc.balance_of(usdc, golem.address) == held
    [position] = golem.positions()
    assert 0 < position.raw_of(usdc) < USDC // 10


def test_a_debt_is_paid_and_collateral_that_retires_stays_for_a_withdrawal_of_its_own(chain: World) -> None:
    golem = make_golem(chain)
    golem.act("morpho_supply_market", market_id=usdc_market(), amount=str(2 * ETH), asset="WETH")
    golem.act("morpho_borrow_market", market_id=usdc_market(), amount=str(1_000 * USDC))
    asked = {"market_id": usdc_market(), "amount": "max", "withdraw_collateral": True}
    plan = call_tool(context(chain, golem, "WETH"), "morpho_repay_market", **asked)
    assert plan.receives == () and "WETH: it retires" in plan.details["left_behind"][0]
    run_plan(chain, golem.account, plan)
    [position] = golem.positions()
    assert [leg.token for leg in position.legs] == [chain.tokens["WETH"].address]

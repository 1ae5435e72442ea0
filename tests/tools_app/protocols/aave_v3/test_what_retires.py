"""What may only fall in the wallet comes out of Aave with its sale: as much as was there, not what it earns since."""

from __future__ import annotations

import pytest

from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.aave_v3.desk import DAI, ETH, USD, Desk, open_desk
from tools_app.standards.retiring_sales import RetiringUnsold
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.retiring_tokens import OnlyFalling

pytestmark = pytest.mark.protocols("aave_v3")


def context(desk: Desk, *symbols: str) -> WriteContext:
    """Of a golem whose cage lets these tokens only fall."""
    falling = frozenset(desk.token(symbol) for symbol in symbols)
    return make_context(desk.chain, address=desk.address, services={OnlyFalling: lambda *, golem_id, chain_id: falling})


def withdraw(desk: Desk, *symbols: str, amount: str = "max") -> TxPlan:
    plan: TxPlan = call_tool(context(desk, *symbols), "aave_withdraw", asset="WETH", amount=amount)
    return plan


def let_it_earn(desk: Desk) -> None:
    """Somebody borrows a good part of what is lent."""
    other = open_desk(desk.chain, USDC=10**13)
    other.do("aave_supply", asset="USDC", amount=str(10**13))
    other.do("aave_borrow", asset="WETH", amount=str(1_500 * ETH))


def test_as_much_as_was_there_is_sold_and_what_it_earned_meanwhile_stays(chain: World) -> None:
    desk = open_desk(chain)
    desk.do("aave_supply", asset="WETH", amount=str(2 * ETH))
    let_it_earn(desk)
    plan, held = withdraw(desk, "WETH"), chain.rpc.balance_of(desk.token("WETH"), desk.address)
    chain.rpc.call("evm_increaseTime", 60)
    outcome = run_plan(chain, desk.account, plan)
    assert chain.rpc.balance_of(desk.token("WETH"), desk.address) == held
    assert outcome.deltas[desk.token("USDC")] >= plan.receives[1].bound > 5_900 * USD
    assert plan.action_class is ActionClass.DECREASE_POSITION
    assert report_of("aave_withdraw", outcome)["assets_withdrawn"] == plan.details["sold_with_it"]
    position = desk.position()
    assert position is not None and 0 < position.raw_of(desk.token("WETH")) < ETH // 10**5


def test_what_no_market_buys_is_refused_with_its_amount(chain: World) -> None:
    desk = open_desk(chain)
    desk.do("aave_supply", asset="WETH", amount=str(ETH))
    with pytest.raises(RetiringUnsold) as refused:
        withdraw(desk, "WETH", amount="100")
    assert refused.value.data == {"token": desk.token("WETH"), "amount": "100"}


@pytest.mark.parametrize("amount", [10**9, 10**11, 3 * 10**11])
def test_what_a_sale_alone_would_lose_more_of_by_rounding_than_a_cage_allows_is_refused_with_its_amount(
    amount: int, chain: World
) -> None:
    desk = open_desk(chain)
    desk.do("aave_supply", asset="WETH", amount=str(ETH))
    with pytest.raises(RetiringUnsold) as refused:
        withdraw(desk, "WETH", amount=str(amount))
    assert refused.value.data == {"token": desk.token("WETH"), "amount": str(amount)}
    assert withdraw(desk, "WETH", amount=str(4 * amount + 10**12)).calls


def test_beside_the_base_asset_that_falls_too_nothing_is_sold(chain: World) -> None:
    desk = open_desk(chain)
    desk.do("aave_supply", asset="WETH", amount=str(ETH))
    assert len(withdraw(desk, "WETH", "USDC").calls) == 1


def test_the_last_debt_is_paid_and_what_retires_stays_for_a_withdrawal_of_its_own(chain: World) -> None:
    desk = open_desk(chain)
    desk.do("aave_supply", asset="WETH", amount=str(2 * ETH))
    desk.do("aave_borrow", asset="DAI", amount=str(500 * DAI))
    asked = {"asset": "DAI", "amount": "max", "withdraw_collateral": True}
    plan = call_tool(context(desk, "WETH"), "aave_repay", **asked)
    assert plan.receives == () and "WETH: it retires" in plan.details["left_behind"][0]
    run_plan(chain, desk.account, plan)
    position = desk.position()
    assert position is not None and [leg.token for leg in position.legs] == [desk.token("WETH")]


def test_where_nothing_retires_the_base_asset_need_not_be_known(chain: World) -> None:
    desk = open_desk(chain)
    desk.do("aave_supply", asset="WETH", amount=str(ETH))
    stranger = make_context(chain, address=desk.address, base_asset="EURX", services={})
    assert len(call_tool(stranger, "aave_withdraw", asset="WETH", amount="max").calls) == 1

"""A live golem with a loan at the local Aave, and the price of its collateral."""

from __future__ import annotations

from typing import Any

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from tests.live_golem import LiveGolem
from tests.tools_app.factories import call_tool, make_context
from tools_app.portfolio.holdings import measure_holdings
from tools_app.toolkit.plan import TxPlan

ETH, USD = 10**18, 10**6
LENDER = "aave_v3"
TOOLS = ("lending_auto_deleverage", "aave_repay", "aave_withdraw", "aave_supply", "aave_borrow")


def include(live: LiveGolem, *tools: str) -> None:
    for tool in tools:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool, mode=OverrideMode.INCLUDE)


def plan(live: LiveGolem, tool: str, **params: Any) -> TxPlan:
    made: TxPlan = call_tool(make_context(live.world, address=live.golem.address), tool, **params)
    return made


def carry_out(live: LiveGolem, made: TxPlan) -> None:
    """As the golem, past every rule: what is there afterwards is what the tripwire meets."""
    world, account = live.world, live.golem.address
    world.rpc.call("anvil_impersonateAccount", account)
    for call in made.calls:
        request = {
            "from": account,
            "to": call.to,
            "data": "0x" + call.data.hex(),
            "value": hex(call.value),
            "gas": hex(3_000_000),
            "gasPrice": hex(world.fair_gas_price()),
        }
        assert world.wait(world.rpc.call("eth_sendTransaction", request))["status"] == "0x1", call.label
    world.rpc.call("anvil_stopImpersonatingAccount", account)


def lend_out(live: LiveGolem, *, supplied: int = 2 * ETH, borrowed: int = 2_400 * USD) -> None:
    """WETH in, USDC out: at 3,000 dollars and a threshold of 82.5% or so a health of about 2."""
    carry_out(live, plan(live, "aave_supply", asset="WETH", amount=str(supplied)))
    carry_out(live, plan(live, "aave_borrow", asset="USDC", amount=str(borrowed), interest_rate_mode="variable"))


def set_price(live: LiveGolem, dollars: int) -> None:
    """The feed of the local world, which the local Aave reads too."""
    world = live.world
    world.transact(world.actors.deployer, world.tokens["WETH"].feed, "setAnswer(int256)", dollars * 10**8)


def health(live: LiveGolem) -> int | None:
    """Measured as every rule measures it; None without debt."""
    chain = make_context(live.world).chain()
    held = measure_holdings(chain=chain, account=live.golem.address)
    return min((each.health_bps for each in held.positions if each.health_bps is not None), default=None)

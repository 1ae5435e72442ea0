"""A second lender of the same code is an address table: the whole way in and out on its own local market."""

from __future__ import annotations

import pytest

from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.protocol import SHELF

ETH = 10**18


@pytest.mark.protocols("aave_v3", "spark")
def test_a_loan_at_the_second_lender_touches_the_first_in_nothing(chain: World) -> None:
    account = chain.new_account(ETH, {"WETH": 2 * ETH, "DAI": 100 * ETH})

    def act(tool: str, **params: str) -> dict[str, str]:
        plan = call_tool(make_context(chain, address=account.address), tool, **params)
        into, spark = Effects(), SHELF.get("spark")
        assert spark is not None and spark.effects is not None
        for call in plan.calls:
            if spark.owns(31337, call.to):
                reader = make_context(chain).chain()
                spark.effects.read(call, earlier=(), account=account.address, chain=reader, into=into)
        assert [change.ref for change in into.changes] == [change.ref for change in plan.changes]
        told: dict[str, str] = report_of(tool, run_plan(chain, account, plan))
        return told

    act("spark_supply", asset="WETH", amount=str(2 * ETH))
    act("spark_borrow", asset="DAI", amount=str(2_000 * ETH))
    [position] = read_positions(chain=make_context(chain).chain(), account=account.address)
    assert str(position.ref) == f"spark/account/31337/{account.address}" and position.health_bps is not None
    both = answer_of(make_context(chain), "lending_compare_rates", asset="DAI", rate_type="supply")
    assert {row["protocol"] for row in both["rates"]} >= {"aave_v3", "spark"}
    assert len(answer_of(make_context(chain), "spark_get_user_summary", account=account.address)["borrowed"]) == 1
    assert act("spark_repay", asset="DAI", amount="max")["debt_remaining"] == "0"
    act("spark_withdraw", asset="WETH", amount="max")
    assert read_positions(chain=make_context(chain).chain(), account=account.address) == ()

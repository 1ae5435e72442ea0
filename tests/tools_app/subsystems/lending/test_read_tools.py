"""The dashboard of what is lent and owed: every figure of it beside one that is computed from the contracts alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.aave_v3.desk import Desk
from tests.tools_app.protocols.maker.test_vaults import WAD, make_golem, open_vault

PRICE = {"WETH": 3_000, "DAI": 1, "USDC": 1}
MILLI = Fraction(1, 1000)
UNIT = {"WETH": 10**18, "DAI": 10**18, "USDC": 10**6}


def is_near(told: Fraction | str, computed: Fraction | int, most: Fraction | int) -> bool:
    return abs(Fraction(told) - computed) <= most


def worth(leg: dict[str, Any]) -> Fraction:
    """Dollars of a leg, by the prices that the local feeds were set up with."""
    return Fraction(int(leg["amount"]), UNIT[leg["symbol"]]) * PRICE[leg["symbol"]]


@pytest.mark.protocols("aave_v3", "maker")
def test_the_dashboard_sums_all_lenders_and_its_health_is_that_of_the_worst_position(chain: World) -> None:
    golem = make_golem(chain, WETH=20 * WAD)
    open_vault(golem, ink=10 * WAD, drawn=8_000 * WAD)
    desk = Desk(chain, golem.account)
    desk.do("aave_supply", asset="WETH", amount=str(10 * WAD))
    desk.do("aave_borrow", asset="USDC", amount=str(15_000 * 10**6))
    told = answer_of(make_context(chain, address=golem.address), "lending_get_health_dashboard", account=golem.address)
    health = {row["position"].split("/")[0]: row["health_factor"] for row in told["positions"]}
    pool = chain.protocols["aave_v3"]["pool"]
    account = chain.rpc.read(
        pool, "getUserAccountData(address)", golem.address, returns="(uint256,uint256,uint256,uint256,uint256,uint256)"
    )
    # Aave says it in 18 digits; of Maker it is 30,000 dollars over 8,000 at a ratio of 145 percent.
    assert Fraction(health["aave_v3"]) == Fraction(account[5] // 10**16, 100)
    assert Fraction(health["maker"]) == Fraction(30_000 * 100 * 100 // (8_000 * 145), 100)
    assert Fraction(health["aave_v3"]) + Fraction(1, 2) < Fraction(health["maker"])
    assert told["overall_health_factor"] == health["aave_v3"]

    legs = [leg for row in told["positions"] for leg in row["legs"]]
    lent = [leg for leg in legs if leg["side"] == "supplied"]
    owed = [leg for leg in legs if leg["side"] == "owed"]
    supplied, borrowed = sum(map(worth, lent), Fraction()), sum(map(worth, owed), Fraction())
    for leg in legs:
        assert is_near(leg["value_usd"], worth(leg), MILLI)
    assert is_near(supplied, 60_000, 1) and is_near(borrowed, 23_000, 1)
    assert is_near(told["total_supplied_usd"], supplied, MILLI)
    assert is_near(told["total_borrowed_usd"], borrowed, MILLI)
    assert is_near(told["net_position_usd"], supplied - borrowed, MILLI)
    earned = sum((worth(leg) * Fraction(leg["apy"]) for leg in lent), Fraction())
    costs = sum((worth(leg) * Fraction(leg["apy"]) for leg in owed), Fraction())

    assert is_near(told["weighted_supply_apy"], earned / supplied, MILLI)
    assert is_near(told["weighted_borrow_apy"], costs / borrowed, MILLI)
    assert costs > earned, "what is paid is told as a loss"
    assert is_near(told["net_apy"], (earned - costs) / (supplied - borrowed), MILLI)
    assert Fraction(told["net_apy"]) < 0

"""Weeks of one golem in Uniswap's pools and orders: opened, earning, claimed, losing, closed; it adds up."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.models import ActionPermit
from permits_app.performance.nav_parts import sum_parts
from tests.catalogue.door import Door
from tests.catalogue.lives import CENT, DAI, ETH, USD, Life, go_with_the_chain
from tests.evm.world import World
from tests.tools_app.protocols.uniswap.test_liquidity import trade_back_and_forth
from tests.tools_app.protocols.uniswap.test_v4_liquidity import trade_back_and_forth as trade_back_and_forth_v4
from tools_app.protocols.uniswap.cases import CASES
from tools_app.toolkit.views import NATIVE

MOST_LOST_MICRO_USD = 60 * USD
"""What swaps of others, fees of pools and slippage may take of what moves in these weeks."""
PARAMS: dict[str, dict[str, Any]] = {each.id: dict(each.params) for each in CASES}


@pytest.fixture
def life(local_chain: World, door: Door, monkeypatch: pytest.MonkeyPatch) -> Life:
    return Life(door, go_with_the_chain(local_chain, monkeypatch))


def newest(life: Life) -> str:
    """The position that the last permit opened."""
    permit = ActionPermit.objects.filter(golem=life.golem, status="COMMITTED").order_by("-created_at")[0]
    return str(permit.result["data"]["position_id"])


@pytest.mark.protocols("uniswap_v4", "uniswap_mining", "uniswap_twamm")
def test_weeks_in_ranges_and_an_order_end_with_parts_that_add_up_to_the_cent(life: Life) -> None:
    world = life.door.stage.world
    began, first = life.value(), life.wallet_worth()
    assert abs(first - began.nav_micro_usd) <= CENT
    # Opened.
    life.act("uniswap_lp_add_liquidity", **{**PARAMS["uniswap_lp_add_liquidity"], "amount0": str(2 * ETH)})
    older = newest(life)
    life.act("uniswap_lp_add_liquidity", **PARAMS["uniswap_lp_add_v4"])
    life.act("uniswap_lp_submit_twamm_order", token_in="DAI", token_out="WETH", amount=str(600 * DAI), duration="4h")
    held, parts = life.live_a_week(began, late=USD)
    assert parts.price == parts.moved == 0 and parts.gas < 0

    # Earning: others trade through both pools.
    trade_back_and_forth(world, 500)
    trade_back_and_forth_v4(world, "tokens")
    held, parts = life.live_a_week(held, late=USD)
    assert parts.fees_and_interest > 0 == parts.price == parts.moved

    # Claimed.
    life.act("uniswap_lp_collect_fees", position_id=older)
    life.pay_in(500)
    held, parts = life.live_a_week(held, late=USD)
    assert (parts.price, parts.moved) == (0, 500 * USD)

    # Losing: the coin falls, in the feed and not in the pool, where the range counts at the feed.
    ether, was = life.ether_in(held), life.price_of(NATIVE)
    told = life.move_price("WETH", 98)
    held, parts = life.live_a_week(held, late=USD)
    fell = ether * (life.price_of(NATIVE) - was)
    assert parts.price < 0 and abs(parts.price - fell) <= abs(fell) // 50 and parts.gas == 0

    # Closed: the feed is where the pool is again, and its owner ends it.
    life.tell_price("WETH", told)
    life.take_everything_out(lambda: None)
    ended, parts = life.live_a_week(held, late=USD)
    assert sum(abs(each.micro_usd or 0) for each in ended.positions) <= CENT
    total = sum_parts(life.weeks)
    assert len(life.weeks) == 5 and abs(total.moved - life.paid_in) <= CENT
    assert abs(life.wallet_worth() - ended.nav_micro_usd) <= CENT
    assert abs(total.profit - (life.wallet_worth() - first - life.paid_in)) <= CENT
    assert total.gas < 0 and abs(total.slippage) < MOST_LOST_MICRO_USD

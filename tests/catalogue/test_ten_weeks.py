"""Ten weeks of one golem over lenders, vaults, pools, claims and restaking: what came of it adds up to the cent.

Beside the product's word stand balances, feeds and receipts.
"""

from __future__ import annotations

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.performance.nav_parts import sum_parts
from tests.catalogue.door import Door
from tests.catalogue.lives import CENT, CHAIN_ID, DAI, DAY, ETH, USD, Life, Moved, go_with_the_chain
from tests.evm.world import World
from tests.tools_app.protocols.eigenlayer.test_restaked import DELAY, slash
from tests.tools_app.protocols.pendle.next_market import open_next_market
from tools_app.protocols.pendle.addresses import find_places
from tools_app.toolkit.views import NATIVE

WORLDS = ("aave_v3", "ethena", "yearn", "curve", "pendle", "eigenlayer")


@pytest.fixture
def moved(local_chain: World, monkeypatch: pytest.MonkeyPatch) -> Moved:
    """It is five weeks before the market of claims is over."""
    (place,) = find_places(CHAIN_ID)
    expiry = int(local_chain.rpc.read(place.market, "expiry()", returns="(uint256)")[0])
    moved = go_with_the_chain(local_chain, monkeypatch)
    moved.pass_days(-((local_chain.timestamp() - expiry) // DAY) - 35)
    return moved


@pytest.fixture
def life(moved: Moved, door: Door) -> Life:
    return Life(door, moved)


@pytest.mark.protocols(*WORLDS)
def test_ten_weeks_of_deposits_loops_rolled_claims_and_a_slash_end_with_parts_that_add_up_to_the_cent(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place,) = find_places(CHAIN_ID)
    following = open_next_market(life.door.stage.world, place, monkeypatch)
    life.allow(following.market, following.pt, following.yt)
    vault, pool = life.at("yearn", "yv_usdc"), life.at("curve", "pool_3pool")
    began, first = life.value(), life.wallet_worth()
    assert abs(first - began.nav_micro_usd) <= CENT
    life.act("pendle_buy_pt", market=place.market, amount=str(10_000 * DAI))
    life.act("ethena_stake_usde", amount=str(10_000 * DAI))
    held, parts = life.live_a_week(began)
    assert parts.price == parts.moved == 0 and parts.gas < 0

    life.act("yearn_deposit", vault=vault, amount=str(10_000 * USD))
    life.act("pendle_add_lp", market=place.market, amount=str(10_000 * DAI))
    life.act("eigenlayer_deposit_lst", token="DAI", amount=str(8_000 * DAI))
    life.act("eigenlayer_delegate", operator=derive_account("eigenlayer operator").address)
    held, parts = life.live_a_week(held)
    assert parts.price == parts.moved == 0

    loop = {"collateral_asset": "WETH", "borrow_asset": "USDC"}
    life.act(
        "lending_execute_leverage_loop", protocol="aave", **loop, initial_amount=str(4 * ETH), target_leverage="1.8"
    )
    held, parts = life.live_a_week(held)
    assert parts.price == parts.moved == 0 and held.debt_micro_usd > 1_000 * USD

    life.pay_in(1_000)
    life.act("curve_add_liquidity", pool=pool, amounts=["0", str(5_000 * USD), str(5_000 * USD)])
    life.act("convex_stake_lp", pool=pool, amount="max")
    held, parts = life.live_a_week(held)
    assert (parts.price, parts.moved) == (0, 1_000 * USD)

    # A quiet week with a dearer coin: what it is worth more for that is its price, and the rest is earned.
    ether = life.ether_in(held)
    was, old = life.price_of(NATIVE), life.move_price("WETH", 102)
    held, parts = life.live_a_week(held)
    assert abs(parts.price - ether * (life.price_of(NATIVE) - was)) <= CENT
    assert parts.gas == parts.slippage == parts.moved == 0 and parts.fees_and_interest > 0

    # Claims are due: both of what lies in the market and what was bought. A part is rolled into the next market, and
    # the rest goes where it earns.
    life.tell_price("WETH", old)
    ether = life.ether_in(held)
    life.act("pendle_remove_lp", market=place.market, lp_amount="max")
    life.act("pendle_redeem", pt=place.pt, amount="max")
    life.act("pendle_buy_pt", market=following.market, amount=str(8_000 * DAI))
    life.act("ethena_stake_usde", amount=str(7_000 * DAI))
    held, parts = life.live_a_week(held)
    assert parts.price < 0 == parts.moved

    # The operator is slashed by a quarter: a loss with a name, and none of what everything else earned.
    life.act("ethena_unstake_usde", amount="max")
    slash(life.door.stage.world, ETH // 4)
    held, parts = life.live_a_week(held)
    assert abs(parts.slashes + 2_000 * USD) <= CENT and parts.fees_and_interest > 0
    assert parts.price == parts.moved == 0
    life.act("ethena_claim_unstaked")
    life.act("yearn_withdraw", vault=vault, shares="max")
    held, _ = life.live_a_week(held)
    life.act("lending_unwind_loop", protocol="aave", account=life.golem.address, percent_to_unwind=100)
    held, _ = life.live_a_week(held)
    assert held.debt_micro_usd == 0

    # The tenth: its owner ends it, and everything else is taken out.
    # What waits in its queue of blocks is free after these.
    life.take_everything_out(lambda: life.rpc.call("anvil_mine", hex(DELAY + 1)))
    ended, parts = life.live_a_week(held)
    assert sum(abs(each.micro_usd or 0) for each in ended.positions) <= CENT
    total = sum_parts(life.weeks)
    assert len(life.weeks) == 10 and abs(total.moved - life.paid_in) <= CENT
    assert abs(life.wallet_worth() - ended.nav_micro_usd) <= CENT
    assert abs(total.profit - (life.wallet_worth() - first - life.paid_in)) <= CENT
    assert total.fees_and_interest > 0 > total.gas
    assert abs(total.slashes + 2_000 * USD) <= CENT

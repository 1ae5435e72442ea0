"""What is told of restaked tokens: markets against the issuers' rates, the class of risk, falls, and yearly growth."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.liquid_restaking.issuers import (
    DAY,
    ETH,
    answer,
    as_admin,
    at,
    of_kind,
    pass_time,
    refused,
    trade,
)
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.portfolio.markets import ChainMarkets, markets_on
from tools_app.protocols.liquid_restaking.addresses import deployment_on
from tools_app.protocols.liquid_restaking.history import read_rates
from tools_app.protocols.liquid_restaking.issuers import Standing
from tools_app.protocols.liquid_restaking.market import read_prices
from tools_app.protocols.liquid_restaking.protocol import PROTOCOL
from tools_app.protocols.liquid_restaking.risk import (
    HIGH_BPS,
    LEAST_DEPTH_WEI,
    MEDIUM_BPS,
    Sample,
    judge,
    list_falls,
    widest_bps,
    yearly_bps,
)
from tools_app.toolkit.views import NATIVE

pytestmark = [pytest.mark.protocols("liquid_restaking"), pytest.mark.django_db]
TEN = str(10 * ETH)


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(40 * ETH))


def test_a_market_far_under_the_rate_keeps_the_golem_out_and_lets_it_leave(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="kelp", amount=TEN)
    trade(golem.chain, "rseth", 250 * ETH)
    risk = answer(golem, "lrt_get_depeg_risk", protocol="kelp")
    assert risk["risk_level"] == "high" and risk["current_premium_discount"].startswith("-")
    error = refused(golem, "lrt_deposit", protocol="kelp", amount=TEN)
    assert error.code == "DEPEG_RISK_HIGH" and error.data["risk_factors"]
    # What is held stays worth what its issuer gives for it: a moved pool moves no worth.
    assert abs(of_kind(golem, "stake").raw_of(NATIVE) - 10 * ETH) < 10
    golem.act("lrt_withdraw", protocol="kelp", amount="max", mode="queue")
    # A market that came back remembers, and nothing keeps the golem out any more.
    trade(golem.chain, "rseth", 262 * ETH, sells=False)
    back = answer(golem, "lrt_get_depeg_risk", protocol="kelp")
    assert back["risk_level"] == "medium" and float(back["max_deviation_7d"]) >= 2
    golem.plan("lrt_deposit", protocol="kelp", amount=TEN)


def test_a_token_whose_market_is_too_shallow_to_believe_is_not_entered(chain: World, golem: Golem) -> None:
    trade(chain, "rseth", 900 * ETH)
    risk = answer(golem, "lrt_get_depeg_risk", protocol="kelp")
    assert risk["market_price"] is None and "no market" in risk["risk_factors"][0]
    assert refused(golem, "lrt_deposit", protocol="kelp", amount=TEN).code == "DEPEG_RISK_HIGH"


def test_a_rate_that_fell_is_told_with_its_block_and_loss(golem: Golem) -> None:
    as_admin(golem.chain, "kelp_oracle", "setPrice(uint256)", 106 * ETH // 100 * 99 // 100)
    risk = answer(golem, "lrt_get_depeg_risk", protocol="kelp")
    (fall,) = risk["slashing_exposure"]
    assert fall["loss_bps"] == 100
    assert risk["risk_level"] == "medium"


def test_the_growth_of_a_rate_is_told_once_it_is_a_day_old(golem: Golem) -> None:
    def apys() -> dict[str, Any]:
        return {each["protocol"]: each["total_apy"] for each in answer(golem, "lrt_get_apy")["apys"]}

    assert apys() == {"etherfi": None, "kelp": None, "renzo": None}
    pass_time(golem.chain, 2 * DAY)
    as_admin(golem.chain, "kelp_oracle", "setPrice(uint256)", 106 * ETH // 100 * 10_002 // 10_000)
    # Two hundredths of a percent in two days and, at most, an hour is 3.57 to 3.65 percent a year.
    assert 3.57 <= float(apys()["kelp"]) <= 3.65


def stands(**more: Any) -> Standing:
    return Standing(
        rate=ETH, is_in_paused=False, is_out_paused=False, is_claim_paused=False, waiting=0, liquid=0, **more
    )


def test_the_class_of_risk_follows_its_rule() -> None:
    assert judge(stands(), now_bps=0).level == "low"
    assert judge(stands(), now_bps=1 - MEDIUM_BPS).level == "low"
    assert judge(stands(), now_bps=-MEDIUM_BPS).level == "medium"
    assert judge(stands(), now_bps=1 - HIGH_BPS).level == "medium"
    assert judge(stands(), now_bps=-HIGH_BPS).level == "high"
    # A premium is nobody's loss.
    assert judge(stands(), now_bps=HIGH_BPS).level == "low"
    assert judge(stands(), now_bps=None).level == "high"
    assert judge(stands(), now_bps=0, widest_month_bps=HIGH_BPS - 1).level == "low"
    assert judge(stands(), now_bps=0, widest_month_bps=HIGH_BPS).level == "medium"


def test_prices_of_the_past_are_held_against_the_rate_of_their_time() -> None:
    samples = (Sample(10, ETH), Sample(20, 2 * ETH), Sample(30, 19 * ETH // 10))
    assert widest_bps([(15, ETH), (25, 2 * ETH)], samples, 19 * ETH // 10) == 0
    assert widest_bps([(15, 11 * ETH // 10)], samples, ETH) == 1_000
    assert widest_bps([], samples, ETH) is None
    (fall,) = list_falls(samples)
    assert (fall.block, fall.loss_bps) == (30, 500)
    assert yearly_bps(ETH, ETH * 101 // 100, seconds=86_399) is None
    assert yearly_bps(ETH, ETH * 101 // 100, seconds=365 * 86_400) == 100


def test_a_pool_tells_a_price_from_ten_ether_on(chain: World, golem: Golem, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = make_context(chain, address=golem.address).chain()
    markets = markets_on(CHAIN_ID)
    (pool,) = markets.find(reader, [(at("rseth"), chain.tokens["WETH"].address)])
    side = 0 if pool.token0 == chain.tokens["WETH"].address else 1

    def hold(ether: int) -> None:
        told = (ether, 1) if side == 0 else (1, ether)
        monkeypatch.setattr(ChainMarkets, "depth", lambda self, reader, pools: {pool.id: told})

    hold(LEAST_DEPTH_WEI - 1)
    assert read_prices(reader, at("rseth")) == ()
    hold(LEAST_DEPTH_WEI)
    (price,) = read_prices(reader, at("rseth"))
    assert abs(price.price - 106 * ETH // 100) < 10**9 and price.source == pool.id


def test_a_deposit_of_next_to_nothing_tells_no_rate(golem: Golem) -> None:
    stranger = golem.chain.new_account(ETH)
    pass_time(golem.chain, 8 * DAY)
    reads = []
    for wei in (10**15 - 1, 10**15):
        golem.chain.transact(stranger, at("renzo_manager"), "depositETH(uint256)", 0, value=wei)
        reader = make_context(golem.chain, address=golem.address).chain()
        reads.append(len(read_rates(reader, deployment_on(reader), "renzo", days=7)))
    assert reads == [0, 1]

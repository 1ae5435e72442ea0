"""Yields side by side: every kind of place, best net first, what waits and what cannot leave, and what nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.liquid_restaking.issuers import as_admin
from tests.tools_app.protocols.liquid_restaking.test_restaked_ether import PAUSES
from tests.tools_app.protocols.pendle.paused_yield import pause_yield
from tools_app.apps import load_registry
from tools_app.protocols.compound_v3.protocol import PROTOCOL as COMPOUND
from tools_app.protocols.curve.protocol import PROTOCOL as CURVE
from tools_app.protocols.eigenlayer.protocol import PROTOCOL as EIGENLAYER
from tools_app.protocols.ethena.protocol import PROTOCOL as ETHENA
from tools_app.protocols.moonwell.protocol import PROTOCOL as MOONWELL
from tools_app.protocols.pendle.addresses import find_places
from tools_app.protocols.rocketpool.protocol import PROTOCOL as ROCKETPOOL
from tools_app.protocols.yearn.protocol import PROTOCOL as YEARN
from tools_app.subsystems.intel.compare_yields import class_of
from tools_app.toolkit.yields import YieldKind, YieldOffer

pytestmark = pytest.mark.django_db

WAD, USD, DAY = 10**18, 10**6, 86_400
COMET = str(COMPOUND.address(CHAIN_ID, "comet_usdc"))
VAULT = str(YEARN.address(CHAIN_ID, "yv_usdc"))
SUSDE = str(ETHENA.address(CHAIN_ID, "susde"))


def table(chain: World, asset: str, **params: Any) -> dict[str, Any]:
    load_registry()
    amount = str(10_000 * 10 ** chain.tokens[asset].decimals)
    context = make_context(chain, address=chain.actors.deployer.address)
    found: dict[str, Any] = answer_of(context, "intel_compare_yields", asset=asset, amount=amount, **params)
    return found


def place(told: dict[str, Any], protocol: str) -> dict[str, Any]:
    (row,) = (each for each in told["places"] if each["protocol"] == protocol)
    return dict(row)


@pytest.mark.protocols("compound_v3", "yearn")
def test_places_are_ranked_by_what_is_left_of_them_and_those_of_unknown_rate_stand_last(chain: World) -> None:
    told = table(chain, "USDC", days=90)
    lent = place(told, "compound_v3")
    used = chain.rpc.read(COMET, "getUtilization()", returns="(uint256)")[0]
    rate = chain.rpc.read(COMET, "getSupplyRate(uint256)", used, returns="(uint64)")[0]
    # Simple interest of the rate per second is a little less than what is told compounded.
    simple = 10_000 * USD * rate * 90 * DAY // WAD
    assert simple * 99 // 100 <= int(lent["net_gain"]) <= simple * 102 // 100
    assert (lent["risk_class"], lent["wait_seconds"], lent["kind"]) == (1, 0, "lending")
    gains = [None if each["net_gain"] is None else int(each["net_gain"]) for each in told["places"]]
    known = [each for each in gains if each is not None]
    assert known == sorted(known, reverse=True) and gains[: len(known)] == known
    assert told["not_known"][0] == "rewards in other tokens that basis does not name"


@pytest.mark.protocols("compound_v3")
def test_gas_of_a_short_stay_is_taken_off_and_may_leave_less_than_nothing(chain: World) -> None:
    context = make_context(chain, address=chain.actors.deployer.address)
    load_registry()
    told = answer_of(context, "intel_compare_yields", asset="USDC", amount=str(USD // 100), days=1)
    lent = place(told, "compound_v3")
    assert int(lent["net_gain"]) < 0 and lent["net_apy"].startswith("-") and not lent["apy"].startswith("-")


@pytest.mark.protocols("compound_v3")
def test_a_market_that_is_paused_or_lent_out_whole_is_left_out_with_its_reason(chain: World) -> None:
    admin = derive_account("compound_v3 deployer")
    chain.transact(admin, COMET, "pause(bool,bool,bool,bool,bool)", True, False, False, False, False)
    (why,) = (each["why"] for each in table(chain, "USDC")["left_out"] if each["protocol"] == "compound_v3")
    assert "takes nothing in now" in why
    chain.transact(admin, COMET, "pause(bool,bool,bool,bool,bool)", False, False, False, False, False)
    whale, usdc = chain.new_account(WAD, {"WETH": 2_000 * WAD}), chain.tokens["USDC"].address
    weth = chain.tokens["WETH"].address
    chain.transact(whale, weth, "approve(address,uint256)", COMET, 2_000 * WAD)
    chain.transact(whale, COMET, "supply(address,uint256)", weth, 2_000 * WAD)
    held = chain.rpc.read(usdc, "balanceOf(address)", COMET, returns="(uint256)")[0]
    chain.transact(whale, COMET, "withdraw(address,uint256)", usdc, held)
    (why,) = (each["why"] for each in table(chain, "USDC")["left_out"] if each["protocol"] == "compound_v3")
    assert "lent out whole" in why


@pytest.mark.protocols("compound_v3", "yearn")
def test_a_protocol_that_does_not_answer_is_named_and_hides_no_other(chain: World) -> None:
    chain.rpc.call("anvil_setCode", COMET, "0xfe")
    told = table(chain, "USDC")
    (why,) = (each["why"] for each in told["left_out"] if each["protocol"] == "compound_v3")
    assert why.startswith("it could not be read")
    assert place(told, "yearn")


@pytest.mark.protocols("ethena", "erc4626")
def test_a_lock_up_is_said_and_a_rate_that_nobody_tells_is_null(chain: World) -> None:
    told = table(chain, "DAI")
    staked = place(told, "ethena")
    duration = chain.rpc.read(SUSDE, "cooldownDuration()", returns="(uint24)")[0]
    assert (staked["wait_seconds"], staked["risk_class"], staked["kind"]) == (duration, 2, "savings")
    unknown = [each for each in table(chain, "USDC")["places"] if each["protocol"] == "erc4626"]
    assert unknown and all((each["apy"], each["net_gain"], each["risk_class"]) == (None, None, 2) for each in unknown)
    assert all("not what it earns" in each["basis"] for each in unknown)
    by_request = [each for each in unknown if each["wait_seconds"] is None]
    assert by_request and all("left by request" in each["basis"] for each in by_request)


@pytest.mark.protocols("erc4626")
def test_sky_s_savings_are_ranked_at_their_rate_and_say_who_may_change_it(chain: World) -> None:
    told = table(chain, "DAI")
    saved = place(told, "erc4626")
    assert (saved["apy"], saved["kind"], saved["wait_seconds"]) == ("4.5000", "savings", 0)
    assert "governs Sky" in saved["basis"] and "simulated contract" in saved["label"]
    paid = [float(each["apy"]) for each in told["places"] if each["apy"] is not None]
    assert 4.5 in paid and float(saved["net_gain"]) > 0


@pytest.mark.protocols("pendle")
def test_a_fixed_term_says_how_long_it_binds(chain: World) -> None:
    rows = [
        each for row in ("USDC", "DAI", "WETH") for each in table(chain, row)["places"] if each["protocol"] == "pendle"
    ]
    assert rows and all(each["kind"] == "fixed" and each["wait_seconds"] > 0 for each in rows)
    assert all(each["risk_class"] == 2 and float(each["apy"]) > 0 for each in rows)


@pytest.mark.protocols("rocketpool")
def test_staking_at_rocket_pool_is_told_by_a_week_of_its_rate_and_what_a_deposit_costs_is_taken_off(
    chain: World,
) -> None:
    admin, pool = derive_account("rocketpool deployer"), str(ROCKETPOOL.address(CHAIN_ID, "deposit_pool"))
    settings = "setSettings(bool,uint256,uint256,uint256)"
    chain.transact(admin, pool, settings, True, WAD // 100, 18_000 * WAD, 0)
    free = place(table(chain, "WETH"), "rocketpool")
    # The local rate grows by about 2.8% a year.
    assert 2.6 < float(free["apy"]) < 2.8 and (free["kind"], free["wait_seconds"]) == ("staking", 0)
    chain.transact(admin, pool, settings, True, WAD // 100, 18_000 * WAD, WAD // 1_000)
    costly = place(table(chain, "WETH"), "rocketpool")
    assert costly["apy"] == free["apy"]
    # Ten ether of ten thousand, and what those would have earned in thirty days.
    assert 10 * WAD <= int(free["net_gain"]) - int(costly["net_gain"]) <= 10 * WAD + 3 * WAD // 100
    (behind,) = chain.rpc.read(str(ROCKETPOOL.address(CHAIN_ID, "reth")), "getTotalCollateral()", returns="(uint256)")
    assert (int(free["free_now"]), free["risk_class"]) == (behind, 3)
    chain.transact(admin, pool, settings, False, WAD // 100, 18_000 * WAD, 0)
    (why,) = (each["why"] for each in table(chain, "WETH")["left_out"] if each["protocol"] == "rocketpool")
    assert "closed or full" in why


@pytest.mark.protocols("rocketpool")
def test_staking_without_a_report_of_a_week_ago_has_no_rate_and_says_so(chain: World) -> None:
    chain.rpc.call("evm_increaseTime", 30 * DAY)
    chain.rpc.call("evm_mine")
    told = place(table(chain, "WETH"), "rocketpool")
    assert (told["apy"], told["net_gain"]) == (None, None) and "no report a week old" in told["basis"]


@pytest.mark.protocols("eigenlayer")
@pytest.mark.parametrize("asset", ["WETH", "DAI"])
def test_restaking_is_there_with_its_wait_and_why_nobody_knows_its_rate(chain: World, asset: str) -> None:
    told = place(table(chain, asset), "eigenlayer")
    strategy = str(EIGENLAYER.address(CHAIN_ID, f"strategy_{asset.lower()}"))
    delegation = str(EIGENLAYER.address(CHAIN_ID, "delegation"))
    (delay,) = chain.rpc.read(delegation, "minWithdrawalDelayBlocks()", returns="(uint32)")
    assert (told["place"], told["apy"], told["net_gain"]) == (strategy, None, None)
    assert (told["wait_seconds"], told["risk_class"]) == ((delay + 1) * 12, 2)
    assert "off chain alone" in told["basis"] and "slashed" in told["basis"]
    chain.transact(derive_account("eigenlayer deployer"), strategy, "setPaused(uint256)", 1)
    (why,) = (each["why"] for each in table(chain, asset)["left_out"] if each["protocol"] == "eigenlayer")
    assert why == "deposits are paused"
    chain.transact(derive_account("eigenlayer deployer"), strategy, "setPaused(uint256)", 0)
    chain.transact(derive_account("eigenlayer deployer"), delegation, "setPaused(uint256)", 2)
    (why,) = (each["why"] for each in table(chain, asset)["left_out"] if each["protocol"] == "eigenlayer")
    assert why == "leaving is paused"


@pytest.mark.protocols("liquid_restaking", "pendle")
def test_a_place_that_lets_nobody_out_is_left_out_with_its_reason(chain: World) -> None:
    assert len([each for each in table(chain, "WETH")["places"] if each["protocol"] == "liquid_restaking"]) == 3
    for key, signature, args in PAUSES.values():
        as_admin(chain, key, signature, *args)
    told = table(chain, "WETH")
    whys = [each["why"] for each in told["left_out"] if each["protocol"] == "liquid_restaking"]
    # ether.fi knows one pause for both.
    assert sorted(whys) == ["the issuer has paused deposits", *2 * ["the issuer has paused leaving"]]
    assert not [each for each in told["places"] if each["protocol"] == "liquid_restaking"]
    place(table(chain, "DAI"), "pendle")
    pause_yield(chain, find_places(CHAIN_ID)[0].sy)
    (why,) = (each["why"] for each in table(chain, "DAI")["left_out"] if each["protocol"] == "pendle")
    assert why == "the yield behind the market is paused"


@pytest.mark.protocols("curve")
def test_a_pool_s_fees_and_rewards_are_ranked_at_its_gauge_and_at_convex(chain: World) -> None:
    load_registry()
    chain.rpc.call("evm_increaseTime", DAY // 2)
    chain.rpc.call("evm_mine")
    context = make_context(chain, address=chain.actors.deployer.address)
    [gauge] = answer_of(context, "curve_get_pools", asset="USDC")["pools"]
    [convex] = answer_of(context, "convex_get_pools", asset="USDC")["pools"]
    rows = {each["place"]: each for each in table(chain, "USDC")["places"] if each["protocol"] == "curve"}
    for key, pool in (("gauge_3pool", gauge), ("convex_rewards_3pool", convex)):
        row = rows[str(CURVE.address(CHAIN_ID, key))]
        assert float(row["apy"]) == pytest.approx(float(pool["base_apy"]) + float(pool["crv_apy"]))
        assert float(pool["base_apy"]) > 0 and float(pool["crv_apy"]) > 1 and "not known" not in row["basis"]
        assert (row["kind"], row["risk_class"]) == ("pool", 2) and "WBTC as it is paid now" in row["basis"]
    booster = str(CURVE.address(CHAIN_ID, "convex_booster"))
    chain.transact(derive_account("curve deployer"), booster, "shutdownPool(uint256)", 0)
    told = table(chain, "USDC")
    (why,) = (each["why"] for each in told["left_out"] if each["protocol"] == "curve")
    assert "shut" in why and place(told, "curve")["place"] == str(CURVE.address(CHAIN_ID, "gauge_3pool"))


@pytest.mark.protocols("curve")
def test_a_pool_whose_coins_have_no_price_is_there_without_a_rate_and_says_what_is_missing(chain: World) -> None:
    feed = chain.tokens["DAI"].feed
    chain.transact(chain.actors.deployer, feed, "setAnswer(int256)", 0)
    rows = [each for each in table(chain, "USDC")["places"] if each["protocol"] == "curve"]
    assert len(rows) == 2
    for row in rows:
        assert (row["apy"], row["net_gain"]) == (None, None)
        assert "fees of a day are not known" in row["basis"] and "what WBTC brings is not known" in row["basis"]


@pytest.mark.protocols("moonwell")
def test_a_market_of_which_nobody_borrows_is_there_and_earns_nothing(chain: World) -> None:
    market = str(MOONWELL.address(CHAIN_ID, "market_weth"))
    idle = place(table(chain, "WETH"), "moonwell")
    assert (idle["place"], idle["apy"], idle["risk_class"]) == (market, "0.0000", 3)
    assert int(idle["net_gain"]) < 0 and "nobody borrows" in idle["basis"]
    borrower = chain.new_account(WAD, {"USDC": 900_000 * USD})
    covers = str(MOONWELL.address(CHAIN_ID, "market_usdc"))
    chain.transact(borrower, chain.tokens["USDC"].address, "approve(address,uint256)", covers, 900_000 * USD)
    chain.transact(borrower, covers, "mint(uint256)", 900_000 * USD)
    chain.transact(borrower, str(MOONWELL.address(CHAIN_ID, "comptroller")), "enterMarkets(address[])", [covers])
    chain.transact(borrower, market, "borrow(uint256)", 200 * WAD)
    lent = place(table(chain, "WETH"), "moonwell")
    assert float(lent["apy"]) > 0 and "what is borrowed" in lent["basis"]
    assert int(lent["free_now"]) == int(idle["free_now"]) - 200 * WAD


@pytest.mark.parametrize(
    ("free", "waits", "expected"), [(10, 0, 1), (9, 0, 3), (10, 60, 2), (None, 0, 2), (None, None, 2), (9, None, 3)]
)
def test_the_class_says_whether_this_amount_can_leave(free: int | None, waits: int | None, expected: int) -> None:
    offer = YieldOffer("lender", "place", "A place", YieldKind.LENDING, 1, "", waits_seconds=waits, free=free)
    assert class_of(offer, 10) == expected

"""The sums of protocols at their edges and in numbers small enough to follow: who rounds, which way, from when on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools_app.protocols.maker_sky.lending import _yearly_ppm
from tools_app.protocols.maker_sky.math import WAD as MAKER_WAD
from tools_app.protocols.maker_sky.math import VaultKind, VaultState, divide_up
from tools_app.protocols.morpho_blue import math as morpho
from tools_app.protocols.morpho_blue.math import WAD, MarketState
from tools_app.protocols.rocketpool.math import ONE, Rate, RateReport, rate_change, yearly_bps
from tools_app.protocols.uniswap.v2.math import amount_in, amount_out, protocol_shares
from tools_app.standards.rays import RAY, SECONDS_PER_YEAR, rpow

YEAR = 365 * 86_400
LARGEST = 2**112 - 1


@pytest.mark.parametrize(
    ("given", "reserve_in", "reserve_out", "leaves"),
    [(0, 100, 100, 0), (1, 100, 100, 0), (100, 1_000, 1_000, 90), (1_000, 1_000, 1_000, 499), (10**9, 1, 500, 499)],
)
def test_a_pair_gives_what_keeps_its_product_after_three_thousandths(
    given: int, reserve_in: int, reserve_out: int, leaves: int
) -> None:
    assert amount_out(given, reserve_in, reserve_out) == leaves
    # By the product of the reserves: with what leaves it holds, with one more it would not.
    kept = reserve_in * 1_000 + given * 997
    assert kept * (reserve_out - leaves) >= reserve_in * reserve_out * 1_000
    assert kept * (reserve_out - leaves - 1) < reserve_in * reserve_out * 1_000


def test_what_comes_in_is_the_least_for_what_leaves() -> None:
    for wanted in (1, 90, 499, 999):
        least = amount_in(wanted, 1_000, 1_000)
        assert amount_out(least, 1_000, 1_000) >= wanted > amount_out(least - 2, 1_000, 1_000)
    assert amount_in(90, 1_000, 1_000) == 100


def test_a_pair_counts_up_to_its_reserves_and_holds_more_than_leaves() -> None:
    assert amount_out(1, LARGEST - 1, 10) == 0
    with pytest.raises(ValueError, match="cannot hold"):
        amount_out(1, LARGEST, 10)
    with pytest.raises(ValueError, match="holds less"):
        amount_in(10, 5, 10)
    with pytest.raises(ValueError, match="cannot hold"):
        amount_in(9, LARGEST - 1, 10)
    assert amount_in(9, 5, 10) == 5 * 9 * 1_000 // 997 + 1


@pytest.mark.parametrize(
    ("k_last", "shares"), [(0, 0), (100 * 100, 0), (101 * 101, 0), (50 * 50, 1_000 * 50 // (100 * 5 + 50))]
)
def test_a_sixth_of_the_growth_of_a_pair_is_its_protocols(k_last: int, shares: int) -> None:
    assert protocol_shares(1_000, 100, 100, k_last) == shares


def test_a_fee_a_second_is_raised_by_squares_rounded_to_the_nearest() -> None:
    assert (rpow(RAY, 10**6), rpow(2 * RAY, 0), rpow(2 * RAY, 1), rpow(2 * RAY, 10)) == (
        RAY,
        RAY,
        2 * RAY,
        1_024 * RAY,
    )
    assert rpow(3 * RAY, 5) == 243 * RAY and rpow(RAY // 2, 2) == (RAY + 2) // 4
    yearly = rpow(1_000_000_001_547_125_957_863_212_448, YEAR)
    assert 1_049_999_999 * 10**18 < yearly < 1_050_000_001 * 10**18
    assert (divide_up(6, 3), divide_up(7, 3), divide_up(0, 3)) == (2, 3, 0)


KIND = VaultKind(
    "ETH-A", art=100, rate=2 * RAY, spot=3 * RAY, line=1_000 * RAY, dust=50 * RAY + 1, fee=RAY, ratio=RAY * 3 // 2
)


def test_a_kind_of_vault_has_a_price_a_room_and_a_least_debt() -> None:
    assert (KIND.room, KIND.least_debt, KIND.ratio_bps) == (800, 51, 15_000)
    assert KIND.price == 3 * RAY * 3 // 2 // 10**9
    assert replace(KIND, line=199 * RAY).room == 0 and replace(KIND, line=201 * RAY).room == 1
    assert (KIND.owed_of(3), KIND.art_for(6), KIND.art_for(7)) == (6, 3, 4)
    assert replace(KIND, rate=RAY + 1).owed_of(1) == 2
    assert KIND.health_bps(20, 10) == 30_000 and KIND.health_bps(20, 0) is None
    assert (KIND.growth(100, YEAR), replace(KIND, fee=RAY + RAY // 100).growth(100, 1)) == (0, 1)
    assert replace(KIND, fee=RAY + RAY // 100).growth(101, 1) == 2
    assert VaultState(1, "", KIND, ink=1, art=3, inside=0).owed == 6


MARKET = MarketState(1_000, 1_000 * 10**6, 400, 400 * 10**6, last_update=100, fee=WAD // 10)


# Five percent a year, as Maker itself writes them.
FIVE_PERCENT = 1_000_000_001_547_125_957_863_212_448


def test_makers_fee_is_of_a_year_of_365_days_and_its_prices_have_eighteen_digits() -> None:
    kind = VaultKind("ETH-A", art=0, rate=RAY, spot=RAY, line=0, dust=0, fee=FIVE_PERCENT, ratio=RAY)
    assert _yearly_ppm(kind) == 50_000
    assert (SECONDS_PER_YEAR, MAKER_WAD) == (31_536_000, 1_000_000_000_000_000_000)


def test_interest_is_added_up_to_now_and_a_tenth_of_it_becomes_shares() -> None:
    assert MARKET.accrue(10**16, 100) is MARKET and MARKET.accrue(10**16, 99) is MARKET
    after = MARKET.accrue(WAD // 100, 110)
    grown = 400 * (WAD // 10 + WAD // 200 + WAD // 6_000) // WAD
    assert (after.borrow_assets, after.supply_assets, after.last_update) == (400 + grown, 1_000 + grown, 110)
    fee = grown // 10
    assert after.supply_shares - MARKET.supply_shares == fee * (10**9 + 10**6) // (1_000 + grown - fee + 1)
    assert replace(MARKET, fee=0).accrue(WAD // 100, 110).supply_shares == MARKET.supply_shares
    assert after.borrow_shares == MARKET.borrow_shares


def test_what_is_lent_is_rounded_down_and_what_is_owed_up() -> None:
    odd = MarketState(10, 3 * 10**6, 10, 3 * 10**6, 0, 0)
    assert (odd.lent_of(10**6), odd.owed_of(10**6)) == (11 * 10**6 // (4 * 10**6), -(-11 * 10**6 // (4 * 10**6)))
    lent, shares = odd.lend(5)
    assert (lent.supply_assets, lent.supply_shares - odd.supply_shares, shares) == (15, shares, 5 * 4 * 10**6 // 11)
    taken, cost = odd.take_back(5)
    assert (taken.supply_assets, odd.supply_shares - taken.supply_shares) == (5, cost)
    assert cost == -(-5 * 4 * 10**6 // 11) == shares + 1
    borrowed, owed = odd.borrow(5)
    assert (borrowed.borrow_assets, borrowed.borrow_shares - odd.borrow_shares, owed) == (15, cost, cost)
    repaid, cleared = odd.repay(5)
    assert (repaid.borrow_assets, odd.borrow_shares - repaid.borrow_shares, cleared) == (5, shares, shares)
    assert odd.repay(11)[0].borrow_assets == 0
    assert (MARKET.utilization_bps, MarketState(0, 0, 0, 0, 0, 0).utilization_bps) == (4_000, 0)


def test_a_rate_is_compounded_by_three_terms() -> None:
    assert morpho.compound(WAD // 100, 10) == WAD // 10 + WAD // 200 + WAD // 6_000
    assert (morpho.compound(0, 10), morpho.compound(5, 0)) == (0, 0)
    assert morpho.growth(1, WAD // 100, 1) == 1 and morpho.growth(1_000, WAD // 100, 10) == 106


def test_health_debt_and_collateral_answer_each_other() -> None:
    price, lltv = 2 * morpho.ORACLE_SCALE, WAD * 8 // 10
    assert morpho.quote_collateral(50, price) == 100
    assert morpho.health_bps(collateral=50, price=price, lltv=lltv, debt=80) == 10_000
    assert morpho.health_bps(collateral=50, price=price, lltv=lltv, debt=81) == 9_876
    assert morpho.health_bps(collateral=50, price=price, lltv=lltv, debt=0) is None
    assert morpho.health_bps(collateral=10**12, price=price, lltv=lltv, debt=1) == 10**9
    assert morpho.most_debt(collateral=50, price=price, lltv=lltv, floor_bps=16_000) == 50
    least = morpho.least_collateral(debt=50, price=price, lltv=lltv, floor_bps=16_000)
    assert least == 51 and morpho.least_collateral(debt=0, price=price, lltv=lltv, floor_bps=16_000) == 0
    held = morpho.health_bps(collateral=least, price=price, lltv=lltv, debt=50)
    assert held is not None and held >= 16_000


def test_a_liquidator_gets_what_the_market_allows_and_fifteen_percent_at_most() -> None:
    assert morpho.incentive(WAD) == WAD
    assert morpho.incentive(WAD * 86 // 100) == WAD * WAD // (WAD - 3 * 10**17 * (WAD * 14 // 100) // WAD)
    assert morpho.incentive(0) == morpho.incentive(WAD // 10) == 115 * 10**16
    paid, shares = morpho.repaid_for(MARKET, seized=115, price=morpho.ORACLE_SCALE, lltv=0)
    assert shares == -(-100 * (400 * 10**6 + 10**6) // 401) == 100 * 10**6 and paid == 100


def test_the_worth_of_reth_is_rounded_down_and_a_fee_is_kept_of_a_deposit() -> None:
    rate = Rate(ONE + ONE // 10, fee=ONE // 2_000)
    assert (rate.ether_of(10), rate.ether_of(9), rate.after_fee(10_000)) == (11, 9, 9_995)
    assert (rate.dust, Rate(2 * ONE).dust, rate.slack(11 * ONE)) == (4, 6, 14)


def test_growth_is_counted_from_the_newest_report_that_is_old_enough() -> None:
    reports = [RateReport(100, ONE), RateReport(200, ONE + 10)]
    assert rate_change(reports, now_rate=ONE + 30, since=200) == 20
    assert rate_change(reports, now_rate=ONE + 30, since=199) == 30
    assert rate_change(reports, now_rate=ONE + 30, since=99) is None
    year = [RateReport(0, ONE)]
    assert yearly_bps(year, now_rate=ONE + ONE // 20, now=YEAR // 2, since=0) == 1_000
    assert yearly_bps(year, now_rate=ONE, now=0, since=0) is None
    assert yearly_bps([RateReport(0, 0)], now_rate=ONE, now=9, since=0) is None
    assert yearly_bps(year, now_rate=ONE, now=9, since=-1) is None
    assert yearly_bps(year, now_rate=ONE - ONE // 100, now=YEAR, since=0) == -100

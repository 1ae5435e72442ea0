"""Prices of claims and trades against an independent computation: decimals with sixty places, and another formula."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import pytest

from tests.tools_app.protocols.pendle.seeded_markets import SEED, STATES, make_markets, worst_price_bps
from tools_app.protocols.pendle import market_maths as maths
from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS, Market, NoTrade


def test_what_a_claim_costs_is_within_five_basis_points_of_an_independent_computation_over_a_thousand_states() -> None:
    assert worst_price_bps() < Decimal("0.0001")


def test_exponential_and_logarithm_agree_with_decimals_to_fifteen_places() -> None:
    chance = random.Random(SEED)
    with localcontext() as context:
        context.prec = 60
        for _ in range(STATES):
            x = chance.randrange(-4 * WAD, 20 * WAD)
            exact = (Decimal(x) / WAD).exp() * WAD
            assert abs(Decimal(maths.exp_wad(x)) - exact) <= exact / 10**15 + 2
            y = chance.randrange(10**14, 10**24)
            assert abs(Decimal(maths.ln_wad(y)) - (Decimal(y) / WAD).ln() * WAD) <= 10**4


def test_a_trade_costs_what_the_logit_says_and_its_fee() -> None:
    tried = 0
    with localcontext() as context:
        context.prec = 60
        for market in make_markets():
            out = market.claims // 1_000
            try:
                done = maths.trade(market, out)
            except NoTrade:
                continue
            tried += 1
            years = Decimal(market.seconds_left) / YEAR_SECONDS
            scalar = Decimal(market.scalar_root) / WAD / years
            assets = Decimal(market.shares) * market.index / WAD
            share = Decimal(market.claims) / (market.claims + assets)
            anchor = (Decimal(market.ln_rate) / WAD * years).exp() - (share / (1 - share)).ln() / scalar
            after = (market.claims - Decimal(out)) / (market.claims + assets)
            rate = (after / (1 - after)).ln() / scalar + anchor
            fee = (Decimal(market.fee_root) / WAD * years).exp()
            paid = out / rate * fee * WAD / market.index
            assert abs(-done.shares / paid - 1) < Decimal("0.000001"), market
    assert tried > STATES // 2


def test_nobody_is_better_off_by_trading_there_and_back() -> None:
    for market in make_markets(100):
        try:
            paid = maths.trade(market, market.claims // 500)
            back = maths.trade(paid.after, -(market.claims // 500))
        except NoTrade:
            continue
        assert back.shares <= -paid.shares


def test_what_is_bought_for_shares_is_the_most_that_they_pay() -> None:
    for market in make_markets(50):
        shares = market.shares // 1_000
        try:
            found, done = maths.claims_for(market, shares)
        except NoTrade:
            continue
        assert -done.shares <= shares
        with pytest.raises((NoTrade, AssertionError)):
            assert -maths.trade(market, found + market.claims // 10**9 + 2).shares <= shares


def test_a_market_that_is_over_trades_nothing() -> None:
    (market,) = make_markets(1)
    over = Market(**{each: getattr(market, each) for each in market.__slots__} | {"now": market.expiry})
    with pytest.raises(NoTrade):
        maths.trade(over, 1)
    assert maths.price_of_claim(over.ln_rate, over.seconds_left) == WAD

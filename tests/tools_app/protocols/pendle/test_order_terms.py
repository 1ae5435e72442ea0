"""What a limit order lets a fill bring at least, on plain numbers."""

from __future__ import annotations

from dataclasses import replace

from tools_app.protocols.pendle.limit_orders import (
    SALT_STEP,
    Order,
    Side,
    fail_safe,
    keeps_its_part,
    least_out,
    price_at,
    to_ln_rate,
)
from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS

INDEX = 1_234_567 * 10**12
RATE = to_ln_rate(5 * WAD // 100)


def order(side: Side, *, signed: int = 999, expiry: int = 1_000, rate: int = 0) -> Order:
    nobody = "0x" + "00" * 20
    return Order(
        salt=signed * 10**6 * SALT_STEP,
        expiry=expiry,
        nonce=0,
        order_type=side,
        token=nobody,
        yt=nobody,
        maker=nobody,
        receiver=nobody,
        making_amount=10_000 * WAD,
        ln_implied_rate=RATE,
        fail_safe_rate=rate,
        permit="0x",
    )


def test_shares_may_become_half_a_percent_dearer_while_an_order_waits_and_no_more() -> None:
    least = fail_safe(Side.BUY_PT, index=INDEX)
    # An asset becomes WAD / INDEX shares now.
    assert least == -(-995 * WAD * WAD // (1_000 * INDEX))
    for side in (Side.BUY_PT, Side.BUY_YT):
        assert keeps_its_part(order(side, rate=least), index=INDEX)
        assert not keeps_its_part(order(side, rate=least - 1), index=INDEX)
        assert not keeps_its_part(replace(order(side, rate=least), salt=7 * SALT_STEP + 1), index=INDEX)
        assert keeps_its_part(order(side, rate=least), index=INDEX * 2), "an index only rises"


def test_shares_may_bring_half_a_percent_less_when_an_order_that_sells_is_filled_and_no_less() -> None:
    for side in (Side.SELL_PT, Side.SELL_YT):
        signed = fail_safe(side, index=INDEX)
        assert keeps_its_part(order(side, rate=signed), index=INDEX)
        assert keeps_its_part(order(side, rate=signed), index=INDEX * 10_004 // 10_000), "a share earns meanwhile"
        least = -(-INDEX * 995 // 1_000)
        assert keeps_its_part(order(side, rate=least), index=INDEX)
        assert not keeps_its_part(order(side, rate=least - 1), index=INDEX)
        assert not keeps_its_part(replace(order(side, rate=least), salt=1), index=INDEX)


def test_the_least_that_an_order_brings_is_told_of_its_worst_second() -> None:
    due_at = 1_000 + YEAR_SECONDS
    kept = 10_000 * WAD * 995 // 1_000
    for side, expected in (
        (Side.BUY_PT, kept * 105 // 100),
        (Side.SELL_PT, kept * 100 // 105),
        (Side.BUY_YT, kept * 105 // 5),
        (Side.SELL_YT, kept * 5 // 105),
    ):
        assert abs(least_out(order(side, signed=1_000), due_at=due_at) - expected) * 10**6 < expected, side
    # Claims are bought for more, and sold for more, every second; with yield tokens it is the other way round.
    buying, selling = (Side.BUY_PT, Side.BUY_YT), (Side.SELL_PT, Side.SELL_YT)
    assert least_out(order(Side.BUY_PT, expiry=900), due_at=due_at) > least_out(order(Side.BUY_PT), due_at=due_at)
    assert least_out(order(Side.BUY_YT, signed=1_000), due_at=due_at) > least_out(order(Side.BUY_YT), due_at=due_at)
    assert least_out(order(Side.BUY_PT, signed=1), due_at=due_at) == least_out(order(Side.BUY_PT), due_at=due_at)
    assert least_out(order(Side.BUY_YT, expiry=999), due_at=due_at) == least_out(order(Side.BUY_YT), due_at=due_at)
    # What is sold brings less the longer it stands, since shares may have risen meanwhile and fallen again.
    for side in selling:
        assert least_out(order(side, signed=900), due_at=due_at) < least_out(order(side), due_at=due_at)
        assert least_out(order(side, expiry=2_000), due_at=due_at) < least_out(order(side), due_at=due_at)
    assert len({*buying, *selling}) == len(Side)


def test_what_is_sold_may_be_paid_in_shares_that_rose_as_fast_as_they_can_and_fell_to_the_last_that_is_let() -> None:
    month = YEAR_SECONDS // 12
    for side in (Side.SELL_PT, Side.SELL_YT):
        asked = order(side, signed=1_000, expiry=1_000 + month)
        due_at = 1_000 + YEAR_SECONDS
        worst_at = month if side is Side.SELL_YT else 0
        price = price_at(side, RATE, YEAR_SECONDS - worst_at)
        # Shares that double in a year are worth a twelfth more after a month, and then half a percent less than first.
        worst = 10_000 * WAD * 995 // 1_000 * 12 // 13 * price // WAD
        assert abs(least_out(asked, due_at=due_at) - worst) * 10**6 < worst, side


def test_a_claim_and_a_yield_token_cost_their_asset_together_and_a_salt_says_when_an_order_was_made() -> None:
    assert price_at(Side.SELL_PT, RATE, 9_999) + price_at(Side.BUY_YT, RATE, 9_999) == WAD
    assert order(Side.BUY_PT, signed=1_812_345_678).made_at == 1_812_345_678

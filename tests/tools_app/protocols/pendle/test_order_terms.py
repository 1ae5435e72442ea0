"""What a limit order lets a fill bring at least, on plain numbers."""

from __future__ import annotations

from typing import Any

from tools_app.protocols.pendle.limit_orders import (
    SALT_STEP,
    Side,
    fail_safe,
    keeps_its_part,
    least_out,
    made_at,
    price_at,
    to_ln_rate,
)
from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS

INDEX = 1_234_567 * 10**12
RATE = to_ln_rate(5 * WAD // 100)


def order(side: Side, *, signed: int = 900, expiry: int = 1_000, rate: int = 0) -> dict[str, Any]:
    return {
        "salt": signed * 10**6 * SALT_STEP,
        "expiry": expiry,
        "makingAmount": 10_000 * WAD,
        "orderType": side,
        "lnImpliedRate": RATE,
        "failSafeRate": rate,
    }


def test_shares_may_become_half_a_percent_dearer_while_an_order_waits_and_no_more() -> None:
    least = fail_safe(Side.BUY_PT, index=INDEX)
    # An asset becomes WAD / INDEX shares now.
    assert least == -(-995 * WAD * WAD // (1_000 * INDEX))
    for side in (Side.BUY_PT, Side.BUY_YT):
        assert keeps_its_part(order(side, rate=least), index=INDEX)
        assert not keeps_its_part(order(side, rate=least - 1), index=INDEX)
        assert not keeps_its_part({**order(side, rate=least), "salt": 7 * SALT_STEP + 1}, index=INDEX)
        assert keeps_its_part(order(side, rate=least), index=INDEX * 2), "an index only rises"


def test_shares_may_bring_half_a_percent_less_when_an_order_that_sells_is_filled_and_no_less() -> None:
    for side in (Side.SELL_PT, Side.SELL_YT):
        signed = fail_safe(side, index=INDEX)
        assert keeps_its_part(order(side, rate=signed), index=INDEX)
        assert keeps_its_part(order(side, rate=signed), index=INDEX * 10_004 // 10_000), "a share earns meanwhile"
        least = -(-INDEX * 995 // 1_000)
        assert keeps_its_part(order(side, rate=least), index=INDEX)
        assert not keeps_its_part(order(side, rate=least - 1), index=INDEX)
        assert not keeps_its_part({**order(side, rate=least), "salt": 1}, index=INDEX)


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
    for side in (Side.BUY_PT, Side.SELL_YT):
        assert least_out(order(side, expiry=900), due_at=due_at) > least_out(order(side), due_at=due_at)
        assert least_out(order(side, signed=1), due_at=due_at) == least_out(order(side), due_at=due_at)
    for side in (Side.SELL_PT, Side.BUY_YT):
        assert least_out(order(side, signed=950), due_at=due_at) > least_out(order(side), due_at=due_at)
        assert least_out(order(side, expiry=999), due_at=due_at) == least_out(order(side), due_at=due_at)


def test_a_claim_and_a_yield_token_cost_their_asset_together_and_a_salt_says_when_an_order_was_made() -> None:
    assert price_at(Side.SELL_PT, RATE, 9_999) + price_at(Side.BUY_YT, RATE, 9_999) == WAD
    assert made_at(order(Side.BUY_PT, signed=1_812_345_678)) == 1_812_345_678

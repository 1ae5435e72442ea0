"""What a limit order lets a fill bring at least, on plain numbers."""

from __future__ import annotations

from tools_app.protocols.pendle.limit_orders import SALT_STEP, keeps_its_part, least_claims, least_shares, to_ln_rate
from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS

INDEX = 1_234_567 * 10**12


def test_shares_may_become_half_a_percent_dearer_while_an_order_waits_and_no_more() -> None:
    least = least_shares(INDEX)
    # An asset becomes WAD / INDEX shares now.
    assert least == -(-995 * WAD * WAD // (1_000 * INDEX))
    assert keeps_its_part({"salt": 7 * SALT_STEP, "failSafeRate": least}, index=INDEX)
    assert not keeps_its_part({"salt": 7 * SALT_STEP, "failSafeRate": least - 1}, index=INDEX)
    assert not keeps_its_part({"salt": 7 * SALT_STEP + 1, "failSafeRate": least}, index=INDEX)
    assert keeps_its_part({"salt": 0, "failSafeRate": least}, index=INDEX * 2), "an index only rises"


def test_the_least_that_an_order_brings_is_told_of_its_last_second() -> None:
    order = {"expiry": 1_000, "makingAmount": 10_000 * WAD, "lnImpliedRate": to_ln_rate(5 * WAD // 100)}
    a_year = least_claims(order, due_at=1_000 + YEAR_SECONDS)
    assert abs(a_year - 10_000 * WAD * 995 // 1_000 * 105 // 100) < WAD // 10**6
    assert least_claims({**order, "expiry": 900}, due_at=1_000 + YEAR_SECONDS) > a_year

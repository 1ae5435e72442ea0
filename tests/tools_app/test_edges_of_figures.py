"""What tools compute, at the edges of what they are given."""

from __future__ import annotations

import ipaddress
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tools_app.core.event_schemas import AMOUNT, FLAG, INTEGER, TEXT, PayloadSchema
from tools_app.core.guarded_http import is_public
from tools_app.core.storable_text import make_plain, make_plain_value, make_storable
from tools_app.protocols.lido.math import (
    ONE,
    YEAR_SECONDS,
    Rebase,
    SharesMoved,
    StakedPool,
    estimate_ready,
    measure_earned,
    rate_change,
    yearly_bps,
)
from tools_app.protocols.uniswap.v3.path import encode_path
from tools_app.standards.concentrated import (
    MAX_SQRT_PRICE,
    MIN_SQRT_PRICE,
    Q96,
    TICK_SPACING_OF_FEE,
    UINT128_MAX,
    amount0_between,
    amount1_between,
    liquidity_for_amount0,
    liquidity_for_amount1,
    liquidity_for_amounts,
    sqrt_price_at_tick,
    sqrt_price_of_ratio,
    tick_at_sqrt_price,
)
from tools_app.standards.zerodev_kernel import build_execute
from tools_app.subsystems.lending.read_tools import _time_left
from tools_app.subsystems.stream.trades import _largest
from tools_app.toolkit.plan import Call

ONE_TOKEN, OTHER, THIRD = ("0x" + digit * 40 for digit in "123")


def test_a_lone_surrogate_and_a_zero_byte_are_replaced_and_nothing_else() -> None:
    assert make_storable("a\x00b") == "a\ufffdb"
    assert make_storable("\ud800a\udfff") == "\ufffda\ufffd"
    assert make_storable("\ud7ffa\ue000\u00e9") == "\ud7ffa\ue000\u00e9"
    assert make_storable({"k\x00": ["\x00", 1, None, ("\udc00",)]}) == {"k\ufffd": ["\ufffd", 1, None, ["\ufffd"]]}


def test_what_nobody_sees_is_taken_out_and_lines_and_tabs_stay() -> None:
    assert make_plain("a\u200bb\u202ec\ue000d\u2028e\x07f\n\tg \u00a0h") == "abcdef\n\tg  h"
    assert make_plain_value({"a\u200b": ["b\u2060", 7, True]}) == {"a": ["b", 7, True]}
    assert make_plain_value("a\x00\u200bb") == "a\ufffdb"


SCHEMA = PayloadSchema(when="", required={"name": TEXT, "count": INTEGER}, optional={"is_new": FLAG, "raw": AMOUNT})


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"name": "a", "count": 1}, []),
        ({"name": "a", "count": 1, "is_new": None, "raw": "12"}, []),
        ({"name": "a"}, ["'count' is missing"]),
        ({"name": None, "count": 0}, ["'name' is missing"]),
        ({"name": "a", "count": "1"}, ["'count' is no integer: '1'"]),
        ({"name": "a", "count": 1, "is_new": 1}, ["'is_new' is no flag: 1"]),
        ({"name": "a", "count": 1, "more": 1}, ["'more' is not declared"]),
    ],
)
def test_a_payload_has_what_is_required_may_have_what_is_optional_and_nothing_else(
    payload: dict[str, Any], words: list[str]
) -> None:
    assert SCHEMA.problems(payload) == words


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("8.8.8.8", True),
        ("10.0.0.1", False),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("169.254.169.254", False),
        ("2606:4700::1", True),
        ("::1", False),
        ("::ffff:8.8.8.8", True),
        ("::ffff:10.0.0.1", False),
        ("2002:0808:0808::1", False),
        ("2002:0a00:0001::1", False),
        ("64:ff9b::8.8.8.8", False),
        ("64:ff9b::10.0.0.1", False),
        ("2001:0:a00:1::f5ff:fffe", False),
    ],
)
def test_an_address_is_public_only_when_every_address_in_it_is(address: str, is_open: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is is_open


def rebase(at: int, before: int, after: int, *, elapsed: int = 86_400) -> Rebase:
    return Rebase(at, elapsed, before, after, (at, 0))


def test_the_growth_of_a_share_is_of_reports_from_that_second_on() -> None:
    reports = [rebase(100, ONE, ONE + 10), rebase(200, ONE + 10, ONE + 30)]
    assert rate_change(reports, since=100) == 30
    assert rate_change(reports, since=101) == 20
    assert rate_change(reports, since=201) is None
    assert rate_change([], since=0) is None


def test_a_yearly_rate_is_simple_and_over_the_seconds_that_the_reports_cover() -> None:
    year = [rebase(1, ONE, ONE + ONE // 20, elapsed=YEAR_SECONDS // 2)]
    assert yearly_bps(year, since=1) == 1_000 and year[0].apr_bps == 1_000
    assert yearly_bps(year, since=2) is None
    assert yearly_bps([rebase(1, ONE, ONE + 1, elapsed=0)], since=0) is None
    assert (rebase(1, ONE, ONE, elapsed=0).apr_bps, rebase(1, 0, ONE).apr_bps) == (0, 0)
    assert rebase(1, ONE, ONE - ONE // 100, elapsed=YEAR_SECONDS).apr_bps == -100


def test_shares_and_ether_are_rounded_down_both_ways() -> None:
    pool = StakedPool(total_shares=3, total_ether=10)
    assert (pool.shares_of(10), pool.shares_of(9), pool.ether_of(1), pool.dust) == (3, 2, 3, 4)
    assert StakedPool(ONE, ONE + ONE // 10).rate == ONE + ONE // 10


def test_yield_is_earned_by_what_was_held_at_each_report_and_begins_anew_after_a_sale() -> None:
    reports = [rebase(10, ONE, 2 * ONE), rebase(20, 2 * ONE, 4 * ONE)]
    bought = [SharesMoved((15, 0), 3)]
    earned = measure_earned(shares_now=5, moves=bought, rebases=reports)
    assert (earned.wei, earned.rate_delta, earned.since_place) == (2 * 1 + 5 * 2, 3 * ONE, None)
    sold = [SharesMoved((10, 0), -3, is_sale=True)]
    after = measure_earned(shares_now=5, moves=sold, rebases=reports)
    assert (after.wei, after.rate_delta, after.since_place) == (10, 2 * ONE, (10, 0))
    none = measure_earned(shares_now=5, moves=[], rebases=[])
    assert (none.wei, none.rate_delta) == (0, 0)


@pytest.mark.parametrize(
    ("queued", "buffered", "is_bunker", "ready"),
    [
        (5 * ONE, 5 * ONE, False, 1_000),
        (0, ONE, False, 1_000),
        (57_600 * ONE, 0, False, 1_000 + 5 * 86_400),
        (57_601 * ONE, 57_600 * ONE, False, 1_000 + 4 * 86_400 + 2),
        (ONE, 2 * ONE, True, None),
    ],
)
def test_the_queue_is_paid_out_of_the_buffer_and_then_as_validators_leave(
    queued: int, buffered: int, is_bunker: bool, ready: int | None
) -> None:
    found = estimate_ready(next_report_at=1_000, queued_wei=queued, buffered_wei=buffered, is_bunker=is_bunker)
    assert found == ready


def test_a_path_is_token_fee_token_and_walks_backwards_for_an_exact_output() -> None:
    packed = encode_path([ONE_TOKEN, OTHER, THIRD], [500, 3_000])
    assert packed.hex() == "1" * 40 + "0001f4" + "2" * 40 + "000bb8" + "3" * 40
    back = encode_path([ONE_TOKEN, OTHER, THIRD], [500, 3_000], is_exact_out=True)
    assert back.hex() == "3" * 40 + "000bb8" + "2" * 40 + "0001f4" + "1" * 40
    for fees in ([], [500, 500], [500, 500, 500]):
        with pytest.raises(ValueError, match="one fee between"):
            encode_path([ONE_TOKEN, OTHER], fees)


def test_a_tick_and_its_price_are_the_contracts_at_both_ends() -> None:
    assert sqrt_price_at_tick(0) == Q96 == 2**96
    assert (sqrt_price_at_tick(-887_272), sqrt_price_at_tick(887_272)) == (MIN_SQRT_PRICE, MAX_SQRT_PRICE)
    assert MIN_SQRT_PRICE == 4_295_128_739
    assert MAX_SQRT_PRICE == 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342
    for beyond in (-887_273, 887_273):
        with pytest.raises(ValueError, match="outside"):
            sqrt_price_at_tick(beyond)
    for tick in (-887_272, -60, -1, 0, 1, 60, 887_271):
        price = sqrt_price_at_tick(tick)
        assert tick_at_sqrt_price(price) == tick
        assert price == MIN_SQRT_PRICE or tick_at_sqrt_price(price - 1) == tick - 1
    for beyond in (MIN_SQRT_PRICE - 1, MAX_SQRT_PRICE):
        with pytest.raises(ValueError, match="outside"):
            tick_at_sqrt_price(beyond)
    assert UINT128_MAX == 2**128 - 1 and TICK_SPACING_OF_FEE == {100: 1, 500: 10, 3_000: 60, 10_000: 200}


def test_amounts_between_prices_are_rounded_as_mints_and_burns_do() -> None:
    low, high = Q96, 2 * Q96
    assert amount1_between(low, high, 7, round_up=False) == amount1_between(high, low, 7, round_up=True) == 7
    assert (
        amount1_between(low, low + 1, 1, round_up=False) == 0 and amount1_between(low, low + 1, 1, round_up=True) == 1
    )
    # At four times the price a whole of liquidity holds half a token0 less.
    assert amount0_between(high, low, 7, round_up=False) == 3 and amount0_between(low, high, 7, round_up=True) == 4
    assert liquidity_for_amount0(low, high, 10) == liquidity_for_amount0(high, low, 10) == 20
    assert liquidity_for_amount1(low, high, 10) == 10
    assert liquidity_for_amounts(low, low, high, 10, 0) == 20 and liquidity_for_amounts(high, low, high, 0, 10) == 10
    assert liquidity_for_amounts(low + 1, low, high, 10, 0) == 0
    assert sqrt_price_of_ratio(4, 1) == 2 * Q96 and sqrt_price_of_ratio(1, 4) == Q96 // 2


def test_one_call_is_packed_and_several_are_a_list_and_none_is_refused() -> None:
    call = Call(OTHER, b"\x12\x34", 5, "one")
    single = build_execute([call], account=ONE_TOKEN)
    assert (single.to, single.value, single.label) == (ONE_TOKEN, 0, "one")
    assert single.data[4:36] == bytes(32)
    assert bytes.fromhex(OTHER[2:]) + (5).to_bytes(32, "big") + b"\x12\x34" in single.data
    both = build_execute([call, Call(THIRD, b"", 0, "two")], account=ONE_TOKEN)
    assert both.data[4:36] == b"\x01" + bytes(31) and both.label == "one; two"
    with pytest.raises(ValueError, match="no calls"):
        build_execute([], account=ONE_TOKEN)


@pytest.mark.parametrize(
    ("borrow", "supply", "health", "seconds"),
    [
        (100, 100, 15_000, None),
        (50, 100, 15_000, None),
        (100, 100, 10_000, 0),
        (200, 100, 10_000, 0),
        (200, 100, 0, None),
        (200, 100, 10_001, 31_536_000),
        (10_100, 100, 15_000, 5_000 * 100 * 31_536_000 // 10_000),
    ],
)
def test_interest_eats_the_room_only_where_the_debt_costs_more(
    borrow: int, supply: int, health: int, seconds: int | None
) -> None:
    pair: Any = SimpleNamespace(borrow_ppm=borrow, supply_ppm=supply, rate=Fraction(1))
    assert _time_left(pair, health) == seconds


def test_the_side_of_a_trade_is_its_largest_amount_and_nothing_is_none() -> None:
    assert _largest({"a": 1, "b": 3, "c": -9, "d": 2}) == ("b", 3)
    assert _largest({"a": 0, "b": -1}) is None and _largest({}) is None

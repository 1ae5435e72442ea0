"""Money in words and in integers, and what of an answer becomes text, at their edges."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import Any

import pytest

from tools_app.core.typed_numbers import read_typed_units
from tools_app.core.units import (
    apply_bps_down,
    apply_bps_up,
    format_micro_usd,
    format_units,
    net_value_in_micro_usd,
    usd_to_micro,
    value_in_micro_usd,
)
from tools_app.toolkit.result import UsdAmount, encode_result


@pytest.mark.parametrize(
    ("micro", "text"),
    [
        (0, "$0.00"),
        (1, "$0.000001"),
        (9_999, "$0.009999"),
        (10_000, "$0.01"),
        (14_999, "$0.01"),
        (15_000, "$0.02"),
        (999_994_999, "$999.99"),
        (999_995_000, "$1,000.00"),
        (1_234_567_890, "$1,234.57"),
        (-1, "-$0.000001"),
        (-10_000, "-$0.01"),
        (-1_234_567_890, "-$1,234.57"),
    ],
)
def test_dollars_are_rounded_to_cents_and_below_a_cent_told_whole(micro: int, text: str) -> None:
    assert format_micro_usd(micro) == text


@pytest.mark.parametrize(
    ("raw", "decimals", "symbol", "text"),
    [
        (1_500_000, 6, "USDC", "1.5 USDC"),
        (1, 18, "", "0.000000000000000001"),
        (-1, 2, "X", "-0.01 X"),
        (-250, 2, "", "-2.5"),
        (100, 2, "", "1"),
        (7, 0, "N", "7 N"),
        (0, 6, "USDC", "0 USDC"),
    ],
)
def test_units_are_told_exactly(raw: int, decimals: int, symbol: str, text: str) -> None:
    assert format_units(raw, decimals, symbol) == text
    if raw >= 0:
        assert read_typed_units(text.split()[0], decimals) == raw


def test_more_decimals_than_there_are_units_is_refused() -> None:
    assert (usd_to_micro("0.000001"), usd_to_micro(3), usd_to_micro(Decimal("1.5"))) == (1, 3_000_000, 1_500_000)
    with pytest.raises(ValueError, match="six decimals"):
        usd_to_micro("0.0000001")
    with pytest.raises(ValueError, match="more than 2 decimals"):
        read_typed_units("0.001", 2)


@pytest.mark.parametrize(
    ("raw", "limit_sees", "owned"),
    [(10**6, 2_000_000, 2_000_000), (1, 2, 2), (-(10**6), -2_000_000, -2_000_000), (0, 0, 0)],
)
def test_a_value_is_base_units_times_a_price(raw: int, limit_sees: int, owned: int) -> None:
    price = {"token_decimals": 6, "price": 2 * 10**8, "price_decimals": 8}
    assert value_in_micro_usd(raw=raw, **price) == limit_sees
    assert net_value_in_micro_usd(raw=raw, **price) == owned


def test_a_limit_never_sees_too_little_and_a_holding_is_never_taken_for_more() -> None:
    third = {"token_decimals": 8, "price": 10**8, "price_decimals": 8}
    assert (value_in_micro_usd(raw=1, **third), net_value_in_micro_usd(raw=1, **third)) == (1, 0)
    assert (value_in_micro_usd(raw=-1, **third), net_value_in_micro_usd(raw=-1, **third)) == (-1, -1)


@pytest.mark.parametrize(
    ("amount", "bps", "least", "most"),
    [(10_000, 50, 9_950, 10_050), (1, 1, 0, 2), (10_000, 0, 10_000, 10_000), (7, 10_000, 0, 14), (0, 50, 0, 0)],
)
def test_what_is_accepted_is_rounded_against_nobody_but_oneself(amount: int, bps: int, least: int, most: int) -> None:
    assert (apply_bps_down(amount, bps), apply_bps_up(amount, bps)) == (least, most)


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (2**53 - 1, 2**53 - 1),
        (2**53, str(2**53)),
        (-(2**53) + 1, -(2**53) + 1),
        (-(2**53), str(-(2**53))),
        (True, True),
        (None, None),
        (b"\x01\xff", "0x01ff"),
        (UsdAmount(1_500_000), "1.500000"),
        (UsdAmount(-1), "-0.000001"),
        ((1, ["a", {"b": 2}]), [1, ["a", {"b": 2}]]),
    ],
)
def test_an_answer_holds_whole_numbers_as_far_as_json_is_exact(given: Any, told: Any) -> None:
    assert encode_result(given) == told and type(encode_result(given)) is type(told)


@pytest.mark.parametrize("given", [1.5, {1.5}, object(), Colour.RED])
def test_what_is_no_answer_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="cannot be part"):
        encode_result({"a": [given]})

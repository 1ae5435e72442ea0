"""A number that a person types is read one way, or refused with a spelling that is understood."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tools_app.core.typed_numbers import LONGEST_NUMBER, UnclearNumber, read_typed_number, read_typed_units

_AS_TYPED = st.from_regex(r"\A[0-9.,' _-]{1,14}\Z")


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("500", "500"),
        ("500.00", "500"),
        ("0.5", "0.5"),
        (".5", "0.5"),
        ("007", "7"),
        ("1,234", "1234"),
        ("12,345,678.90", "12345678.9"),
        ("  $2,500 ", "2500"),
        ("$ 7", "7"),
    ],
)
def test_what_is_clear_is_read_exactly(typed: str, number: str) -> None:
    assert read_typed_number(typed, most_decimals=6, before="$") == Decimal(number)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("500,00", "Write 500.00 if the comma stands before decimals"),
        ("0,5", "Write 0.5 if"),
        (",5", "Write 0.5 if"),
        ("0,500", "Write 0.500 if"),
        ("1234,567", "Write 1234.567 or 1234567"),
        ("2.500,50", "Write 2500.50 if"),
        ("1.234.567,8", "Write 1234567.8 if"),
        ("1.234.567", "Write 1234567 if the dots stand between thousands"),
        ("1,23,456", "Write no comma at all"),
        ("12,34.5", "Write no comma at all"),
        ("1,234,56", "Write no comma at all"),
        ("1 000", "has gaps"),
        ("1\N{NO-BREAK SPACE}000", "no number"),
        ("1'000", "has gaps"),
        ("1_000", "has gaps"),
        ("-5", "below zero"),
        ("\N{MINUS SIGN}5", "below zero"),
        ("1e6", "exponent"),
        ("500 USDC", "no number"),
        ("$$5", "no number"),
        ("5 %", "no number"),
        ("\u0665\u0660\u0660", "no number"),
        ("\uff15\uff10", "no number"),
        ("\u00b2", "no number"),
        ("abc", "no number"),
        ("inf", "no number"),
        ("nan", "no number"),
        ("0x10", "no number"),
        (".", "no number"),
        ("5.", "no number"),
        ("", "no number"),
        ("0.0000001", "more than 6 decimals"),
        ("1" * (LONGEST_NUMBER + 1), f"at most {LONGEST_NUMBER} digits"),
    ],
)
def test_what_could_mean_two_things_or_nothing_is_refused_in_words(typed: str, says: str) -> None:
    with pytest.raises(UnclearNumber) as refused:
        read_typed_number(typed, most_decimals=6, before="$")
    assert says in str(refused.value)


def test_a_refusal_repeats_thirty_characters_and_no_more() -> None:
    for typed, shown in (("x" * 30, f"“{'x' * 30}”"), ("x" * 31, f"“{'x' * 30}…”")):
        with pytest.raises(UnclearNumber) as refused:
            read_typed_number(typed, most_decimals=6)
        assert shown in str(refused.value)


def test_a_percentage_has_no_thousands() -> None:
    assert read_typed_number("0.5%", most_decimals=2, may_group=False, after="%") == Decimal("0.5")
    for typed in ("1,250", "0,5", "1,000,000"):
        with pytest.raises(UnclearNumber):
            read_typed_number(typed, most_decimals=2, may_group=False, after="%")


def test_units_of_a_token_are_exact_and_no_finer_than_the_token() -> None:
    assert read_typed_units("1,500.5", 6) == 1_500_500_000
    assert read_typed_units("12", 0) == 12
    assert read_typed_units("115792089237316195423570985008687907853269984665640564039457", 18) < 2**256
    for typed, decimals in (("0.0000001", 6), ("1.5", 0), ("1,5", 18), ("9" * 60, 18)):
        with pytest.raises(UnclearNumber):
            read_typed_units(typed, decimals)


@given(st.decimals(min_value=0, max_value=10**12, places=6))
def test_a_number_with_its_commas_means_what_it_means_without(number: Decimal) -> None:
    grouped, plain = f"{number:,f}", f"{number:f}"
    assert read_typed_number(grouped, most_decimals=6) == read_typed_number(plain, most_decimals=6) == number


@given(_AS_TYPED)
@example("500,00")
@example("1.234.567,8")
def test_what_a_refusal_says_to_write_is_understood_and_has_the_same_digits(typed: str) -> None:
    try:
        read_typed_number(typed, most_decimals=20)
    except UnclearNumber as refused:
        if "for example" in str(refused):
            return
        for proposed in re.findall(r"(?:Write|or) ([0-9][0-9.]*)(?= |\.$)", str(refused)):
            understood = read_typed_number(proposed, most_decimals=20)
            assert f"{understood:f}".strip("0.") == "".join(re.findall(r"[0-9.]", f"{understood:f}")).strip("0.")
            assert re.sub(r"\D", "", proposed).strip("0") == re.sub(r"\D", "", typed).strip("0")

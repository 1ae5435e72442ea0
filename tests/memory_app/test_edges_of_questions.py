"""What memory takes of what it is asked and told, just below, at and just above each bound."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from memory_app.actions.query_grimoire import check_question
from memory_app.actions.record_execution import measure_error_bps, read_usd
from memory_app.actions.update_directive import _check_input, check_document
from memory_app.directive_text import Section
from memory_app.dreams.counterfactuals import list_variations
from memory_app.errors import DirectiveTooLarge
from memory_app.filters import _read_tokens
from memory_app.insights import confirm, contradict
from memory_app.json_text import _find_problem
from memory_app.memory_adjustments import tighten_slippage
from memory_app.reflection import _difference_bps, _read_number
from tools_app.core.errors import InvalidParams


@pytest.mark.parametrize(
    ("length", "limit", "is_taken"), [(1, 1, True), (2_000, 50, True), (2_001, 1, False), (1, 51, False), (1, 0, False)]
)
def test_a_question_has_two_thousand_letters_and_fifty_answers_at_most(length: int, limit: int, is_taken: bool) -> None:
    if is_taken:
        assert check_question(query="a" * length, store="both", limit=limit)[2] == limit
        return
    with pytest.raises(InvalidParams):
        check_question(query="a" * length, store="both", limit=limit)


@pytest.mark.parametrize(("count", "is_taken"), [(8, True), (9, False)])
def test_a_filter_names_eight_tokens_at_most(count: int, is_taken: bool) -> None:
    if is_taken:
        assert len(_read_tokens(["A"] * count)) == count
        return
    with pytest.raises(ValueError, match="at most 8"):
        _read_tokens(["A"] * count)


@pytest.mark.parametrize(
    ("micro", "is_taken"), [(2**62 - 1, True), (2**62, False), (1 - 2**62, True), (-(2**62), False)]
)
def test_dollars_of_a_record_fit_its_column(micro: int, is_taken: bool) -> None:
    text = f"{'-' if micro < 0 else ''}{abs(micro) // 10**6}.{abs(micro) % 10**6:06d}"
    if is_taken:
        assert read_usd(text, field="pnl") == micro
        return
    with pytest.raises(InvalidParams):
        read_usd(text, field="pnl")


@pytest.mark.parametrize(
    ("predicted", "realized", "bps"),
    [(999_999, 1_999_999, 10_000), (1_000_000, 2_000_000, 10_000), (1_000_001, 2_000_001, 9_999), (0, 100, 1)]
    + [(0, 2**31 * 100, 2**31 - 1), (0, (2**31 - 1) * 100, 2**31 - 1), (0, (2**31 - 2) * 100, 2**31 - 2)],
)
def test_an_error_is_of_a_dollar_at_least_and_fits_its_column(predicted: int, realized: int, bps: int) -> None:
    assert measure_error_bps(predicted_micro_usd=predicted, realized_micro_usd=realized) == bps


def test_a_number_that_is_compared_has_seventy_eight_digits() -> None:
    assert _read_number(10**78 - 1) == 10**78 - 1 and _read_number(10**78) is None


@pytest.mark.parametrize(
    ("times", "bps"), [("214749.3646", 2**31 - 2), ("214749.3647", 2**31 - 1), ("214749.3648", 2**31 - 1)]
)
def test_a_difference_fits_its_column(times: str, bps: int) -> None:
    assert _difference_bps(Decimal(1), Decimal(times)) == bps


@pytest.mark.parametrize(
    ("asked", "factor", "bps"),
    [(100, 5_000, 50), (100, 4_999, 50), (10_000, 4_999, 5_000), (100, 10_001, 100), (1, 5_000, 1)],
)
def test_slippage_is_tightened_by_half_at_most(asked: int, factor: int, bps: int) -> None:
    assert tighten_slippage(asked_bps=asked, factor_bps=factor) == bps


@pytest.mark.parametrize(("slippage", "wider"), [(50, True), (51, False)])
def test_a_dream_widens_slippage_to_one_percent_at_most(slippage: int, wider: bool) -> None:
    assert ({"slippage_bps": 2 * slippage} in list_variations({"slippage_bps": slippage})) is wider


@pytest.mark.parametrize(("deadline", "longer"), [(900, True), (901, False)])
def test_a_dream_waits_half_an_hour_at_most(deadline: int, longer: bool) -> None:
    assert ({"deadline": 2 * deadline} in list_variations({"deadline": deadline})) is longer


def test_a_document_has_sixty_four_sections_and_sixty_four_thousand_letters() -> None:
    section = Section("A", "b")
    check_document((section,) * 64, "a" * 64_000)
    for sections, length in ((65, 1), (1, 64_001)):
        with pytest.raises(DirectiveTooLarge):
            check_document((section,) * sections, "a" * length)


@pytest.mark.parametrize(
    ("title", "change", "reason", "refusal"),
    [
        (80, 8_000, 2_000, None),
        (81, 1, 1, InvalidParams),
        (1, 8_001, 1, DirectiveTooLarge),
        (1, 1, 2_001, InvalidParams),
    ],
)
def test_a_section_its_heading_and_the_reason_are_as_long_as_they_may_be(
    title: int, change: int, reason: int, refusal: Any
) -> None:
    if refusal is None:
        assert len(_check_input("t" * title, "c" * change, "r" * reason)[0].text) == change
        return
    with pytest.raises(refusal):
        _check_input("t" * title, "c" * change, "r" * reason)


@pytest.mark.parametrize(
    ("number", "is_taken"), [(2**63 - 1, True), (2**63, False), (1 - 2**63, True), (-(2**63), False)]
)
def test_an_open_value_holds_whole_numbers_of_sixty_three_bits(number: int, is_taken: bool) -> None:
    assert (_find_problem(number, 1) == "") is is_taken


@pytest.mark.parametrize(("deep", "is_taken"), [(6, True), (7, False)])
def test_an_open_value_is_nested_six_deep(deep: int, is_taken: bool) -> None:
    value: Any = "x"
    for _ in range(deep):
        value = [value]
    assert (_find_problem(value, 0) == "") is is_taken


def test_a_vote_adds_ten_percent_of_trust_or_takes_fifteen() -> None:
    assert [confirm(percent) for percent in (50, 89, 90, 91)] == [60, 99, 100, 100]
    assert [contradict(percent) for percent in (50, 16, 15, 14)] == [35, 1, 0, 0]

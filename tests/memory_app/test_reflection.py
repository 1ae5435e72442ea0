"""Reflection: numbers against numbers, and known causes of a revert."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_app.reflection import reflect


def deltas(**raw: int) -> dict[str, Any]:
    return {
        "balance_deltas": [
            {"token": f"0x{symbol}", "symbol": symbol, "raw": str(value), "units": "text"}
            for symbol, value in raw.items()
        ]
    }


def test_an_outcome_equal_to_its_prediction_is_as_predicted() -> None:
    found = reflect(prediction=deltas(USDC=-500, WETH=162), outcome=deltas(WETH=162, USDC=-500))
    assert found.verdict == "as_predicted"
    assert found.prediction_error_bps == 0
    assert len(found.comparisons) == 2


def test_tokens_are_compared_by_name_wherever_they_stand_in_the_list() -> None:
    found = reflect(prediction=deltas(USDC=-500, WETH=1_000), outcome=deltas(WETH=900, USDC=-500))
    assert found.prediction_error_bps == 1_000
    assert found.verdict == "diverged"
    assert "WETH" in found.why[0]


def test_a_token_that_did_not_arrive_counts_as_nothing_arrived() -> None:
    found = reflect(prediction=deltas(USDC=-500, WETH=162), outcome=deltas(USDC=-500))
    assert found.prediction_error_bps == 10_000


def test_a_token_that_nobody_predicted_is_a_full_error() -> None:
    found = reflect(prediction=deltas(USDC=-500), outcome=deltas(USDC=-500, SPAM=1))
    assert found.prediction_error_bps == 10_000


def test_gas_is_compared_but_is_no_prediction_error() -> None:
    found = reflect(
        prediction={**deltas(USDC=-500), "gas_used": 100_000}, outcome={**deltas(USDC=-500), "gas_used": 120_000}
    )
    assert found.prediction_error_bps == 0
    assert any("Gas" in line for line in found.why)


def test_a_token_address_that_spells_fee_is_still_an_amount() -> None:
    address = "0xfee" + "0" * 37
    found = reflect(prediction={address: "1000"}, outcome={address: "900"})
    assert found.prediction_error_bps == 1_000


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Too little received", "slippage bound"),
        ("UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT", "slippage bound"),
        ("Transaction too old", "deadline"),
        ("TRANSFER_FROM_FAILED", "balance or allowance"),
        ("0xdeadbeef", "not known"),
        ("", "not known"),
    ],
)
def test_a_revert_is_explained_by_its_reason(reason: str, words: str) -> None:
    found = reflect(prediction=deltas(WETH=162), outcome={"succeeded": False, "revert_reason": reason})
    assert found.verdict == "reverted"
    assert words in found.why[0]
    assert found.next_time


def test_nothing_to_compare_is_said_and_not_called_a_success() -> None:
    found = reflect(prediction={}, outcome={"status": "COMMITTED"})
    assert found.verdict == "not_comparable"
    assert found.prediction_error_bps is None


@given(st.integers(min_value=1, max_value=10**30), st.integers(min_value=0, max_value=10**30))
def test_the_error_is_the_difference_in_basis_points_of_the_prediction(expected: int, actual: int) -> None:
    found = reflect(prediction={"out": str(expected)}, outcome={"out": str(actual)})
    exact = min(2**31 - 1, abs(actual - expected) * 10_000 // expected)
    assert found.prediction_error_bps is not None
    # 28 significant digits of Decimal: one basis point of rounding at most where the ratio is huge.
    assert abs(found.prediction_error_bps - exact) <= max(1, exact // 10**20)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=5), st.dictionaries(st.text(max_size=8), JSON, max_size=5))
def test_any_json_can_be_reflected_on(prediction: dict[str, Any], outcome: dict[str, Any]) -> None:
    found = reflect(prediction=prediction, outcome=outcome)
    assert found.verdict in {"as_predicted", "diverged", "reverted", "not_comparable"}
    assert found.prediction_error_bps is None or 0 <= found.prediction_error_bps < 2**31

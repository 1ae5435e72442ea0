"""Reflect: turn a prediction and an outcome into expected, happened, why, and what to do next time.

Deterministic rules over numbers and known words, no language model; advice speaks of slippage, timing and
route only, because memory may touch nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal

from tools_app.core.json_types import JsonObject
from tools_app.core.units import BPS

NOTABLE_ERROR_BPS = 10
NOTABLE_GAS_ERROR_BPS = 500
_LARGEST_ERROR_BPS = 2**31 - 1
_ZERO = Decimal(0)
_MOST_COMPARISONS = 64
_COIN_MARK = "[token "
_LARGEST_INTEGER = 10**78
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,78}(\.[0-9]{1,30})?")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_COST_WORDS = ("gas", "fee", "nonce", "block", "timestamp", "deadline", "duration", "decimals", "chain_id", "units")
PRICE_MOVED = "The price moved further than the slippage bound allowed."
MINED_LATE = "The transaction was mined after its deadline."
TOO_SHALLOW = "The route had too little liquidity."
_REVERT_CAUSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("too little received", "insufficient_output", "slippage", "too much requested", "excessive_input"),
        PRICE_MOVED,
        "Expect the price to move between preview and commit here; commit sooner, or trade in smaller parts.",
    ),
    (
        ("expired", "too old", "deadline"),
        MINED_LATE,
        "Commit sooner after the preview, or allow a longer deadline.",
    ),
    (
        ("transfer_from", "transfer amount exceeds", "stf", "allowance", "insufficient balance"),
        "A token could not be taken from the account: balance or allowance was short.",
        "Look up balance and allowance right before the preview.",
    ),
    (
        ("liquidity", "spl"),
        TOO_SHALLOW,
        "Compare other fee tiers and the other router before choosing this route.",
    ),
)


@dataclass(frozen=True, slots=True)
class NumberComparison:
    """One number that was predicted and then seen, both as text; the difference in basis points of the prediction."""

    what: str
    expected: str
    actual: str
    difference_bps: int
    is_cost: bool


@dataclass(frozen=True, slots=True)
class Reflection:
    """What an episode teaches. `verdict` is as_predicted, diverged, reverted or not_comparable."""

    verdict: str
    expected: tuple[str, ...]
    happened: tuple[str, ...]
    why: tuple[str, ...]
    next_time: tuple[str, ...]
    comparisons: tuple[NumberComparison, ...]
    prediction_error_bps: int | None

    def as_json(self) -> JsonObject:
        """JSON-ready form."""
        return asdict(self)


def reflect(*, prediction: Mapping[str, object], outcome: Mapping[str, object]) -> Reflection:
    """Compare every number both sides name by the same path. Amounts are integers or decimal strings; pure.

    Lists of `{token, symbol, raw}` are compared token by token. An outcome reverted when its `status` is REVERTED or
    its `succeeded` is false; `revert_reason` and `findings` are then held against known causes. Gas and fees are
    compared too but are no prediction error.
    """
    comparisons = tuple(_compare(prediction, outcome))[:_MOST_COMPARISONS]
    errors = [comparison.difference_bps for comparison in comparisons if not comparison.is_cost]
    error_bps = max(errors) if errors else None
    if _has_reverted(outcome):
        cause, advice = _explain_revert(f"{outcome.get('revert_reason') or ''} {outcome.get('findings') or ''}")
        return Reflection(
            verdict="reverted",
            expected=_describe(comparisons, "expected") or ("The action would succeed.",),
            happened=("The transaction reverted; only its fee was spent.",),
            why=(cause,),
            next_time=(advice,),
            comparisons=comparisons,
            prediction_error_bps=error_bps if error_bps is not None else BPS,
        )
    why, advice_lines = _explain_difference(comparisons, error_bps)
    return Reflection(
        verdict=_judge(error_bps),
        expected=_describe(comparisons, "expected"),
        happened=_describe(comparisons, "actual"),
        why=why,
        next_time=advice_lines,
        comparisons=comparisons,
        prediction_error_bps=error_bps,
    )


def _judge(error_bps: int | None) -> str:
    if error_bps is None:
        return "not_comparable"
    return "as_predicted" if error_bps <= NOTABLE_ERROR_BPS else "diverged"


def _has_reverted(outcome: Mapping[str, object]) -> bool:
    return str(outcome.get("status", "")).upper() == "REVERTED" or outcome.get("succeeded") is False


def _explain_revert(reason: str) -> tuple[str, str]:
    lowered = reason.lower()
    for words, cause, advice in _REVERT_CAUSES:
        if any(word in lowered for word in words):
            return cause, advice
    return (
        "The contract refused for a reason that is not known here.",
        "Preview again and read the revert reason first.",
    )


def _explain_difference(
    comparisons: tuple[NumberComparison, ...], error_bps: int | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if error_bps is None:
        return ("Nothing was predicted that the outcome could be held against.",), ()
    why: list[str] = []
    advice: list[str] = []
    if error_bps <= NOTABLE_ERROR_BPS:
        why.append("The state the preview saw still held when the transaction ran.")
        advice.append("The prediction can be relied on at this size and route.")
    else:
        worst = max((c for c in comparisons if not c.is_cost), key=lambda c: c.difference_bps)
        why.append(f"{worst.what} differed by {worst.difference_bps} bps: the state changed after the preview.")
        advice.append("Commit sooner after the preview, or leave more slippage inside the limits.")
    if any(c.is_cost and "gas" in c.what and c.difference_bps > NOTABLE_GAS_ERROR_BPS for c in comparisons):
        why.append("Gas was not what the simulation measured.")
        advice.append("Expect the gas figure of this route to vary.")
    return tuple(why), tuple(advice)


def _describe(comparisons: tuple[NumberComparison, ...], side: str) -> tuple[str, ...]:
    return tuple(f"{comparison.what}: {getattr(comparison, side)}" for comparison in comparisons)


def _compare(prediction: Mapping[str, object], outcome: Mapping[str, object]) -> Iterator[NumberComparison]:
    predicted, seen = dict(_numbers(prediction)), dict(_numbers(outcome))
    # A token that one side lists and the other does not moved by nothing there.
    both = _token_lists(predicted) & _token_lists(seen)
    for path in sorted({*predicted, *seen}):
        is_listed = _list_of(path) in both
        expected = predicted.get(path, _ZERO if is_listed else None)
        actual = seen.get(path, _ZERO if is_listed else None)
        if expected is None or actual is None:
            continue
        yield NumberComparison(
            what=path,
            expected=f"{expected:f}",
            actual=f"{actual:f}",
            difference_bps=_difference_bps(expected, actual),
            is_cost=_is_cost(path),
        )


def _token_lists(numbers: Mapping[str, Decimal]) -> set[str]:
    return {_list_of(path) for path in numbers} - {""}


def _list_of(path: str) -> str:
    return path.partition(_COIN_MARK)[0] if _COIN_MARK in path else ""


def _is_cost(path: str) -> bool:
    # An address can spell "fee" in its own digits.
    words = _ADDRESS.sub("", path).lower()
    return any(word in words for word in _COST_WORDS)


def _difference_bps(expected: Decimal, actual: Decimal) -> int:
    if expected == actual:
        return 0
    if expected == 0:
        return BPS
    return min(_LARGEST_ERROR_BPS, int(abs(actual - expected) * BPS / abs(expected)))


def _numbers(value: object, path: str = "") -> Iterator[tuple[str, Decimal]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _numbers(member, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            # The same token may stand in another place of the other list.
            token = member.get("token") if isinstance(member, Mapping) else None
            place = f"{_COIN_MARK}{member.get('symbol') or ''} {token}]" if isinstance(token, str) else f"[{index}]"
            yield from _numbers(member, path + place)
    elif (number := _read_number(value)) is not None:
        yield path, number


def _read_number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value) if isinstance(value, str) or abs(value) < _LARGEST_INTEGER else ""
    # Plain digits only: an exponent could name a number of a million digits.
    return Decimal(text) if _PLAIN_NUMBER.fullmatch(text) else None

"""Addresses made to be taken for another one: alike where people look, at both ends, and different between. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final

SHOWN_DIGITS: Final = 4
"""So many hex digits at each end pages show of a shortened address, and so many are compared by eye."""
_LEAST_AT_AN_END: Final = SHOWN_DIGITS - 1
_LEAST_TOGETHER: Final = 2 * SHOWN_DIGITS - 1


def find_look_alike(address: str, known: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """The first of `known` (address and name) that `address` is alike and is not; None where there is none."""
    wanted = address.lower().removeprefix("0x")
    for other, name in known:
        digits = other.lower().removeprefix("0x")
        if digits != wanted and _is_alike(digits, wanted):
            return other, name
    return None


def _is_alike(digits: str, wanted: str) -> bool:
    begin, end = _count_equal(digits, wanted), _count_equal(digits[::-1], wanted[::-1])
    return min(begin, end) >= _LEAST_AT_AN_END and begin + end >= _LEAST_TOGETHER


def _count_equal(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

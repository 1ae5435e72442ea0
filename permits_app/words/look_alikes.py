"""Addresses made to be taken for another one: alike where people look, at both ends, and different between. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SHOWN_DIGITS: Final = 4
"""So many hex digits at each end pages show of a shortened address, and so many are compared by eye."""


def find_look_alike(address: str, known: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """The first of `known` (address and name) that `address` is alike and is not; None where there is none."""
    wanted = address.lower().removeprefix("0x")
    for other, name in known:
        digits = other.lower().removeprefix("0x")
        if digits != wanted and _ends(digits) == _ends(wanted):
            return other, name
    return None


def _ends(digits: str) -> tuple[str, str]:
    return digits[:SHOWN_DIGITS], digits[-SHOWN_DIGITS:]

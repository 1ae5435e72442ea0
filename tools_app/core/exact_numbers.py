"""Which numbers of JSON are whole and arrive as they were written: one rule for every door.

A number is what it is worth and not how it is spelt: 5, 5.0 and 5e0 are the same integer, as JSON Schema says. Programs
that keep numbers in 53 bits write them with a fraction or an exponent; what such a spelling says beyond 2**53 may have
been rounded before it was sent, so it is no number that anything may be done with.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Final

LARGEST_EXACT: Final = 2**53 - 1
"""The largest integer of which a double tells its neighbours apart."""
_LONGEST: Final = 80  # characters; no exact number of such a spelling is longer


class NumberText(str):
    """A number that is no whole one, or not exact, as it was written: a parameter that holds decimals reads it, and
    where a text is asked for it is none.
    """

    __slots__ = ()


def read_whole(text: str) -> int | None:
    """The integer that `text`, a JSON number with a fraction or an exponent, is; None where it is none or not exact."""
    if len(text) > _LONGEST:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if abs(number) > LARGEST_EXACT or number != number.to_integral_value():
        return None
    return int(number)

"""Numbers that people type: one way to read them, and words for what could mean two things.

A comma separates thousands and nothing else, as in `1,234,567.89`; a dot separates decimals. Whatever is written
otherwise is refused with a spelling that would be understood. It is never turned into another number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

LONGEST_NUMBER: Final = 60
_PLAIN: Final = re.compile(r"[0-9]+(\.[0-9]+)?|\.[0-9]+")
_GROUPED: Final = re.compile(r"[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?")
_SHOWN: Final = 30
_LARGEST_RAW: Final = 2**256 - 1


class UnclearNumber(ValueError):
    """A text that is no number, or might be two; its message says what to write."""


def read_typed_number(
    text: str, *, most_decimals: int, may_group: bool = True, before: str = "", after: str = ""
) -> Decimal:
    """The number that `text` says, exact and not below zero.

    `before` and `after` are signs that may stand around it, for example `$` and `%`. `may_group` allows commas between
    thousands. Raises UnclearNumber, whose message is for the person who typed.
    """
    bare = text.strip().removeprefix(before).removesuffix(after).strip()
    shown = bare[:_SHOWN] + ("…" if len(bare) > _SHOWN else "")
    if len(bare) > LONGEST_NUMBER:
        raise UnclearNumber(f"A number has at most {LONGEST_NUMBER} digits.")
    if not (_PLAIN.fullmatch(bare) or (may_group and _GROUPED.fullmatch(bare))):
        raise UnclearNumber(f"“{shown}” {_say_what_is_unclear(bare, may_group=may_group)}")
    number = Decimal(bare.replace(",", ""))
    if number.normalize().as_tuple().exponent < -most_decimals:  # type: ignore[operator]  # finite, so an integer
        raise UnclearNumber(f"“{shown}” has more than {most_decimals} decimals.")
    return number


def read_typed_units(text: str, decimals: int) -> int:
    """Base units of the whole units that `text` says, for a token with so many decimals. Raises UnclearNumber."""
    raw = int(read_typed_number(text, most_decimals=decimals).scaleb(decimals))
    if raw > _LARGEST_RAW:
        raise UnclearNumber(f"“{text.strip()[:_SHOWN]}…” is more than any contract counts.")
    return raw


def _say_what_is_unclear(bare: str, *, may_group: bool) -> str:
    """Why it is no number, and what would be one."""
    if re.fullmatch(r"[-−–][0-9.,]+", bare):
        return "is below zero. Write a number from 0 on."
    if re.fullmatch(r"[0-9.,]+[eE][+-]?[0-9]+", bare):
        return "has an exponent. Write all of its digits."
    if not re.fullmatch(r"[0-9.,\s_']*[0-9][0-9.,\s_']*", bare, re.ASCII):
        return "is no number. Write the digits 0 to 9 alone, with a dot before decimals, for example 1234.50."
    if re.search(r"[\s_']", bare):
        return "has gaps between its digits. Write them without gaps, for example 1234.50."
    whole, _, rest = bare.rpartition(",")
    if bare.count(",") == 1 and "." not in bare:
        as_decimal = f"{int(whole or '0')}.{rest or '0'}"
        if may_group and len(rest) == 3 and int(whole or "0"):
            return f"has a comma that could mean two things. Write {as_decimal} or {int(whole)}{rest}."
        return f"has a comma where none can be. Write {as_decimal} if the comma stands before decimals."
    if "," in bare and "." in whole and "." not in rest:
        joined = re.sub(r"[.,]", "", whole)
        return f"has a comma after a dot. Write {joined}.{rest or '0'} if the comma stands before decimals."
    if bare.count(".") > 1:
        joined = re.sub(r"[.,]", "", bare)
        return f"has more than one dot. Write {joined} if the dots stand between thousands."
    if "," not in bare:
        return "is no number. Write a digit after the dot, or no dot."
    return "has commas where none can be. Write no comma at all, for example 1234567.89."

"""A name written from right to left turns nothing round that stands beside it."""

from __future__ import annotations

import unicodedata
from typing import Final

_FIRST_STRONG_ISOLATE: Final = "\u2068"
_END_OF_ISOLATE: Final = "\u2069"
# Letters of Hebrew and its like, of Arabic, and Arabic's digits: Unicode's classes by which a line changes direction.
_TURNING: Final = frozenset({"R", "AL", "AN"})


def isolate(name: str) -> str:
    """`name` to be put beside an address or an amount: set apart where it is written from right to left."""
    if name.isascii() or not any(unicodedata.bidirectional(letter) in _TURNING for letter in name):
        return name
    return f"{_FIRST_STRONG_ISOLATE}{name}{_END_OF_ISOLATE}"

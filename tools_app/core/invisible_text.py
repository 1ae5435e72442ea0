"""Finds the characters that a reader does not see, so that no text carries hidden words.

Three kinds count: characters without a picture of their own (control, format, surrogate, private use), Unicode's
`Default_Ignorable_Code_Point` (variation selectors, fillers, tags), and letters that are drawn blank. Source of the
second: DerivedCoreProperties.txt of the Unicode Character Database, version 16.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_KEPT: Final = "\n\t"
_DEFAULT_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Braille's empty cell, the object replacement, Khitan's filler and a musical note without a head.
_DRAWN_BLANK: Final = "\u2800\ufffc\U00016fe4\U0001d159"
_NAMED: Final = re.compile(f"[{_DEFAULT_IGNORABLE}{_DRAWN_BLANK}]")
_EMOJI_SELECTORS: Final = "\ufe0e\ufe0f"
# Signs that are no `So` and have an emoji form all the same: digits of keycaps, and punctuation and arrows.
_OTHER_EMOJI: Final = frozenset("#*0123456789\u203c\u2049\u2194\u21d4\u25fc\u25fb\u25fd\u25fe\u3030\u303d")


def drop_invisible(text: str) -> str:
    """Returns `text` without characters that nobody sees; every other kind of space becomes a plain one.

    Line feeds, tabs and every script stay. A variation selector stays where it follows an emoji, and only one there.
    """
    if text.isascii() and text.isprintable():
        return text
    kept: list[str] = []
    before = ""
    for letter in text:
        if letter in _EMOJI_SELECTORS and _is_emoji(before):
            kept.append(letter)
        elif not is_invisible(letter):
            kept.append(" " if unicodedata.category(letter) == "Zs" else letter)
        before = letter
    return "".join(kept)


def count_invisible(text: str) -> int:
    """Counts the characters that `drop_invisible` would drop."""
    return 0 if text.isascii() and text.isprintable() else len(text) - len(drop_invisible(text))


def is_invisible(letter: str) -> bool:
    """Tells whether one character, looked at alone, shows nothing. A space and a line feed do show."""
    if letter in _KEPT:
        return False
    return unicodedata.category(letter) in _HIDDEN_CATEGORIES or _NAMED.match(letter) is not None


def _is_emoji(letter: str) -> bool:
    return letter != "" and (letter in _OTHER_EMOJI or unicodedata.category(letter) == "So")

"""Compares token symbols as an eye reads them, by Unicode's own table of characters that look alike.

The table is confusables.txt of Unicode Technical Standard 39, as the package `confusable-homoglyphs` carries it. It
says nothing of the digits that forgers put for letters (`U5DC`), nor of some small capitals; those are added here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from tools_app.core.invisible_text import drop_invisible

# Folded last, and so for every symbol alike: what a hurried eye takes for the same letter.
_LETTERS: Final = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "8": "b", "$": "s", "ξ": "e"})
_PAIRS: Final = (("rn", "m"), ("vv", "w"))
_AT_THE_ENDS: Final = ".,:;'`*_-"
_NAMED_LETTER: Final = re.compile(
    r"(?:LATIN|MODIFIER|FULLWIDTH LATIN|TAG LATIN)\b.* (?:CAPITAL|SMALL) ([A-Z])(?: WITH .*)?"
)


@lru_cache(maxsize=8_192)
def make_skeleton(symbol: str) -> str:
    """Returns what an eye keeps of `symbol`: two symbols of one skeleton are taken for one another."""
    folded = "".join(_fold_letter(letter) for letter in drop_invisible(symbol))
    folded = folded.casefold().translate(_LETTERS)
    for pair, letter in _PAIRS:
        folded = folded.replace(pair, letter)
    return "".join(folded.split()).strip(_AT_THE_ENDS)


@cache
def _read_table() -> dict[str, list[dict[str, str]]]:
    # 20 ms and 5 MB, at the first symbol that is no plain ASCII.
    from confusable_homoglyphs.confusables import confusables_data

    return dict(confusables_data)


def _fold_letter(letter: str) -> str:
    """The plain ASCII letter that `letter` looks like, else itself; a mark over a letter is dropped."""
    if letter.isascii():
        return letter
    if unicodedata.category(letter) in ("Mn", "Me", "Mc"):
        return ""
    for found in _read_table().get(letter, ()):
        plain = _drop_marks(found["c"])
        if plain and plain.isascii():
            return plain
    named = _NAMED_LETTER.fullmatch(unicodedata.name(letter, ""))
    if named:
        return named[1]
    split = unicodedata.normalize("NFKD", letter)
    return letter if split == letter else "".join(_fold_letter(one) for one in split)


def _drop_marks(text: str) -> str:
    split = unicodedata.normalize("NFKD", drop_invisible(text))
    return "".join(one for one in split if unicodedata.category(one) not in ("Mn", "Me", "Mc"))

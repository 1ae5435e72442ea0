"""Checks whether a name could be taken for that of a built-in tool. Pure.

A name is of small ASCII letters, digits and underscores, so look-alikes of other scripts are out before this is asked;
what is left are digits and pairs that look like letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

NAME: Final = re.compile(r"^[a-z][a-z0-9]*(_[a-z0-9]+)+$")
LONGEST_NAME: Final = 48
_ALIKE: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"), ("8", "b"))


def find_imitated(name: str, *, taken: Iterable[str], prefixes: Iterable[str]) -> str | None:
    """The taken name or family `name` could be taken for; None when there is none."""
    for prefix in sorted(prefixes):
        if _look(name).startswith(_look(prefix) + "_"):
            return f"the family {prefix}_"
    look = _look(name).replace("_", "")
    for known in sorted(taken):
        other = _look(known).replace("_", "")
        if look == other or _is_near(look, other):
            return known
    return None


def _look(name: str) -> str:
    look = name.lower()
    for written, seen in _ALIKE:
        look = look.replace(written, seen)
    return look


def _is_near(one: str, other: str) -> bool:
    """Whether at most one letter, or two in long names, was left out, put in, changed or swapped with its neighbour."""
    most = 1 if min(len(one), len(other)) < 10 else 2
    if abs(len(one) - len(other)) > most or min(len(one), len(other)) < 4:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        now = [i]
        for j, known in enumerate(other, 1):
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (letter != known))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == known:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        if min(now) > most:
            return False
        before, row = row, now
    return row[-1] <= most

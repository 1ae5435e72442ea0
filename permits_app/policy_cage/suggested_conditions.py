"""The conditions a call of the product's own tools starts with: the account receives, tokens are approved assets.

Which arguments these are stands in each protocol's folder; here their places become the words that lead to them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permits_app.policy_cage.conditions import Condition, Must
from tools_app.chain.signatures import AbiParam, parse_signature

Places = tuple[tuple[int, ...], ...]
"""Where arguments stand, counted from 0 and downwards into structs."""

_SIZED = re.compile(r"(?:u?int\d*|address|bool|bytes\d+)\[(\d+)\]")
_MUST_OF_TOKENS = {
    "address": Must.BE_ASSET,
    "address[]": Must.BE_ASSETS,
    "bytes": Must.BE_PATH_OF_ASSETS,
}


def suggest_conditions(function: str, *, own: Places, tokens: Places, empty: Places = ()) -> list[Condition]:
    """One group for each argument that is pinned, none for a function without any; `own`, `tokens` and `empty` as
    a protocol says them of its contract. Raises ValueError for no place.
    """
    inputs = parse_signature("function " + function.removeprefix("function ")).inputs
    found = [(Must.BE_ACCOUNT, _find_words(inputs, place)[0]) for place in own]
    for place in tokens:
        words, kind = _find_words(inputs, place)
        found.append((_MUST_OF_TOKENS[kind], words))
    # Behind the word that tells where bytes lie stands how many there are.
    found += [(Must.EQUAL, (*_find_words(inputs, place)[0], 0)) for place in empty]
    return [Condition(must, words, group=group) for group, (must, words) in enumerate(found)]


def _find_words(params: Sequence[AbiParam], place: Sequence[int]) -> tuple[tuple[int, ...], str]:
    """The words that lead to an argument, and its type. A struct of fixed size lies in place, others behind a word."""
    first, *rest = place
    if first >= len(params):
        raise ValueError(f"no argument {first}")
    word = sum(_count_words(param) for param in params[:first])
    param = params[first]
    if not rest:
        return (word,), param.type
    inner, kind = _find_words(param.members, rest)
    return ((word, *inner) if _is_behind(param) else (word + inner[0], *inner[1:])), kind


def _count_words(param: AbiParam) -> int:
    """How many words it takes in the head."""
    if param.members and not _is_behind(param):
        return sum(_count_words(member) for member in param.members)
    # So many of one word each lie in place; of anything else so many are not known here.
    sized = _SIZED.fullmatch(param.type)
    return int(sized[1]) if sized else 1


def _is_behind(param: AbiParam) -> bool:
    """Whether the head holds where it lies rather than what it is."""
    if param.members and not param.array_suffix:
        return any(_is_behind(member) for member in param.members)
    return param.type in ("string", "bytes") or param.type.endswith("[]")

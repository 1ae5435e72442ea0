"""One word for one meaning, over all tools: what an agent learned to say at one protocol is understood at every other.

A tool shows the names it was specified with. Where it has exactly one parameter of a meaning, every other name of that
meaning is taken for it: `token` and `asset` are one, `slippage_bps` and `max_slippage_bps`. Where it has several, or
counts in another unit (shares, a part of a position), nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

COMMON_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "amount": ("dai_amount", "lp_amount", "initial_amount"),
    "token": ("asset", "input_token"),
    "slippage_bps": ("max_slippage_bps",),
    "token0": ("token_a",),
    "token1": ("token_b",),
    "pool": ("pool_address",),
    "position_id": ("token_id",),
}
"""The word that is understood everywhere, and the names that tools were specified with for the same."""
_GROUPS: Final = tuple(frozenset({word, *names}) for word, names in COMMON_WORDS.items())


def use_own_words(own: Collection[str], given: Mapping[str, object]) -> dict[str, object]:
    """`given` with each parameter under the name that is among `own`. What is said by that name already, twice, or by a
    word that several may mean, stays as it is.
    """
    names = {name: _find_own(name, own) for name, value in given.items() if value is not None and name not in own}
    meant = [name for name in names.values() if name is not None]
    clear = {
        name: target
        for name, target in names.items()
        if target is not None and meant.count(target) == 1 and given.get(target) is None
    }
    kept = {name: value for name, value in given.items() if name not in clear.values() or value is not None}
    return {clear.get(name, name): value for name, value in kept.items()}


def _find_own(name: str, own: Collection[str]) -> str | None:
    """The one of `own` that means the same as `name`; None where none does, or several do."""
    for group in _GROUPS:
        if name in group:
            found = sorted(group & set(own))
            return found[0] if len(found) == 1 else None
    return None

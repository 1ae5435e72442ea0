"""The best sandwich of one swap on one pool: exact, by trying it on the pool's own maths. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.standards.pool_maths import BeyondKnownTicks, Depths, swap

_TRIES: Final = 64


@dataclass(frozen=True, slots=True)
class Sandwich:
    """How much the attacker pays in before the victim, and what is left over for them afterwards, both in the token
    the victim sells. Zero where none pays.
    """

    front: int
    profit: int


def find_sandwich(depths: Depths, token_in: str, amount_in: int, least_out: int) -> Sandwich:
    """The sandwich that gains most while the victim still gets `least_out`."""
    most = _most_front(depths, token_in, amount_in, least_out)
    best = Sandwich(0, 0)
    low, high = 0, most
    for _ in range(_TRIES):
        if high - low < 3:
            break
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if _profit(depths, token_in, amount_in, left) < _profit(depths, token_in, amount_in, right):
            low = left
        else:
            high = right
    for front in {low, (low + high) // 2, high, most}:
        profit = _profit(depths, token_in, amount_in, front)
        if front > 0 and profit > best.profit:
            best = Sandwich(front, profit)
    return best


def _most_front(depths: Depths, token_in: str, amount_in: int, least_out: int) -> int:
    """The largest front run after which the victim's swap still gives `least_out`."""
    if not _leaves(depths, token_in, amount_in, least_out, 0):
        return 0
    low, high = 0, max(1, amount_in)
    for _ in range(_TRIES):
        if not _leaves(depths, token_in, amount_in, least_out, high):
            break
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if _leaves(depths, token_in, amount_in, least_out, middle):
            low = middle
        else:
            high = middle
    return low


def _leaves(depths: Depths, token_in: str, amount_in: int, least_out: int, front: int) -> bool:
    try:
        before = swap(depths, token_in, front).after if front else depths
        return swap(before, token_in, amount_in).amount_out >= least_out
    except BeyondKnownTicks:
        return False


def _profit(depths: Depths, token_in: str, amount_in: int, front: int) -> int:
    if front <= 0:
        return 0
    try:
        first = swap(depths, token_in, front)
        second = swap(first.after, token_in, amount_in)
        return swap(second.after, depths.pool.other(token_in), first.amount_out).amount_out - front
    except BeyondKnownTicks:
        return -front

"""Uniswap V2 constant-product maths in exact integers, rounding as Router02 and the pair round.

Amounts and reserves are base units. The pool keeps 0.3% of what comes in.
"""

from __future__ import annotations

from math import isqrt

FEE = 3_000
"""The pair's fee in hundredths of a basis point, the unit V3 uses."""
LARGEST_RESERVE = 2**112 - 1


def amount_out(amount_in: int, reserve_in: int, reserve_out: int) -> int:
    """Most that leaves for `amount_in`; zero when the amount is too small to move a unit.

    Raises ValueError when the pair cannot count that much.
    """
    if reserve_in + amount_in > LARGEST_RESERVE:
        raise ValueError("the pair cannot hold that much")
    kept = amount_in * 997
    return kept * reserve_out // (reserve_in * 1_000 + kept)


def amount_in(wanted: int, reserve_in: int, reserve_out: int) -> int:
    """Least that must come in for `wanted` to leave. Raises ValueError when the pair does not hold that much."""
    if wanted >= reserve_out:
        raise ValueError("the pair holds less than that")
    needed = reserve_in * wanted * 1_000 // ((reserve_out - wanted) * 997) + 1
    if reserve_in + needed > LARGEST_RESERVE:
        raise ValueError("the pair cannot hold that much")
    return needed


def protocol_shares(supply: int, reserve0: int, reserve1: int, k_last: int) -> int:
    """Shares the pair makes for its protocol before anyone's are redeemed: a sixth of the growth since `k_last`.

    Zero for a pair without that fee, whose `k_last` is zero.
    """
    root, last = isqrt(reserve0 * reserve1), isqrt(k_last)
    return supply * (root - last) // (root * 5 + last) if k_last and root > last else 0

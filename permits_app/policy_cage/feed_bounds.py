"""Computes the bounds of a feed's answers as the contract keeps them, and how far one may jump. Pure."""

from __future__ import annotations

from typing import Final

MOST_JUMP_PERCENT: Final = 255
# The contract refuses an answer above it (int96).
LARGEST_ANSWER: Final = 2**95 - 1
SETTLING_SECONDS: Final = 3_600
"""How long no batch runs after somebody noted prices that had jumped."""
_BOUND_BITS: Final = 9


def pack_bound(answer: int, *, rounds_up: bool = False) -> int:
    """An answer of a feed as the contract keeps a bound: an exponent of 7 bits above a mantissa of 9."""
    exponent = max(0, answer.bit_length() - _BOUND_BITS)
    mantissa = answer >> exponent
    if rounds_up and mantissa << exponent != answer:
        mantissa += 1
        if mantissa >> _BOUND_BITS:
            exponent, mantissa = exponent + 1, mantissa >> 1
    return exponent << _BOUND_BITS | mantissa


def unpack_bound(packed: int) -> int:
    """The answer that such a bound stands for."""
    return (packed & (1 << _BOUND_BITS) - 1) << (packed >> _BOUND_BITS)

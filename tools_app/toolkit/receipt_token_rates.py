"""Prices one unit of a protocol's own token in another, for what somebody may take of it.

What is held counts through its position. Of what is allowed or promised to others the token itself has a price: that of
the asset it stands for, at a rate that the protocol's own oracle tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools_app.toolkit.context import ReadCall, ReadOutcome


@dataclass(frozen=True, slots=True)
class ClaimPrice:
    """`rate` makes base units of `asset` for 10**18 base units of the token out of the answers to `reads`, None where
    they tell none. Both have the same decimals, and a feed prices the asset.
    """

    asset: str
    reads: tuple[ReadCall, ...]
    rate: Callable[[Sequence[ReadOutcome]], int | None]


ClaimPrices = Callable[[int, str], ClaimPrice | None]
"""By chain and address of a token; None for one it does not price."""

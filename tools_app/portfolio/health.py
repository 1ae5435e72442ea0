"""Measures how well a position's debts are covered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tools_app.toolkit.positions import Position

ValueOf: TypeAlias = Callable[[str, int], int]
"""Micro-USD of signed base units of a token address. Raises what keeps it from being priced."""


def measure_health(position: Position | None, value_of: ValueOf) -> int | None:
    """Cover over debt in basis points, 10,000 is liquidation: the protocol's own word or what the legs are worth at our
    feeds, whichever is lower. None without debt. Raises what `value_of` raises: what nobody can price is not healthy.

    On a margin it is the protocol's word alone, with or without a debt; a margin that is not told is none.
    """
    if position is None or not position.has_health:
        return None
    if position.is_margin:
        return position.health_bps or 0
    debt = -sum(value_of(leg.token, leg.raw) for leg in position.legs if leg.raw < 0)
    cover = sum(value_of(leg.token, leg.raw) * leg.cover_bps for leg in position.legs if leg.raw > 0 and leg.cover_bps)
    # A debt under a millionth of a dollar is covered by anything.
    told = [each for each in (cover // debt if debt else None, position.health_bps) if each is not None]
    return min(told, default=None)

"""Estimates the next transfer from those of late: shares of a row of figures, fees in basis points."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.core.units import BPS


def quantile(values: Sequence[int], percent: int) -> int:
    """The least of `values` that at least `percent` in a hundred of them do not exceed. `values` is not empty."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def fee_bps(amount: int, arrived: int) -> int:
    """What was kept of a transfer, in basis points of it, rounded up; nothing where as much arrived or more."""
    return -(-max(0, amount - arrived) * BPS // amount)


def least_after(amount: int, bps: int) -> int:
    """What arrives at the least where so many basis points may be kept, rounded up for whoever receives."""
    return amount - amount * bps // BPS

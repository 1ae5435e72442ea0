"""Judges how much an experience matters, from what happened and never from what anybody says. Pure."""

from __future__ import annotations

from decimal import Decimal

from memory_app.decay import Importance
from memory_app.reflection import NOTABLE_ERROR_BPS, PRICE_MOVED, Reflection
from tools_app.toolkit.views import NATIVE


def judge_importance(
    *, reflection: Reflection, is_verified: bool, lowered_a_debt_in_danger: bool = False, was_taken_back: bool = False
) -> Importance:
    """EMERGENCY: a debt in danger was lowered. CRITICAL: it succeeded and balances show something else than promised,
    or the chain took it back. MEV: the price moved against it between preview and execution. NOTABLE: it reverted.
    """
    if lowered_a_debt_in_danger:
        return Importance.EMERGENCY
    has_reverted = reflection.verdict == "reverted"
    if was_taken_back or (not is_verified and not has_reverted):
        return Importance.CRITICAL
    if PRICE_MOVED in reflection.why or falls_short_bps(reflection) > NOTABLE_ERROR_BPS:
        return Importance.MEV
    return Importance.NOTABLE if has_reverted else Importance.BASE


def falls_short_bps(reflection: Reflection) -> int:
    """How much less of a token came in than was predicted, at most, in basis points; 0 where nothing fell short."""
    short = [
        each.difference_bps
        for each in reflection.comparisons
        if not each.is_cost
        and "balance_deltas[token " in each.what
        # Gas is paid in the coin and blurs what came in of it.
        and NATIVE not in each.what
        and each.what.endswith(".raw")
        and 0 < Decimal(each.expected) > Decimal(each.actual)
    ]
    return max(short, default=0)

"""Says what the simulation of a permit's calls lost or gained in dollars, beside what is at stake at most.

Title, inbox, approval, one-page decision, permit, second look and exported request say the same because they ask here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from permits_app.safety.simulated_value_change import ValueChange, read_value_change
from tools_app.wording.formats import format_usd

LEAST_TOLD: Final = 10_000
"""Micro-USD: a title tells a loss from a cent on."""


def read_loss(expected: Mapping[str, object]) -> int | None:
    """Micro-USD that the account is worth less after the calls, gas apart; negative where it is worth more. None where
    nothing was measured.
    """
    told = read_value_change(expected)
    return None if told is None or told.micro_usd is None else -told.micro_usd


def say_loss(expected: Mapping[str, object]) -> str:
    """`$9.03 less afterwards, gas apart`; empty of what was told before this was measured."""
    told = read_value_change(expected)
    return "" if told is None else _say(told)


def _say(told: ValueChange) -> str:
    unpriced = ", ".join(told.unpriced)
    if told.micro_usd is None:
        return f"not known: {unpriced} leaves and has no price now"
    if abs(told.micro_usd) < LEAST_TOLD:
        words = "nothing lost, to the cent, gas apart"
    else:
        words = f"{format_usd(abs(told.micro_usd))} {'less' if told.micro_usd < 0 else 'more'} afterwards, gas apart"
    return f"{words}; {unpriced} comes without a price and counts as nothing" if unpriced else words


def say_loss_briefly(expected: Mapping[str, object]) -> str:
    """For a title: `loses $9.03`; empty where less than a cent is lost, or nobody knows."""
    loss = read_loss(expected)
    return f"loses {format_usd(loss)}" if loss is not None and loss >= LEAST_TOLD else ""

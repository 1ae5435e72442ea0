"""Says what golems are for: each intent with the bundles of tools it needs, and the call that an agent tries first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from archetypes_app.models import Golem, ToolProfile

CUSTOM: Final = "custom"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a golem is for. `words` says what it does and what it can lose, `profiles` are its bundles of tools.

    `first` is the word of the action that it is for, which its sample calls and its allowlist follow; empty where it
    signs nothing, or where its owner chooses. Shares are basis points of what it works with: `transaction_bps` one
    action may move, `day_bps` all of 24 hours. `cage` are columns of its cage that differ from what new golems get.
    """

    title: str
    words: str
    profiles: tuple[str, ...] = ()
    first: str = ""
    transaction_bps: int = 1_000
    day_bps: int = 5_000
    cage: Mapping[str, int] = field(default_factory=dict)


INTENTS: Final[Mapping[str, Intent]] = {
    "trade": Intent(
        "Trade",
        "Swaps tokens within your limits. It can lose by prices, slippage and fees.",
        ("trader",),
        "swap",
        cage=MappingProxyType({"max_concentration_bps": 5_000}),
    ),
    "lend": Intent(
        "Lend",
        "Lends what it has and takes it back with interest. It can lose what a lender loses, and what it borrows by"
        " prices.",
        ("lender",),
        "supply",
        transaction_bps=5_000,
        day_bps=10_000,
        cage=MappingProxyType({"max_position_bps": 5_000, "min_health_bps": 20_000}),
    ),
    "liquidity": Intent(
        "Keep liquidity",
        "Opens, moves and closes liquidity positions. It can lose by prices, and against just holding.",
        ("lp",),
        "add_liquidity",
        transaction_bps=2_500,
        day_bps=10_000,
        cage=MappingProxyType({"max_position_bps": 5_000, "max_concentration_bps": 6_000}),
    ),
    "vaults": Intent(
        "Use vaults",
        "Puts assets into known vaults. It can lose what a vault loses.",
        ("vault",),
        "deposit",
        transaction_bps=5_000,
        day_bps=10_000,
        cage=MappingProxyType({"max_position_bps": 5_000}),
    ),
    "watch": Intent(
        "Only watch", "Reads the chain and signs nothing. It gets no wallet and can lose nothing.", ("data",)
    ),
    CUSTOM: Intent("Custom", "You choose the archetype and the bundles of tools below."),
}
"""By the word that the first page of the wizard sends."""


def find_intent(golem: Golem) -> Intent:
    """What it was made for, told from its bundles: what the wizard did lies in the rows. Custom where none fits."""
    names = tuple(ToolProfile.objects.filter(golems=golem).values_list("name", flat=True))
    return next((each for each in INTENTS.values() if each.profiles and each.profiles == names), INTENTS[CUSTOM])

"""Which kinds of deeds a question asks about, and which an episode tells of, by its tool. Pure.

"What did we owe after the fall" shares no word with an episode of `aave_repay`, and still can only be about lending. A
kind that few of the rows found have in common with the question says more than one that most have.

See docs/decisions/0626-vectors-of-episodes-are-bent-to-the-trade.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

WEIGHT: Final = 0.08
VENUE_WEIGHT: Final = 0.05
"""What a shared kind and a named venue count beside a similarity of 0 to 1, times the logarithm of their rareness."""
_VENUES: Final = tuple(
    "aave balancer convex curve eigenlayer ethena gmx lido maker morpho panoptic pendle rocketpool uniswap"
    " yearn".split()
)
"""As tools' names begin; a question may write them in two words. Words that mean something else are left out."""


@dataclass(frozen=True, slots=True)
class _Deed:
    """Words of tools' names, whole; and words of questions, as a pattern."""

    tools: frozenset[str]
    asked: re.Pattern[str]


def _deed(tools: str, asked: str) -> _Deed:
    return _Deed(frozenset(tools.split()), re.compile(rf"\b(?:{asked})\b"))


_DEEDS: Final[Mapping[str, _Deed]] = {
    "trade": _deed(
        "swap quote exchange order orders route uniswapx twamm volume trades",
        r"swap\w*|trad(?:e|es|ed|ing)|sell\w*|sold|buy\w*|bought|exchang\w*|convert\w*|quot\w*|route\w*|order\w*"
        r"|purchas\w*",
    ),
    "provide liquidity": _deed(
        "liquidity lp collect position pool pools", r"liquidity|range\w*|lp|pool\w*|ticks?|fee tier|provid\w+"
    ),
    "lend and borrow": _deed(
        "aave compound morpho spark moonwell lending borrow repay draw wipe maker emode",
        r"lend\w*|lent|borrow\w*|loans?|collateral|debts?|repa(?:y|id)\w*|liquidat\w*|interest|health|ltv|owed?",
    ),
    "stake": _deed(
        "lido rocketpool eigenlayer ethena lrt stake unstake withdrawal",
        r"stak\w*|unstak\w*|validators?|restak\w*|beacon|slash\w*|operators?|cooldown",
    ),
    "bridge": _deed(
        "bridge bridgeable",
        r"bridg\w*|another chain|other chain|between chains|across chains|cross.chain|different network"
        r"|another network|other network",
    ),
    "bet on prices": _deed("gmx panoptic", r"perp\w*|leverag\w*|funding|shorts?|longs?|margin|options?|futures?"),
    "keep in a vault": _deed(
        "vault yearn pendle convex",
        r"vaults?|shares?|yields?|principal|maturit\w*|strateg(?:y|ies)|redeem\w*|redemption\w*",
    ),
    "govern": _deed(
        "gov governance vote delegate propose lock", r"govern\w*|vot(?:e|es|ed|ing)|proposals?|delegat\w*|dao"
    ),
    "keep a wallet": _deed(
        "wallet session approve approval allowance allowances permission permissions cancel send transfer",
        r"wallets?|keys?|transfer\w*|sen[dt]\w*|nonces?|approv\w*|allowances?|permission\w*|stuck|pending|multisig"
        r"|signature\w*|recipient\w*",
    ),
    "look": _deed(
        "data intel stream price block logs safety",
        r"prices?|oracle\w*|feeds?|blocks?|logs?|events?|news|hack\w*|exploit\w*|scam\w*|suspicious|trap|honeypot",
    ),
}


def read_deeds(question: str) -> frozenset[str]:
    """The kinds of deeds that `question` asks about, by its everyday words; often none."""
    lowered = question.lower()
    return frozenset(name for name, deed in _DEEDS.items() if deed.asked.search(lowered))


@cache
def name_deeds(tool_name: str) -> frozenset[str]:
    """The kinds of deeds that a tool does, by the words of its name."""
    words = set(tool_name.lower().split("_"))
    return frozenset(name for name, deed in _DEEDS.items() if deed.tools & words)


def weigh_deeds(question: str, tool_names: Sequence[str]) -> list[float]:
    """What each row of `tool_names` gains for a deed it shares with `question` and for a venue that names.

    Nothing where all or none of the rows have it.
    """
    asked, joined = read_deeds(question), question.lower().replace(" ", "")
    venues = {venue for venue in _VENUES if venue in joined}
    by_deed = _weigh([bool(asked & name_deeds(name)) for name in tool_names], WEIGHT)
    by_venue = _weigh([name.partition("_")[0] in venues for name in tool_names], VENUE_WEIGHT)
    return [sum(both) for both in zip(by_deed, by_venue, strict=True)]


def _weigh(shared: Sequence[bool], weight: float) -> list[float]:
    holders = sum(shared)
    worth = weight * max(0.0, math.log(len(shared) / (1 + holders))) if holders else 0.0
    return [worth if is_shared else 0.0 for is_shared in shared]

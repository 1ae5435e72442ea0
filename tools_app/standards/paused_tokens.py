"""Tokens that stand still by the word of who issues them: paused altogether, or frozen at a holder.

Only tokens of the list here are asked, whose issuers are known and whose contracts have these functions. A stranger's
token that says so of itself would keep a position from being left, and one without the functions costs a round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import Leg, Locked
from tools_app.toolkit.views import TokenMeta

PAUSED: Final = "function paused() view returns (bool)"
OF_CIRCLE: Final = "function isBlacklisted(address) view returns (bool)"
OF_TETHER: Final = "function isBlackListed(address) view returns (bool)"
# Circle's own FiatToken by its list of contracts (developers.circle.com), and Tether's first on Ethereum (tether.to).
# Bridged dollars and Tether's newer contracts have other functions or none, and are not asked.
SWITCHES: Final[dict[tuple[int, str], str]] = {
    (1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"): OF_CIRCLE,
    (1, "0xdAC17F958D2ee523a2206206994597C13D831ec7"): OF_TETHER,
    (10, "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"): OF_CIRCLE,
    (130, "0x078D782b760474a361dDA0AF3839290b0EF57AD6"): OF_CIRCLE,
    (137, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"): OF_CIRCLE,
    (8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"): OF_CIRCLE,
    (42161, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"): OF_CIRCLE,
    (43114, "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"): OF_CIRCLE,
}
"""By which function a token of a chain, at its checksummed address, says that a holder is frozen; all can be paused."""
REASON: Final = "still"
STANDS_STILL: Final = "its token is paused or frozen by who issues it, so nobody can give or get it"


class TokenStandsStill(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="A token stands still by its issuer's word",
    cleared_by="its issuer, who lets it move again",
):
    """Who issues a token has paused it, or frozen it at whoever would give or get it. `data` has token."""


@dataclass(frozen=True, slots=True)
class StillReads:
    """What is asked of tokens at those who hold them or would get them, and what the answers say."""

    asked: Mapping[ReadCall, tuple[str, str]]

    @classmethod
    def of(cls, chain_id: int, held: Iterable[tuple[str, str]]) -> StillReads:
        """`held` are tokens and holders; tokens that are not on the list are left out."""
        asked: dict[ReadCall, tuple[str, str]] = {}
        for token, holder in held:
            frozen = SWITCHES.get((chain_id, token))
            if frozen is not None:
                asked[ReadCall(token, PAUSED)] = (token, "")
                asked[ReadCall(token, frozen, (holder,))] = (token, holder)
        return cls(asked)

    @property
    def calls(self) -> list[ReadCall]:
        """Two reads for a token at a holder; what is asked twice is asked once."""
        return list(self.asked)

    def read(self, outcomes: Sequence[ReadOutcome]) -> StillTokens:
        """What the outcomes of `calls` tell."""
        told = zip(self.asked.values(), outcomes, strict=True)
        return StillTokens(frozenset(where for where, each in told if each.ok and each.values[0]))


@dataclass(frozen=True, slots=True)
class StillTokens:
    """`where` tokens stand still: token and holder, "" for everybody."""

    where: frozenset[tuple[str, str]]

    def find(self, tokens: Iterable[str], *holders: str) -> tuple[str, ...]:
        """Those of `tokens` that cannot move from or to one of `holders`."""
        at = ("", *holders)
        return tuple(token for token in tokens if any((token, holder) in self.where for holder in at))

    def lock(self, legs: Iterable[Leg], *holders: str) -> tuple[Locked, ...]:
        """What comes out together, of which one token that stands still keeps all in; nothing where all of it moves."""
        there = [leg for leg in legs if leg.raw > 0]
        if not self.find((leg.token for leg in there), *holders):
            return ()
        return tuple(Locked(leg.token, leg.raw, REASON) for leg in there)

    def say(self, token: str, *holders: str) -> str:
        """Why a token cannot move from or to one of `holders`; empty where it can."""
        return STANDS_STILL if self.find([token], *holders) else ""

    def check(self, tokens: Iterable[TokenMeta], *holders: str) -> None:
        """Raises TokenStandsStill for the first of `tokens` that cannot move from or to one of `holders`."""
        for token in tokens:
            if self.find([token.address], *holders):
                raise TokenStandsStill(
                    f"{token.symbol} is paused or frozen by who issues it, so nobody can give or get it",
                    token=token.address,
                )

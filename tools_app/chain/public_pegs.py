"""Tokens that stand for a dollar or for an ether by the word of their makers, on every chain that registers them: data.

Only what stands for one of it at all times is here. What grows against it, as wrapped stakes and savings do, is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class PegUnit(StrEnum):
    """What a token may stand for."""

    DOLLAR = "USD"
    ETHER = "ETH"


@dataclass(frozen=True, slots=True)
class PublicPeg:
    """One token by its symbol. Further than `most_apart_bps` from what it stands for it has left its peg."""

    stands_for: PegUnit
    most_apart_bps: int
    source: str


MOST_APART_BPS: Final = 200
"""Two percent: feeds of dollar tokens stay within half of one, and are renewed at a quarter of one."""

PUBLIC_PEGS: Final[dict[str, PublicPeg]] = {
    "USDC": PublicPeg(PegUnit.DOLLAR, MOST_APART_BPS, "Circle redeems one for one dollar, circle.com/usdc"),
    "USDT": PublicPeg(PegUnit.DOLLAR, MOST_APART_BPS, "Tether redeems one for one dollar, tether.to"),
    "DAI": PublicPeg(PegUnit.DOLLAR, MOST_APART_BPS, "Sky keeps one at one dollar, docs.makerdao.com"),
    "USDS": PublicPeg(PegUnit.DOLLAR, MOST_APART_BPS, "Sky changes one for one DAI, developers.sky.money"),
    "USDe": PublicPeg(PegUnit.DOLLAR, MOST_APART_BPS, "Ethena redeems one for a dollar's worth, docs.ethena.fi"),
    "stETH": PublicPeg(PegUnit.ETHER, MOST_APART_BPS, "Lido redeems one for one ether, docs.lido.fi"),
}

"""Reads what an account has at Pendle: a part of a market, claims and yield of it, all in one position; and the way
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.stored_json import read_stored
from tools_app.protocols.pendle.addresses import NAME, Place, find_places
from tools_app.protocols.pendle.market_state import Standing, ask_held, shares_worth
from tools_app.toolkit.params import EVERYTHING
from tools_app.toolkit.positions import Act, ExitStep, Leg, Locked, Position, PositionRef, Positions, Reads, Wait
from tools_app.toolkit.valuation_rules import Shown, Uncounted

KIND: Final = "market"
REWARD_DECIMALS: Final = 18
REWARD_SYMBOL: Final = "PENDLE"


def dust(place: Place) -> int:
    """Base units that stay, a hundredth of the asset: whoever sends so little keeps nobody from being out."""
    return 10 ** max(0, place.decimals - 2)


def ref_of(chain_id: int, place: Place) -> PositionRef:
    """Names what is held of a market: a part of it, claims, yield tokens and what they earned."""
    return PositionRef(NAME, KIND, chain_id, place.market)


class PendlePositions(Positions):
    """One position for each market: one batch for all of them, and one more where something is held."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every market of which something is held. Raises PositionsUnreadable while something has no average."""
        places = find_places(chain_id)
        if not places:
            return ()
        found = yield from ask_held(chain_id, places, account)
        return tuple(_make(chain_id, place, standing) for place, standing in found)


@dataclass(frozen=True, slots=True)
class _HeldFacts:
    is_paused: bool
    dust: int
    expiry: int
    lp: int
    pt: int
    yt: int
    pt_address: str
    interest: int
    sy: int


class PendleExits:
    """The part of the market first, then claims are sold, or redeemed when they are due, then yield tokens are sold."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step; dust stays."""
        facts, chain_id = read_stored(_HeldFacts, position.facts), position.ref.chain_id
        market = {"market": position.ref.id, "chain_id": chain_id}
        if facts.is_paused:
            return Wait(None, "the yield behind the market is paused: its shares move nowhere")
        least, is_due = facts.dust, now >= facts.expiry
        if facts.lp >= least:
            leave = {**market, "lp_amount": EVERYTHING}
            return Act("pendle_remove_lp", leave, "the part of the market is taken out")
        claims, yields = facts.pt, facts.yt
        if claims >= least:
            if is_due:
                redeem = {"pt": facts.pt_address, "amount": EVERYTHING, "chain_id": chain_id}
                return Act("pendle_redeem", redeem, "claims are due and redeemed")
            return Act("pendle_sell_pt", {**market, "amount": EVERYTHING}, "claims are sold before they are due")
        if not is_due and yields >= least:
            return Act("pendle_sell_yt", {**market, "amount": EVERYTHING}, "yield tokens are sold for what they bring")
        if facts.interest + facts.sy >= least:
            claim = {"pt": facts.pt_address, "amount": EVERYTHING, "claim": True, "chain_id": chain_id}
            return Act("pendle_redeem", claim, "what yield tokens earned is claimed")
        return None


def _make(chain_id: int, place: Place, standing: Standing) -> Position:
    held = standing.held
    earned = held.interest + held.sy
    shown = Shown(place.asset, standing.market_of_yields(held.yt))
    yields = Uncounted(place.yt, held.yt, place.symbols.yt, place.decimals, "yield", shown)
    reward = Uncounted(place.reward, held.reward, REWARD_SYMBOL, REWARD_DECIMALS, "reward")
    legs = (
        *((standing.claim(place).leg(held.pt),) if held.pt else ()),
        *((Leg(place.asset, standing.worth_of_lp(place, held.lp)),) if held.lp else ()),
        *((Leg(place.asset, shares_worth(standing, earned)),) if earned else ()),
    )
    total = sum(each.raw for each in legs)
    return Position(
        ref=ref_of(chain_id, place),
        label=f"Pendle {place.symbols.lp.removeprefix('PLP-')}",
        legs=legs,
        locked=(Locked(place.asset, total, "paused"),) if standing.is_paused and total else (),
        uncounted=(*((yields,) if held.yt else ()), *((reward,) if held.reward else ())),
        claim_tokens=place.tokens,
        facts={
            "market": place.market,
            "pt_address": place.pt,
            "expiry": str(standing.market.expiry),
            "dust": str(dust(place)),
            "lp": str(held.lp),
            "pt": str(held.pt),
            "yt": str(held.yt),
            "sy": str(held.sy),
            "interest": str(held.interest),
            "reward": str(held.reward),
            "is_paused": standing.is_paused,
        },
        relies_on=frozenset({place.oracle, place.sy}),
        oracles=frozenset({place.oracle}),
    )

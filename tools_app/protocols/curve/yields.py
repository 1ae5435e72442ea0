"""Tells what a coin earns in a known pool of Curve, for whoever compares: at its gauge, and at Convex.

Fees of a day are told as those of a year, and CRV at its price where it has one. CVX and other rewards are not counted.
"""

from __future__ import annotations

from typing import Final

from tools_app.core.units import BPS
from tools_app.protocols.curve.addresses import NAME, Place, find_places
from tools_app.protocols.curve.pool_figures import NOBODY, convex_bps, read_day, reward_bps
from tools_app.protocols.curve.reads import ask_convex, ask_standing
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.positions import drive
from tools_app.toolkit.yields import YieldKind, YieldOffer

_COSTS: Final = "going in and out in one coin costs by what it moves the pool, which is not taken off"


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """The gauge of each known pool with that coin, and Convex over it."""
    return tuple(
        offer for place in find_places(reader.chain_id) if token in place.pool.coins for offer in _offers(reader, place)
    )


def _offers(reader: ChainReader, place: Place) -> tuple[YieldOffer, YieldOffer]:
    standing = drive(ask_standing(reader.chain_id, place, NOBODY), reader.call_many)
    there = drive(ask_convex(place), reader.call_many)
    fees = read_day(reader, place, standing).fees_bps
    at_gauge, at_convex = reward_bps(reader, place, standing), convex_bps(reader, place, standing, there)
    shut = "Convex has shut the pool down" if there.is_shut_down else ""
    return (
        _offer(place, place.gauge, "Curve's gauge", fees, at_gauge),
        _offer(place, place.convex_rewards, "Convex", fees, at_convex, closed=shut),
    )


def _offer(place: Place, where: str, at: str, fees: int | None, reward: int | None, *, closed: str = "") -> YieldOffer:
    """The sum of what is known; nothing where nothing is."""
    known = [each for each in (fees, reward) if each is not None]
    symbol = place.reward.symbol
    basis = (
        "fees of the last day" if fees is not None else "fees of a day are not known",
        f"{symbol} as it is paid now" if reward is not None else f"what {symbol} brings is not known",
        _COSTS,
    )
    return YieldOffer(
        protocol=NAME,
        place=where,
        label=f"{place.pool.label} at {at}",
        kind=YieldKind.POOL,
        yearly_ppm=sum(known) * PPM // BPS if known else None,
        basis="; ".join(basis),
        steps_in=2,
        steps_out=2,
        closed=closed,
    )

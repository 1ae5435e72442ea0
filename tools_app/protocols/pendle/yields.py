"""Tells what known Pendle markets pay who holds a principal token to its end, for whoever compares."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.pendle.addresses import NAME, find_places
from tools_app.protocols.pendle.market_maths import WAD, yearly_rate
from tools_app.protocols.pendle.market_state import Standing, ask_standings
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.positions import drive
from tools_app.toolkit.yields import YieldKind, YieldOffer

_NOBODY: Final = "0x0000000000000000000000000000000000000001"


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """The known markets whose claims are due in a token."""
    places = [each for each in find_places(reader.chain_id) if each.asset == token]
    if not places:
        return ()
    standings = drive(ask_standings(reader.chain_id, places, _NOBODY), reader.call_many)
    return tuple(
        YieldOffer(
            protocol=NAME,
            place=place.market,
            label=place.symbols.pt,
            kind=YieldKind.FIXED,
            yearly_ppm=yearly_rate(standing.market.ln_rate) * PPM // WAD,
            basis="the market's rate now, fixed to who buys a little and holds it to its end; a size moves it",
            waits_seconds=standing.market.seconds_left,
            closed=_closed(standing),
        )
        for place, standing in zip(places, standings, strict=True)
    )


def _closed(standing: Standing) -> str:
    if standing.is_paused:
        return "the yield behind the market is paused"
    if standing.market.is_over:
        return "the market is over"
    return "" if standing.pt_rate is not None else "the market has no average price yet"

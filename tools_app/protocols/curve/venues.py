"""The venue of this protocol: its pool of three dollars, asked what it would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.core.ratio import Ratio, shortfall_bps
from tools_app.protocols.curve.addresses import NAME, find_places
from tools_app.standards.stable_pool_lp_value import StablePool
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext
from tools_app.toolkit.venues import VenueQuote
from tools_app.toolkit.views import TokenMeta

GET_DY: Final = "function get_dy(int128 i, int128 j, uint256 dx) view returns (uint256)"
_GAS: Final = 180_000
"""About what an exchange of two coins costs there."""


class CurveVenues:
    """One quote where both tokens are coins of a pool."""

    def quote(
        self, ctx: ReadContext, reader: ChainReader, *, token_in: TokenMeta, token_out: TokenMeta, amount: int
    ) -> Sequence[VenueQuote]:
        """A token that keeps a part of each transfer is not quoted: the pool would not say what arrives."""
        if token_in.address == token_out.address or token_in.has_transfer_fee or token_out.has_transfer_fee:
            return []
        pools = [
            place.pool
            for place in find_places(reader.chain_id)
            if {token_in.address, token_out.address} <= set(place.pool.coins)
        ]
        unit = min(amount, 10**token_in.decimals)
        calls = [_ask(pool, token_in, token_out, each) for pool in pools for each in (amount, unit)]
        told = [int(each.values[0]) if each.ok else 0 for each in (reader.call_many(calls) if calls else [])]
        return [
            VenueQuote(
                venue=NAME,
                route=pool.label,
                amount_out=whole,
                price_impact_bps=shortfall_bps(ideal=Ratio(small, unit).of(amount), actual=whole),
                gas=_GAS,
                source="the pool's own get_dy, asked at this block",
                tool=None,
            )
            for pool, whole, small in zip(pools, told[::2], told[1::2], strict=True)
            if whole > 0
        ]


def _ask(pool: StablePool, token_in: TokenMeta, token_out: TokenMeta, amount: int) -> ReadCall:
    places = (pool.coins.index(token_in.address), pool.coins.index(token_out.address))
    return ReadCall(pool.address, GET_DY, (*places, amount))

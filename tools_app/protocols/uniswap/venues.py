"""The venues of this protocol: V2, V3 and V4 pools, and paths that the swap router leads through V2 and V3."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.paths import MIXED
from tools_app.protocols.uniswap.routing import find_best_by_version
from tools_app.toolkit.callable_contracts import may_call
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.venues import VenueQuote
from tools_app.toolkit.views import TokenMeta

_LABELS = {MIXED: "swap router", "v2": "v2", "v3": "v3", "v4": "v4"}
_SOURCES = {
    MIXED: "reserves of its V2 pool at this block, and QuoterV2 for the V3 pool",
    "v2": "reserves of its pools at this block",
    "v3": "QuoterV2, asked at this block",
    "v4": "the quoter of V4, asked at this block",
}


class UniswapVenues:
    """The best path of each version."""

    def quote(
        self, ctx: ReadContext, reader: ChainReader, *, token_in: TokenMeta, token_out: TokenMeta, amount: int
    ) -> Sequence[VenueQuote]:
        """Raises SameToken and TransferFeeUnknown."""
        found = find_best_by_version(
            reader,
            deployment_on(reader.chain_id),
            token_in=token_in,
            token_out=token_out,
            amount=amount,
            may_call=partial(may_call, ctx, reader.chain_id),
        )
        return [
            VenueQuote(
                venue=f"uniswap {_LABELS[version]}",
                route=name,
                amount_out=quote.amount_out,
                price_impact_bps=quote.price_impact_bps,
                gas=quote.gas,
                source=_SOURCES[version],
                tool="uniswap_execute_swap",
            )
            for version, (quote, name) in found.items()
        ]

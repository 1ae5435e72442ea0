"""Computes what claims and yield tokens cost in their asset, where an allowance or a promise of them is counted."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.protocols.pendle.addresses import Place, find_places
from tools_app.protocols.pendle.market_maths import WAD
from tools_app.protocols.pendle.market_state import PT_RATE, SHARE_RATE, STORED_INDEX
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.receipt_token_rates import ClaimPrice


def find_price(chain_id: int, token: str) -> ClaimPrice | None:
    """A claim at the lower of its average and its face; a yield token at what is left of the face, though one that is
    held counts as nothing: what others may take is never taken for less than it is.
    """
    for place in find_places(chain_id):
        if token in (place.pt, place.yt):
            return _price(place, is_claim=token == place.pt)
    return None


def _price(place: Place, *, is_claim: bool) -> ClaimPrice:
    def rate(outcomes: Sequence[ReadOutcome]) -> int | None:
        if not all(each.ok for each in outcomes):
            return None
        average, shares, stored = (int(each.values[0]) for each in outcomes)
        face = min(WAD, shares * WAD // max(shares, stored))
        return min(face, average) if is_claim else max(0, face - average)

    reads = (
        ReadCall(place.oracle, PT_RATE, (place.market, AVERAGE_SECONDS)),
        ReadCall(place.sy, SHARE_RATE),
        ReadCall(place.yt, STORED_INDEX),
    )
    return ClaimPrice(place.asset, reads, rate)

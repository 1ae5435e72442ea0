"""Reads what an account has in the bar, and the way out of it, which is open at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tools_app.protocols.sushi_bar.addresses import ENTRY, NAME, find_place
from tools_app.protocols.sushi_bar.reads import ask_bar
from tools_app.toolkit.params import EVERYTHING
from tools_app.toolkit.positions import Act, ExitStep, Leg, Position, PositionRef, Positions, Reads, ShareIndex

KIND: Final = "stake"
_INDEX_SHARES: Final = 10**27


def ref_of(chain_id: int) -> PositionRef:
    """Names what is held of the bar's shares."""
    return PositionRef(NAME, KIND, chain_id, ENTRY)


class BarPositions(Positions):
    """Shares at what they give now; one batch."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """The one position, where shares are held. Raises PositionsUnreadable."""
        place = find_place(chain_id)
        if place is None:
            return ()
        bar = yield from ask_bar(place, account)
        if not bar.held:
            return ()
        worth = bar.worth_of(bar.held)
        return (
            Position(
                ref=ref_of(chain_id),
                label="xSUSHI (SushiBar)",
                legs=(Leg(place.token, worth),) if worth else (),
                claim_tokens=frozenset({place.bar}),
                facts={"shares": str(bar.held), "worth": str(worth)},
                share_index=ShareIndex(place.bar, bar.worth_of(_INDEX_SHARES), bar.held),
            ),
        )


class BarExits:
    """Give all shares back."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step; shares that give nothing stay."""
        if not int(position.facts["worth"]):
            return None
        asked = {"shares": EVERYTHING, "chain_id": position.ref.chain_id}
        return Act("sushi_bar_leave", asked, "the shares are given back for what they stand for")

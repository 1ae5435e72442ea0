"""Says what slashes took from a golem's positions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from permits_app.models import NavSnapshot
from permits_app.performance.nav_parts import NavState
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.slash_losses import list_slashes
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class ToldSlash:
    """One slash of one position: what it took, in base units, units and micro-USD of that moment, and whose faults it
    was for. `left_bps` of what was there is left.
    """

    position: str
    keeper: str
    token: str
    symbol: str
    raw: int
    units: str
    micro_usd: int
    left_bps: int

    @property
    def protocol(self) -> str:
        """Its name for people."""
        name = PositionRef.parse(self.position).protocol
        found = SHELF.get(name)
        return found.label if found is not None else name

    def as_json(self) -> JsonObject:
        """As it is stored; large integers as text."""
        return {
            "position": self.position,
            "keeper": self.keeper,
            "token": self.token,
            "symbol": self.symbol,
            "raw": str(self.raw),
            "units": self.units,
            "micro_usd": str(self.micro_usd),
            "left_bps": self.left_bps,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, object]) -> ToldSlash:
        """The reverse."""
        return read_stored(cls, stored)


def tell_slashes(before: NavState, after: NavState, *, tokens: Mapping[str, TokenMeta]) -> tuple[ToldSlash, ...]:
    """What slashes took between two looks, at the prices of the later one; what has no price never counted and is left
    out. `tokens` are those whose symbols people know, by address.
    """
    told = []
    for each in list_slashes(before.slashable, after.slashable):
        quote = after.quotes.get(each.token) or before.quotes.get(each.token)
        if quote is None:
            continue
        known = tokens.get(each.token)
        told.append(
            ToldSlash(
                position=str(each.ref),
                keeper=each.keeper,
                token=each.token,
                symbol=known.symbol if known is not None else each.token,
                raw=each.raw,
                units=format_units(each.raw, quote.token_decimals),
                micro_usd=-quote.value(-each.raw),
                left_bps=each.kept * BPS // each.kept_before,
            )
        )
    return tuple(told)


def list_slash_events(kept: Iterable[NavSnapshot]) -> list[Event]:
    """position:slashed of everything that slashes took since the snapshots before these."""
    return [
        Event(
            EventType.POSITION_SLASHED,
            {
                "position": each.position,
                "protocol": each.protocol,
                "chain_id": row.chain_id,
                "block_number": row.block_number,
                "keeper": each.keeper,
                "token_address": each.token,
                "symbol": each.symbol,
                "lost": str(each.raw),
                "lost_units": each.units,
                "lost_micro_usd": str(each.micro_usd),
                "left_bps": each.left_bps,
            },
        )
        for row in kept
        for each in map(ToldSlash.from_json, row.slashes)
    ]

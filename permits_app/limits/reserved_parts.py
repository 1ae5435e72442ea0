"""ReservedPart: one part of what a permit reserves, and how it is written into `SpendEntry.breakdown` and read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.core.stored_json import read_stored

SPEND: Final = "spend"
ALLOWANCE: Final = "allowance"
PROMISE: Final = "promise"
GAS: Final = "gas"
PRINCIPAL: Final = "principal"
"""The part of a value that is somebody else's money."""


@dataclass(frozen=True, slots=True)
class ReservedPart:
    """Base units of one token at the price they were reserved for. Gas has neither token nor feed: its `raw` is wei."""

    role: str
    micro_usd: int
    raw: int = 0
    token: str = ""
    symbol: str = ""
    units: str = ""
    feed: str = ""

    def as_json(self) -> dict[str, str]:
        """As the column keeps it; gas is role, wei and value alone."""
        if self.role == GAS:
            return {"role": self.role, "raw": str(self.raw), "micro_usd": str(self.micro_usd)}
        return {
            "role": self.role,
            "token": self.token,
            "symbol": self.symbol,
            "raw": str(self.raw),
            "units": self.units,
            "micro_usd": str(self.micro_usd),
            "feed": self.feed,
        }

    @classmethod
    def from_json(cls, row: Mapping[str, object]) -> ReservedPart:
        """What `as_json` wrote."""
        return read_stored(cls, row)


def read_parts(breakdown: Iterable[Mapping[str, object]]) -> tuple[ReservedPart, ...]:
    """All parts of a ledger entry, in their order."""
    return tuple(ReservedPart.from_json(row) for row in breakdown)

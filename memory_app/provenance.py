"""Provenance: who wrote a memory, on what ground, and how far it is believed. A plain value that fits a task argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from memory_app.models.episode import Source, Trust


@dataclass(frozen=True, slots=True)
class Provenance:
    """`recorded_by` is key:<prefix>, owner:<id> or system:<part>; the block is the one the outcome was read at."""

    recorded_by: str
    source: Source = Source.RUNTIME
    trust: Trust = Trust.VERIFIED
    block_number: int | None = None
    block_hash: str = ""

    def as_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {**asdict(self), "source": self.source.value, "trust": self.trust.value}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Provenance:
        """The value `as_json` wrote. Raises KeyError, ValueError, TypeError."""
        return cls(
            recorded_by=raw["recorded_by"],
            source=Source(raw.get("source", Source.RUNTIME)),
            trust=Trust(raw.get("trust", Trust.VERIFIED)),
            block_number=raw.get("block_number"),
            block_hash=raw.get("block_hash") or "",
        )

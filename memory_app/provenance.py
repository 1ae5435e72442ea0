"""Provenance: who wrote a memory, on what ground, and how far it is believed; fits a task's argument as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from memory_app.models.provenance import Source, Trust
from tools_app.core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class Provenance:
    """`recorded_by` is key:<prefix>, owner:<id> or system:<part>; the block is the one the outcome was read at."""

    recorded_by: str
    source: Source = Source.RUNTIME
    trust: Trust = Trust.VERIFIED
    block_number: int | None = None
    block_hash: str = ""
    tool: str = ""
    permit_id: str = ""

    def as_columns(self) -> dict[str, object]:
        """The columns of a `Provenanced` row."""
        return {
            "source": self.source,
            "trust": self.trust,
            "recorded_by": self.recorded_by,
            "recorded_tool": self.tool,
            "recorded_permit_id": UUID(self.permit_id) if self.permit_id else None,
            "recorded_block": self.block_number,
        }

    def as_json(self) -> JsonObject:
        """JSON-ready form."""
        return {**asdict(self), "source": self.source.value, "trust": self.trust.value}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Provenance:  # Any: JSON, as agents see it
        """The value `as_json` wrote, or a plain mapping with `written_by` (runtime, agent, owner, import) instead.

        Raises ValueError for an unknown source or trust.
        """
        written_by = str(raw.get("written_by") or raw.get("source") or Source.RUNTIME)
        source = Source(written_by.upper())
        return cls(
            recorded_by=str(raw.get("recorded_by") or f"system:{source.value.lower()}")[:128],
            source=source,
            trust=Trust(str(raw.get("trust") or _USUAL_TRUST[source]).upper()),
            block_number=raw.get("block_number"),
            block_hash=str(raw.get("block_hash") or ""),
            tool=str(raw.get("tool") or ""),
            permit_id=str(raw.get("permit_id") or ""),
        )


_USUAL_TRUST = {
    Source.RUNTIME: Trust.VERIFIED,
    Source.AGENT: Trust.REPORTED,
    Source.OWNER: Trust.REPORTED,
    Source.IMPORT: Trust.REPORTED,
}

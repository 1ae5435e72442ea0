"""Defines a reviewer's answer: APPROVE or VETO, with reasons, warnings and every check."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tools_app.core.json_types import JsonObject


class ReviewVerdict(StrEnum):
    APPROVE = "APPROVE"
    VETO = "VETO"


@dataclass(frozen=True, slots=True)
class Review:
    """One reviewer's answer. `reasons` are why it vetoes and empty otherwise; `checks` are what it looked at.

    `warnings` are worth knowing and no veto; `figures` are what it measured, JSON-ready.
    """

    reviewer: str
    verdict: ReviewVerdict
    reasons: tuple[str, ...]
    checks: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    figures: JsonObject = field(default_factory=dict)

    @property
    def is_approved(self) -> bool:
        return self.verdict is ReviewVerdict.APPROVE

    def as_dict(self) -> dict[str, object]:
        """JSON-ready, as the permit keeps it."""
        return {
            "reviewer": self.reviewer,
            "verdict": self.verdict.value,
            "reasons": list(self.reasons),
            "checks": list(self.checks),
            "warnings": list(self.warnings),
            "figures": dict(self.figures),
        }

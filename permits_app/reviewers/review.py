"""What a reviewer answers: APPROVE or VETO, with reasons and with every check it made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ReviewVerdict(StrEnum):
    APPROVE = "APPROVE"
    VETO = "VETO"


@dataclass(frozen=True, slots=True)
class Review:
    """One reviewer's answer. `reasons` are why it vetoes and empty otherwise; `checks` are what it looked at."""

    reviewer: str
    verdict: ReviewVerdict
    reasons: tuple[str, ...]
    checks: tuple[str, ...]

    @property
    def is_approved(self) -> bool:
        return self.verdict is ReviewVerdict.APPROVE

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, as the permit keeps it."""
        return {
            "reviewer": self.reviewer,
            "verdict": self.verdict.value,
            "reasons": list(self.reasons),
            "checks": list(self.checks),
        }

"""What an examination found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How it is."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do where it is not good."""

    name: str
    verdict: Health
    words: str
    to_do: str = ""

    def as_row(self) -> dict[str, str]:
        """For JSON."""
        return {"name": self.name, "verdict": str(self.verdict), "words": self.words, "to_do": self.to_do}


def good(name: str, words: str) -> Finding:
    """As it has to be."""
    return Finding(name, Health.GOOD, words)


def doubtful(name: str, words: str, to_do: str) -> Finding:
    """It goes on like this, and may hurt some day."""
    return Finding(name, Health.DOUBTFUL, words, to_do)


def bad(name: str, words: str, to_do: str) -> Finding:
    """It does not go on like this, or loses something."""
    return Finding(name, Health.BAD, words, to_do)

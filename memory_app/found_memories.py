"""An answer of `query_grimoire` as its readers take it; it comes as JSON, since a worker may have written it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """What a score is made of, as decimal text and ranks; an insight has its confidence in place of ranks."""

    fused: str
    text_rank: int | None = None
    vector_rank: int | None = None
    similarity: str | None = None
    confidence: str | None = None


@dataclass(frozen=True, slots=True)
class FoundProvenance:
    """Who is behind a memory."""

    source: str


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """One episode or insight found; `content` is data, score and retention are decimal text between 0 and 1."""

    id: str
    source: str
    content: str
    score: str
    score_parts: ScoreParts
    retention: str
    provenance: FoundProvenance


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """What a question found in each store that was asked, best first, and how it was searched."""

    mode: str | None
    mode_reason: str | None
    episodes: tuple[Mapping[str, object], ...] = ()
    episodes_searched: int = 0
    insights: tuple[Mapping[str, object], ...] = ()
    insights_searched: int = 0
    insights_note: str | None = None
    heuristics: tuple[Mapping[str, object], ...] = ()
    heuristics_searched: int = 0

    @property
    def searched(self) -> int:
        """How many memories were looked through in all."""
        return self.episodes_searched + self.insights_searched + self.heuristics_searched


def read_answer(answer: Mapping[str, object]) -> MemoryAnswer:
    """Read an answer. Raises ValueError naming the member that is none of its type."""
    return read_stored(MemoryAnswer, answer)


def read_found(row: Mapping[str, object]) -> FoundMemory:
    """Read one memory of an answer. Raises ValueError naming the member that is none of its type."""
    return read_stored(FoundMemory, row)

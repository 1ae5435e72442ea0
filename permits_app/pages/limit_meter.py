"""A limit beside what is used of it, as pages draw it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meter:
    """A limit and how much of it is used; `percent` fills the bar."""

    name: str
    used: str
    limit: str
    remaining: str
    percent: int
    tone: str
    hint: str = ""

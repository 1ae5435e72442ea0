"""Defines what a search finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One thing: its kind, what it is called, what more is said of it, and its page (empty where it has none)."""

    kind: str
    name: str
    more: str
    url: str

"""Reads what a halt's steps, or an end, keep of one position or one token of the wallet: how much is left, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

IT_STAYS: Final = "it stays"
"""What is next for dust that a way out leaves: nothing."""


@dataclass(frozen=True, slots=True)
class ToldLine:
    """All as text for people, empty where nothing was told. `units` is told of a token of the wallet alone, `stays` of
    dust that a way out leaves, with `why_it_stays`.
    """

    position: str = ""
    venue: str = ""
    label: str = ""
    next: str = ""
    next_step: str = ""
    outcome: str = ""
    reason: str = ""
    why: str = ""
    holds: str = ""
    stays: str = ""
    why_it_stays: str = ""
    units: str = ""


def read_line(told: Mapping[str, object]) -> ToldLine:
    """One stored line; what this does not know of it is left out."""
    names = {each.name for each in fields(ToldLine)}
    return ToldLine(**{name: str(value) for name, value in told.items() if name in names and value is not None})

"""Computes what slashes took from positions between two moments. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tools_app.toolkit.positions import REQUEST_KIND, Position, PositionRef, Slashable

Marks: TypeAlias = Sequence[tuple[PositionRef, Slashable]]
"""What of an account's positions slashes can take from, at one moment."""


@dataclass(frozen=True, slots=True)
class Slash:
    """Base units of a token that slashes took from a position between two moments, and whose faults that was for. Of
    what was there, `kept` of `kept_before` is left.
    """

    ref: PositionRef
    token: str
    raw: int
    keeper: str
    kept_before: int
    kept: int


def list_marks(positions: Iterable[Position]) -> Marks:
    """Of all of them, by position."""
    return tuple((position.ref, each) for position in positions for each in position.slashable)


def list_slashes(before: Marks, after: Marks) -> tuple[Slash, ...]:
    """What slashes took, by position: so much of what was there as less is kept of each whole now.

    What left for a queue is slashed there with what stayed, so a deposit that is gone is held against what its keeper
    keeps wherever the token is now. A request that is gone was completed, and nobody knows what was kept of it.
    """
    now = {(ref, each.token, each.keeper): each.kept for ref, each in after}
    kept_of: dict[tuple[str, str], int] = {}
    for _, each in after:
        key = (each.keeper, each.token)
        kept_of[key] = min(each.kept, kept_of.get(key, each.kept))
    found = []
    for ref, each in before:
        kept = now.get((ref, each.token, each.keeper))
        if kept is None and ref.kind != REQUEST_KIND:
            kept = kept_of.get((each.keeper, each.token))
        if kept is not None and kept < each.kept and each.raw:
            lost = each.raw - each.raw * kept // each.kept
            found.append(Slash(ref, each.token, lost, each.keeper, each.kept, kept))
    return tuple(found)

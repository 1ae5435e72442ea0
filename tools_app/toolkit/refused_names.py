"""Names that agents ask for and that no tool will ever answer: each with its reason, and what is read instead.

A name stands here when nothing on a chain or under a licence tells what it asks. Everything else that is unknown is
answered with the nearest names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class RefusedName:
    """One name, the key it would be asked by, why it never answers, and the tools that tell what can be known."""

    name: str
    key: str
    why: str
    instead: tuple[str, ...]
    instead_says: str


_POINTS: Final = (
    "points are numbers in the private databases of their issuers: no chain holds them, no contract redeems them, and"
    " no licence lets them be read, so a figure would be made up"
)

REFUSED_NAMES: Final = (
    RefusedName(
        name="lrt_get_restaking_points",
        key="restaking_points",
        why=_POINTS,
        instead=("eigenlayer_get_position",),
        instead_says="what is restaked, delegated and queued, at what slashes left of it, is read by"
        " eigenlayer_get_position where the golem has tools of restaking; a person looks points up at their issuer",
    ),
    RefusedName(
        name="lrt_get_points_strategies",
        key="points_strategies",
        why=_POINTS + ", and so would any comparison by it",
        instead=("intel_compare_yields", "eigenlayer_get_operators"),
        instead_says="what is paid in tokens is ranked by intel_compare_yields, and whom one delegates to is listed by"
        " eigenlayer_get_operators, where the golem has tools of intelligence and restaking",
    ),
)

_BY_WORD: Final = {word: refused for refused in REFUSED_NAMES for word in (refused.name, refused.key)}


def find_refused(word: str) -> RefusedName | None:
    """The refused name that `word` is, by its name or its key however it is written; None for any other."""
    return _BY_WORD.get(word.strip().lower().replace("-", "_"))

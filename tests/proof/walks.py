"""What the proofs that walk at random share: five walks a round, each from a seed of its own."""

from __future__ import annotations

from collections.abc import Callable

from tests.proof.registry import Progress

WALKS = 1_000
WALKS_PER_ROUND = 5


def walk_rounds(progress: Progress, walk: Callable[[int], object]) -> None:
    """Each round does five walks whose seeds are their numbers; what ends a walk with AssertionError is a finding."""
    for number in progress.remaining():
        for seed in range(number * WALKS_PER_ROUND, (number + 1) * WALKS_PER_ROUND):
            try:
                walk(seed)
            except AssertionError as error:
                progress.findings.append(f"walk {seed}: {error}")


def require(holds: bool, message: str) -> None:
    """Raises AssertionError where a rule does not hold, also under `python -O`."""
    if not holds:
        raise AssertionError(message)

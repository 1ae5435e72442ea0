"""Proof that a golem always gets out: the machine of states walks at random, further and oftener than in the suite."""

from __future__ import annotations

import secrets
from typing import Final

from tests.proof.properties import try_properties
from tests.proof.registry import Progress, proof

_MACHINES: Final = (
    "tests/permits_app/safety/test_leaving_machine.py",
    "tests/permits_app/safety/test_leaving_lenders.py",
    "tests/permits_app/safety/test_leaving_safes.py",
    "tests/permits_app/safety/test_leaving_caged_lenders.py",
)


@proof(
    id="leaving.walks",
    what="from every state of 40 walks of 20 steps a round, owner and golem reach all in base asset",
    rounds=25,
)
def prove_leaving(progress: Progress) -> None:
    """Rounds with a seed of their own each, noted before it begins."""
    for number in progress.remaining():
        seed = secrets.randbelow(2**32)
        progress.notes.append(f"round {number + 1}: seed {seed}")
        progress.findings += [f"{name} with seed {seed}" for name in try_properties(seed=seed, paths=_MACHINES)]

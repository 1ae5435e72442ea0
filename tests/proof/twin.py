"""Proof that the cage's twin in Python foresees every batch among real markets, and follows its state by events."""

from __future__ import annotations

from collections import Counter

from golem_project.embedded.errors import EmbeddedError
from tests.proof.heist import Gang, begin_again_for_another_cage, run_scene
from tests.proof.heists.steps import Order
from tests.proof.registry import Progress, proof

LEAST_BATCHES = 2_000
HEISTS = 200


@proof(
    id="cage.twin",
    what="the twin answers every batch of heists on the real Uniswap V3, Aave V3 and ERC-4626 as the cage does",
    rounds=HEISTS,
)
def prove_twin(progress: Progress) -> None:
    """A heist each round. Begins again when the contract is another. Raises EmbeddedError without pyrevm."""
    begin_again_for_another_cage(progress)
    subject, answers = progress.notes[0], read_answers(progress.notes)
    with run_scene() as scene:
        gang = Gang(scene)
        if gang.machine is None:
            raise EmbeddedError("pyrevm is not installed. Fix: pip install -r requirements-turbo.txt")
        from tests.proof.heists.twin import Twin

        twin = Twin(scene, gang.machine, answers)
        for number in progress.remaining():
            progress.findings += twin.compare(gang.planner.make(Order(number)))
            progress.notes = [subject, *(f"{name}: {count}" for name, count in answers.most_common())]
    if answers.total() < LEAST_BATCHES and progress.rounds == HEISTS:
        progress.findings.append(f"{answers.total()} batches are too few")


def read_answers(notes: list[str]) -> Counter[str]:
    """How often each answer was given, as the notes of an earlier run of the proof say."""
    pairs = (line.rsplit(": ", 1) for line in notes[1:])
    return Counter({name: int(count) for name, count in pairs})

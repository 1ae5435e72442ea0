"""Fits the matrix that bends vectors of episodes: `python -m tests.bench.likeness` writes it and says its hash.

Two sentences that say one thing are to be nearer to each other than to all others of a draw: cross entropy over
cosines, Adam, the mean of three fits from other draws. It sees the sayings and the first labelled half; nothing of the
other half, of the blind hundred or of the crowd that a bench puts beside them. Takes half a minute.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

LABELLED: Final = Path(__file__).parents[1] / "memory_app" / "labelled"
DRAWS: Final = ((0.7, "sayings"), (0.15, "topics"))
"""How much of a draw is of which at most."""
SEEDS: Final = (0, 1, 2)
STEPS, OF_A_DRAW = 300, 192
RATE, SHARPNESS, SHRINK = 0.001, 0.1, 0.02


def fit(kinds: Sequence[tuple[Sequence[Any], float]], *, seed: int) -> Any:
    """The matrix W of one fit. `kinds` are vectors by thing, each an array, and their share of a draw."""
    draws = np.random.default_rng(seed)
    size = kinds[0][0][0].shape[1]
    made, slow, square = (np.zeros((size, size), np.float32) for _ in range(3))
    for step in range(1, STEPS + 1):
        ones, others = [], []
        for things, share in kinds:
            for chosen in draws.choice(len(things), min(len(things), int(OF_A_DRAW * share)), replace=False):
                thing = things[chosen]
                first = draws.integers(len(thing))
                ones.append(thing[first])
                others.append(thing[(first + 1 + draws.integers(len(thing) - 1)) % len(thing)])
        slope = _slope(made, np.array(ones), np.array(others))
        slow = 0.9 * slow + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        move = (slow / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        made = made - RATE * (move + SHRINK * made)
    return made


def _slope(made: Any, ones: Any, others: Any) -> Any:
    one, other = ones + ones @ made, others + others @ made
    lengths = [np.linalg.norm(each, axis=1, keepdims=True) for each in (one, other)]
    one, other = one / lengths[0], other / lengths[1]
    near = one @ other.T / SHARPNESS
    share = np.exp(near - near.max(1, keepdims=True))
    share /= share.sum(1, keepdims=True)
    share[np.arange(len(ones)), np.arange(len(ones))] -= 1
    share /= len(ones) * SHARPNESS
    of_one, of_other = share @ other, share.T @ one
    of_one = (of_one - one * (of_one * one).sum(1, keepdims=True)) / lengths[0]
    of_other = (of_other - other * (of_other * other).sum(1, keepdims=True)) / lengths[1]
    return ones.T @ of_one + others.T @ of_other


def main() -> None:
    """Write the matrix and say what `memory_app/bend_embeddings.py` has to know of it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
    import django

    django.setup()
    from memory_app import bend_embeddings, embedding
    from tests.bench.labelled_set import read_labelled_set, read_sayings

    topics = read_labelled_set((LABELLED / "retrieval.txt").read_text(encoding="utf-8"))
    said = {
        "sayings": read_sayings((LABELLED / "sayings.txt").read_text(encoding="utf-8")),
        "topics": [[*topic.questions, *(text for _, _, text in topic.episodes)] for topic in topics],
    }
    vectors = {
        kind: [np.array(embedding.embed(texts), np.float32) for texts in things] for kind, things in said.items()
    }
    kinds = [(vectors[kind], share) for share, kind in DRAWS]
    mean = sum(fit(kinds, seed=seed) for seed in SEEDS) / len(SEEDS)
    content = mean.astype("<f2").tobytes()
    bend_embeddings.FILE.write_bytes(content)
    sys.stdout.write(f"{bend_embeddings.FILE.name}: SHA-256 {hashlib.sha256(content).hexdigest()}\n")


if __name__ == "__main__":
    main()

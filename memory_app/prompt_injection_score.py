"""How like a text is to texts that steer and to ordinary ones in many languages: the second line of the scan.

The first line (`poison`) knows phrases. This one weighs two things against `prompt_injection_examples.txt`: how much
nearer in meaning the three nearest texts that steer are than the three nearest ordinary ones, and whose runs of three
to five letters the text is made of, which tell more where the model knows little of the language. It catches half of
what the first line misses, and holds back one ordinary text in fifty at most. Like the first line it is a filter and
not the fence: no code reads rules from words. Only words that somebody said are held against it, never what the chain
showed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from memory_app import embedding

THRESHOLD: Final = 2.4
"""Above it a text is held back. Chosen on half of the labelled texts: one of their hundred ordinary ones is above."""
MEANING_WEIGHT: Final = 6.0
"""What a difference of 1 in similarity counts beside a point of letters. Chosen on the same half."""
_NEAREST: Final = 3
_RUNS: Final = (3, 4, 5)
_FILE: Final = Path(__file__).with_name("prompt_injection_examples.txt")
_NO_LETTERS: Final = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Example:
    """A text, and what kind of steering it is; empty where it is none."""

    kind: str
    text: str


def find_steering(text: str, vector: Sequence[float] | None) -> tuple[str, ...]:
    """The kind of steering that `text` with this vector is nearest to; nothing for an ordinary one, without a vector,
    and in a process that has not loaded the model (the memory worker alone loads it).
    """
    if vector is None or not embedding.is_loaded():
        return ()
    nearer, kind = _weigh_meaning(vector)
    if _weigh_letters(text) + MEANING_WEIGHT * nearer <= THRESHOLD:
        return ()
    return (f"reads like one that {kind}",)


def read_examples(text: str) -> tuple[Example, ...]:
    """The examples of a file: `! kind` and texts that steer under it, `= ordinary` and texts that do not."""
    found: list[Example] = []
    kind: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith(("! ", "= ")):
            kind = line[2:] if line.startswith("!") else ""
        elif kind is None:
            raise ValueError(f"line {number} stands under no kind")
        else:
            found.append(Example(kind, line))
    return tuple(found)


def _weigh_meaning(vector: Sequence[float]) -> tuple[float, str]:
    """How much nearer the nearest that steer are than the nearest ordinary ones (-2 to 2), and the nearest's kind."""
    near: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
    for example, known in _embed_examples():
        similarity = sum(one * other for one, other in zip(vector, known, strict=True))
        near[bool(example.kind)].append((similarity, example.kind))
    steering, ordinary = (sorted(near[which], reverse=True)[:_NEAREST] for which in (True, False))
    return (sum(each for each, _ in steering) - sum(each for each, _ in ordinary)) / _NEAREST, steering[0][1]


def _weigh_letters(text: str) -> float:
    """How much rather its runs of letters are those of texts that steer: a sum of logarithms over the root of their
    number, so that a long text is not suspicious for its length.
    """
    worth, runs = _read_letters(), set(_list_runs(text))
    return sum(worth.get(run, 0.0) for run in runs) / math.sqrt(max(1, len(runs)))


def _list_runs(text: str) -> Iterator[str]:
    plain = f" {_NO_LETTERS.sub(' ', text.lower()).strip()} "
    return (plain[at : at + length] for length in _RUNS for at in range(len(plain) - length + 1))


@cache
def _read_examples() -> tuple[Example, ...]:
    return read_examples(_FILE.read_text(encoding="utf-8"))


@cache
def _read_letters() -> dict[str, float]:
    """What each run says of a text that holds it, by how often either sort of examples holds it, one added to each."""
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for example in _read_examples():
        counts[bool(example.kind)].update(_list_runs(example.text))
    runs = counts[True].keys() | counts[False].keys()
    steering, ordinary = (counts[which].total() + len(runs) for which in (True, False))
    return {
        run: math.log((counts[True][run] + 1) / steering) - math.log((counts[False][run] + 1) / ordinary)
        for run in runs
    }


@cache
def _embed_examples() -> tuple[tuple[Example, tuple[float, ...]], ...]:
    examples = _read_examples()
    vectors = embedding.embed([example.text for example in examples])
    return tuple((example, tuple(vector)) for example, vector in zip(examples, vectors, strict=True))

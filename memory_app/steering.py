"""What a text means, held against texts that steer and ordinary ones in many languages: the second line of the scan.

The first line (`poison`) knows phrases. This one compares vectors: a text is as suspicious as the three nearest of
`steering.txt` that steer are nearer to it than the three nearest ordinary ones. It catches a third of what the first
line misses, also in other languages, and holds back one ordinary text in fifty at most. Like the first line it is a
filter and not the fence: no code reads rules from words. Only words that somebody said are held against it, never what
the chain showed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from memory_app import embedding
from memory_app.errors import EmbeddingUnavailable

MARGIN: Final = 0.15
"""How much nearer what steers has to be. Chosen on half of the labelled texts, two of a hundred ordinary ones above."""
_NEAREST: Final = 3
_FILE: Final = Path(__file__).with_name("steering.txt")


@dataclass(frozen=True, slots=True)
class Example:
    """A text, and what kind of steering it is; empty where it is none."""

    kind: str
    text: str


def find_steering(vector: Sequence[float] | None) -> tuple[str, ...]:
    """The kind of steering that a text with this vector is nearest to; nothing for an ordinary one, or without one."""
    if vector is None:
        return ()
    near: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
    for example, known in _embed_examples():
        similarity = sum(one * other for one, other in zip(vector, known, strict=True))
        near[bool(example.kind)].append((similarity, example.kind))
    steering, ordinary = (sorted(near[which], reverse=True)[:_NEAREST] for which in (True, False))
    if sum(each for each, _ in steering) - sum(each for each, _ in ordinary) <= _NEAREST * MARGIN:
        return ()
    return (f"reads like one that {steering[0][1]}",)


def find_steering_of(text: str) -> tuple[str, ...]:
    """The same of a text; nothing without the model, whose absence is no reason to hold words back."""
    try:
        return find_steering(embedding.embed([text])[0])
    except EmbeddingUnavailable:
        return ()


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


@cache
def _embed_examples() -> tuple[tuple[Example, tuple[float, ...]], ...]:
    examples = read_examples(_FILE.read_text(encoding="utf-8"))
    vectors = embedding.embed([example.text for example in examples])
    return tuple((example, tuple(vector)) for example, vector in zip(examples, vectors, strict=True))

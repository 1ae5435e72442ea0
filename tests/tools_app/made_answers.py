"""Answers of contracts that nobody deployed: of each function's own types, all of them small or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tools_app.chain.abi import _output_types
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.context import ReadCall, ReadOutcome

NOBODY: Final = "0x" + "0" * 40
REVERTED: Final = "made to fail"


def make_values(signature: str, size: int) -> tuple[Any, ...]:
    """A value of each type that a function answers: numbers and lengths of `size`, 0 for what is empty."""
    return tuple(_make(kind, size) for kind in _output_types(signature))


def _make(kind: str, size: int) -> Any:
    if found := re.fullmatch(r"(.*)\[(\d*)\]", kind):
        return tuple(_make(found[1], size) for _ in range(int(found[2] or size)))
    if kind.startswith("("):
        return tuple(_make(each, size) for each in _split(kind[1:-1]))
    if kind == "address":
        return NOBODY if not size else "0x" + f"{size:x}" * 40
    if kind == "bool":
        return bool(size)
    if kind == "string":
        return "x" * size
    if kind.startswith("bytes"):
        return bytes(int(kind[5:] or 0))
    return size


def _split(inside: str) -> Iterable[str]:
    depth, start = 0, 0
    for place, letter in enumerate(inside):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            yield inside[start:place]
            start = place + 1
    yield inside[start:]


@dataclass
class MadeContracts:
    """Answers every question; the `failing` one, counted from 0 as they are asked, reverts, and `absent` ones are of no
    contract. `asked` has all of them.
    """

    size: int
    failing: int | None = None
    absent: frozenset[int] = frozenset()
    asked: list[ReadCall] = field(default_factory=list)

    def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        return [self._answer(each) for each in calls]

    def _answer(self, call: ReadCall) -> ReadOutcome:
        self.asked.append(call)
        if self.failing is not None and len(self.asked) - 1 == self.failing:
            return ReadOutcome(False, (), REVERTED)
        if len(self.asked) - 1 in self.absent:
            return ReadOutcome(False, (), "no contract", is_absent=True)
        return ReadOutcome(True, make_values(call.signature, self.size))


def name_of(call: ReadCall) -> str:
    """The function that was asked, by its name."""
    return parse_signature(call.signature).name

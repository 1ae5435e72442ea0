"""Which tests reach which drawn mutants, kept from run to run, and in which order the parts of test files are asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

# Nothing of the product is imported here: it would be loaded before its mutants are woven in.
CHECKOUT: Final = Path(__file__).resolve().parents[2]
# Between the path of a test file and the word that says which of its tests are meant.
WORD: Final = "@"
# A part that needs a chain or a committed database is asked this many files later.
_SLOW_IS_LATER_BY: Final = 3


@dataclass
class Record:
    """Which tests reach which mutants, by the mutants' keys, kept in a file."""

    path: Path
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    """File and kind of test -> the seconds its tests took."""

    @classmethod
    def load(cls, path: Path) -> Record:
        """An empty one where there is none yet."""
        if not path.exists():
            return cls(path)
        kept = json.loads(path.read_text(encoding="utf-8"))
        return cls(path, kept["tests"], kept["parts"])

    def save(self) -> None:
        """Write it down whole."""
        self.path.write_text(json.dumps({"tests": self.tests, "parts": self.parts}), encoding="utf-8")

    def list_reaching(self, key: str) -> list[str]:
        """The tests that pass and reach it, the quickest first."""
        found = [(told["seconds"], name) for name, told in self.tests.items() if key in told["reached"]]
        return [name for _, name in sorted(found)]


def split_word(file: str) -> tuple[str, str]:
    """The path, and how the parameters begin of those of its tests that are meant: nothing where all are."""
    path, _, word = file.partition(WORD)
    return path, word


def is_meant(name: str, word: str) -> bool:
    """Whether the test of that name is one of them."""
    return not word or f"[{word}" in name


def part_of(file: str, *, is_quick: bool) -> str:
    """The name of the quick or of the slow tests of a file as it reads now: a new test of it is met too."""
    return f"{file} {'quick' if is_quick else 'slow'} {_digest(split_word(file)[0])}"


@cache
def _digest(file: str) -> str:
    return hashlib.sha256((CHECKOUT / file).read_bytes()).hexdigest()[:12]


def list_parts(files: Sequence[str]) -> list[str]:
    """Quick and slow parts of the files, the nearest first and a slow one some files later."""
    found = [(at, part_of(file, is_quick=True)) for at, file in enumerate(files)]
    found += [(at + _SLOW_IS_LATER_BY, part_of(file, is_quick=False)) for at, file in enumerate(files)]
    return [part for _, part in sorted(found)]

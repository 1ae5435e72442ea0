"""Which tests reach which drawn mutants, kept from run to run, and in which order the parts of test files are asked.

A part of a file that ran says something of those mutants alone that were woven in while it ran: for others it is asked
anew.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Sequence
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
_SAVED_EVERY_SECONDS: Final = 20


@dataclass
class Record:
    """Which tests reach which mutants, by the mutants' keys, kept in a file."""

    path: Path
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: dict[str, list[int]] = field(default_factory=dict)
    """File and kind of test -> the runs, by their place in `woven`, in which its tests ran as they are."""
    woven: list[list[str]] = field(default_factory=list)
    """The mutants that were woven in, run by run."""
    _saved_at: float = 0.0

    @classmethod
    def load(cls, path: Path) -> Record:
        """An empty one where there is none yet."""
        if not path.exists():
            return cls(path)
        kept = json.loads(path.read_text(encoding="utf-8"))
        return cls(path, kept["tests"], kept["parts"], kept["woven"])

    def save(self, *, is_last: bool = False) -> None:
        """Write it down whole, not more often than it is worth."""
        if is_last or time.monotonic() - self._saved_at > _SAVED_EVERY_SECONDS:
            kept = {"tests": self.tests, "parts": self.parts, "woven": self.woven}
            write_whole(self.path, json.dumps(kept))
            self._saved_at = time.monotonic()

    def is_known(self, part: str, key: str) -> bool:
        """Whether the part ran while that mutant was woven in."""
        return any(key in self.woven[run] for run in self.parts.get(part, ()))

    def keep_part(self, part: str, woven: Collection[str]) -> None:
        """It ran with these woven in."""
        keys = sorted(woven)
        if keys not in self.woven:
            self.woven.append(keys)
        self.parts[part] = sorted({*self.parts.get(part, ()), self.woven.index(keys)})

    def keep_test(self, name: str, *, seconds: float, reached: Collection[str]) -> None:
        """It passed, and reached these besides those it was known to reach."""
        before = self.tests.get(name, {"reached": []})
        self.tests[name] = {"seconds": seconds, "reached": sorted({*before["reached"], *reached})}

    def list_reaching(self, key: str) -> list[str]:
        """The tests that pass and reach it, the quickest first."""
        found = [(told["seconds"], name) for name, told in self.tests.items() if key in told["reached"]]
        return [name for _, name in sorted(found)]


def write_whole(path: Path, text: str) -> None:
    """In one step: a run may be ended at any moment, and the next one reads what it kept."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def split_word(file: str) -> tuple[str, str]:
    """The path, and how the parameters begin of those of its tests that are meant: nothing where all are."""
    path, _, word = file.partition(WORD)
    return (file, "") if "::" in file else (path, word)


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

"""Which tests a mutant passed already, kept between runs of a proof that takes longer than one may last.

A test counts while its own file is as it was and the proven sources are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from golem_project.embedded.paths import CHECKOUT
from tests.proof.drawn_record import write_whole


@dataclass
class MetTests:
    """By a mutant's key, the tests that did not notice it."""

    path: Path
    sources: str
    tests: dict[str, set[str]]

    @classmethod
    def load(cls, path: Path, sources: str) -> MetTests:
        """Those of an earlier run of the same sources, whose files are as they were then."""
        kept: dict[str, Any] = {"sources": "", "files": {}, "tests": {}}
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["sources"] != sources:
            return cls(path, sources, {})
        same = {file for file, digest in kept["files"].items() if digest == _digest(file)}
        return cls(
            path,
            sources,
            {key: {test for test in tests if _file_of(test) in same} for key, tests in kept["tests"].items()},
        )

    def keep(self, key: str, tests: Iterable[str]) -> None:
        """Write down that `tests` did not notice it."""
        self.tests.setdefault(key, set()).update(tests)
        self._write()

    def drop(self, key: str) -> None:
        """Its verdict is known."""
        if self.tests.pop(key, None) is not None:
            self._write()

    def _write(self) -> None:
        files = sorted({_file_of(test) for tests in self.tests.values() for test in tests})
        kept = {
            "sources": self.sources,
            "files": {file: _digest(file) for file in files},
            "tests": {key: sorted(tests) for key, tests in self.tests.items()},
        }
        write_whole(self.path, json.dumps(kept))


def _file_of(test: str) -> str:
    return test.partition("::")[0]


@cache
def _digest(file: str) -> str:
    """Of the file as it was when this process asked first; empty where there is none."""
    path = CHECKOUT / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""

"""Declares proofs and keeps their progress in var/proof.json, so that an interrupted run goes on where it was."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golem_project.runtime.redacted_reports import write_report


@dataclass
class Progress:
    """How far one proof is: rounds done of rounds asked, what it found wrong and what it has to say besides. Saved
    after every round.
    """

    id: str
    what: str
    rounds: int
    path: Path
    done: int = 0
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    """What was measured besides, by name."""

    def remaining(self) -> Iterator[int]:
        """The numbers of the rounds still to do; each is saved as done once the caller asks for the next."""
        while self.done < self.rounds:
            yield self.done
            self.done += 1
            self.save()

    def save(self) -> None:
        """Write this proof's row of var/proof.json."""
        rows = load_rows(self.path)
        rows[self.id] = {
            "what": self.what,
            "rounds": self.rounds,
            "done": self.done,
            "ok": self.done >= self.rounds and not self.findings,
            "findings": self.findings,
            "notes": self.notes,
            **({"figures": self.figures} if self.figures else {}),
        }
        write_report(self.path, rows)


@dataclass(frozen=True, slots=True)
class Proof:
    """One long proof: `run` does the remaining rounds of the progress it is handed."""

    id: str
    what: str
    rounds: int
    run: Callable[[Progress], None]


PROOFS: dict[str, Proof] = {}


def proof(*, id: str, what: str, rounds: int) -> Callable[[Callable[[Progress], None]], Callable[[Progress], None]]:
    """Declare a proof of `rounds` rounds with fixed seeds (the round's number)."""

    def declare(run: Callable[[Progress], None]) -> Callable[[Progress], None]:
        PROOFS[id] = Proof(id=id, what=what, rounds=rounds, run=run)
        return run

    return declare


def load_proofs() -> None:
    """Import every file of this package."""
    package = importlib.import_module("tests.proof")
    for found in pkgutil.iter_modules(package.__path__, prefix="tests.proof."):
        importlib.import_module(found.name)


def load_rows(path: Path) -> dict[str, Any]:
    """The rows of var/proof.json; empty when there is none."""
    if not path.exists():
        return {}
    rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def choose_proofs(only: str, ids: Iterable[str]) -> list[str]:
    """The ids that `only` names: whole, by their beginning, or by the word after their dot; `a|b` names both.

    Every id for an empty text. Raises ValueError, with the ids there are, for a name that no proof bears: a run that
    proves nothing may not look like one that found nothing.
    """
    known = list(ids)
    if not only.strip():
        return known
    chosen = set[str]()
    for name in filter(None, map(str.strip, only.split("|"))):
        found = {one for one in known if one.startswith(name) or name in one.split(".")}
        if not found:
            raise ValueError(f"no proof is called {name!r}; there are: {', '.join(sorted(known))}")
        chosen |= found
    return [one for one in known if one in chosen]

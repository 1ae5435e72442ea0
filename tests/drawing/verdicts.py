"""What earlier runs of this checkout left: the newest commit whose whole run was green, and inputs that passed.

Kept in `var/verdicts.json`, so a fresh clone has none and runs everything that depends on inputs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.drawing.families import FAMILIES, Family


@dataclass(frozen=True, slots=True)
class Verdicts:
    """`green` is a commit; `inputs` says of a family which state of its inputs passed."""

    green: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)


def read_verdicts(file: Path) -> Verdicts:
    """What is kept; nothing where the file is not there or says nothing that is understood."""
    try:
        kept: Any = json.loads(file.read_text(encoding="utf-8"))
        return Verdicts(
            green=str(kept["green"]), inputs={str(name): str(kept["inputs"][name]) for name in kept["inputs"]}
        )
    except (OSError, ValueError, KeyError, TypeError):
        return Verdicts()


def write_verdicts(file: Path, verdicts: Verdicts) -> None:
    """Keep them for the next run."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_suffix(".new")
    made.write_text(json.dumps(asdict(verdicts), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    made.replace(file)


def find_unchanged(checkout: Path, verdicts: Verdicts) -> frozenset[str]:
    """The families whose inputs are as they were when all of it passed."""
    return frozenset(
        family.name
        for family in FAMILIES
        if family.inputs and verdicts.inputs.get(family.name) == hash_inputs(checkout, family)
    )


def hash_inputs(checkout: Path, family: Family) -> str:
    """A digest of every file that the family's verdict depends on, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(set(_list_files(checkout, family.inputs))):
        digest.update(f"{path.relative_to(checkout)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _list_files(checkout: Path, inputs: Iterable[str]) -> Iterable[Path]:
    for each in inputs:
        place = checkout / each
        for path in place.rglob("*") if place.is_dir() else [place]:
            if path.is_file() and not {"node_modules", "__pycache__"} & set(path.parts):
                yield path

"""`python -m tests.bench.beside COMMIT`: every figure that this checkout and an older commit both measure.

The older commit is cloned into a temporary folder and set up by its own `make setup`. The two take turns topic by
topic, so that a busy moment of the machine meets both. A table, and var/bench_beside.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from golem_project.embedded.paths import CHECKOUT

_LENT: Final = ("GOLEM_", "DJANGO_", "DATABASE_URL", "REDIS_URL", "PYTHON")
"""What this run may have been lent: each checkout finds its own."""
_TOLD: Final = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "BESIDE", "ONLY")
"""What `make` passes on to a `make` below it: with BESIDE again, the bench would begin itself anew without end."""
_NO_TOPIC: Final = "?"
_LONGEST_SECONDS: Final = 1_800.0
_NOISE: Final = 1.1
"""So much worse is still as good: a figure of one checkout differs by this between two runs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One figure of both. `ratio` is above 1 where here is better than there; None where one of them is nothing."""

    id: str
    unit: str
    here: float
    there: float
    ratio: float | None

    @property
    def is_as_good(self) -> bool:
        return self.ratio is None or self.ratio * _NOISE >= 1


def compare(here: Sequence[dict[str, Any]], there: Sequence[dict[str, Any]]) -> Iterator[Pair]:
    """The figures that both have in the same unit, in the order of here."""
    older = {figure["id"]: figure for figure in there}
    for figure in here:
        other = older.get(figure["id"])
        if other is not None and other["unit"] == figure["unit"]:
            now, then = float(figure["value"]), float(other["value"])
            better, worse = (now, then) if _is_more_better(figure) else (then, now)
            yield Pair(figure["id"], figure["unit"], now, then, round(better / worse, 2) if better and worse else None)


def _is_more_better(figure: dict[str, Any]) -> bool:
    """By its target where it has one: a value above it that is well, or one below it that is not."""
    value, target = figure["value"], figure["target"]
    if target is None or value == target:
        return str(figure["unit"]).startswith("/")
    return bool(figure["ok"]) == (value > target)


def list_topics(checkout: Path) -> list[str]:
    """What `make bench` measures there, told by its refusal of a topic that there is not. Raises RuntimeError."""
    return read_topics(run_make(checkout, "bench", f"ONLY={_NO_TOPIC}"))


def read_topics(told: str) -> list[str]:
    """The topics that such a refusal names. Raises RuntimeError where it names none."""
    found = re.search(r"topics: ([\w, .]+)", told)
    if found is None:
        raise RuntimeError(f"no topics were told: {told[-500:]}")
    return [topic.strip() for topic in found[1].split(",")]


def measure(checkout: Path, topic: str) -> list[dict[str, Any]]:
    """The figures of one topic; none where its bench ended without a report."""
    report = checkout / "var" / "bench.json"
    report.unlink(missing_ok=True)
    run_make(checkout, "bench", f"ONLY={topic}")
    figures: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8")) if report.exists() else []
    return [figure for figure in figures if figure["id"].partition(".")[0] == topic]


def run_make(checkout: Path, *words: str) -> str:
    """What `make` says there, well or not: a figure over its target ends it too."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(_LENT) and name not in _TOLD
    }
    done = subprocess.run(
        ["make", *words],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LONGEST_SECONDS,
        check=False,
    )
    return done.stdout


def draw(pairs: Sequence[Pair]) -> Table:
    """The table."""
    table = Table("figure", "here", "there", "times as good", "at least as good")
    for pair in pairs:
        ratio = "" if pair.ratio is None else f"{pair.ratio:g}"
        table.add_row(
            pair.id,
            f"{pair.here:g} {pair.unit}",
            f"{pair.there:g} {pair.unit}",
            ratio,
            "yes" if pair.is_as_good else "no",
        )
    return table


def main(arguments: Sequence[str]) -> int:
    """0 when no figure is worse than there by more than the noise."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.beside", description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("--only", default="", help="topics, separated by commas")
    options = parser.parse_args(arguments)
    pairs: list[Pair] = []
    with tempfile.TemporaryDirectory(prefix="golem-older-") as folder:
        clone = Path(folder) / "golem"
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True, timeout=_LONGEST_SECONDS)
        subprocess.run(["git", "checkout", "--quiet", options.commit], cwd=clone, check=True, timeout=_LONGEST_SECONDS)
        sys.stderr.write("setting up the older commit …\n")
        run_make(clone, "setup")
        older = set(list_topics(clone))
        wanted = {topic for topic in options.only.split(",") if topic}
        for topic in list_topics(CHECKOUT):
            if topic in older and (not wanted or topic in wanted):
                sys.stderr.write(f"measuring {topic} on both …\n")
                pairs += compare(measure(CHECKOUT, topic), measure(clone, topic))
    report = CHECKOUT / "var" / "bench_beside.json"
    report.write_text(json.dumps([asdict(pair) for pair in pairs], indent=2) + "\n", encoding="utf-8")
    Console(highlight=False).print(draw(pairs))
    return 0 if all(pair.is_as_good for pair in pairs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

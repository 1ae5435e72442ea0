"""Proof of the suite's properties: other examples than the build machine's, and many more of them.

The build machine tries the same examples each time; here each round draws its own, and says by which seed, so that a
finding can be made again: `pytest -m hypothesis --hypothesis-profile=random --hypothesis-seed=SEED`.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.registry import Progress, proof

_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_LONGEST_SECONDS: Final = 4 * 3_600


@proof(
    id="properties.random",
    what="every property of the suite holds for examples drawn by chance, ten times as many where it names no number",
    rounds=3,
)
def prove_properties(progress: Progress) -> None:
    """Rounds with a seed of their own each, noted before it begins."""
    for number in progress.remaining():
        seed = secrets.randbelow(2**32)
        progress.notes.append(f"round {number + 1}: seed {seed}")
        progress.findings += [f"{name} with seed {seed}" for name in try_properties(seed=seed)]


def try_properties(*, seed: int, paths: Sequence[str] = ("tests",)) -> list[str]:
    """The tests that fail among the properties of `paths`; what ran none or broke off is one too."""
    command = [sys.executable, "-m", "pytest", "-m", "hypothesis", "-q", "-p", "no:cacheprovider", *paths]
    options = ["--hypothesis-profile=random", f"--hypothesis-seed={seed}", "--timeout=1800"]
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    ran = subprocess.run(
        [*command, *options],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_LONGEST_SECONDS,
        check=False,
    )
    failed = _FAILED.findall(ran.stdout)
    return failed if failed or ran.returncode == 0 else [f"pytest ended with {ran.returncode}"]

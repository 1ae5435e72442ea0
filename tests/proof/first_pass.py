"""What a first pass over drawn mutants goes by: the commit that draws them, when a verdict is the last word, and the
shares that are asked for.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.near_tests import APPS

LEAST_PERCENT: Final = 85
LEAST_PERCENT_OF_AN_APP: Final = 75


def read_commit() -> str:
    """The hash that decides the draw. Raises RuntimeError where none says what the checkout holds."""
    changed = _ask_git("status", "--porcelain", "--untracked-files=no")
    if changed:
        raise RuntimeError(f"commit first, for the hash of what is tried decides the draw; changed here:\n{changed}")
    return _ask_git("rev-parse", "HEAD")


def _ask_git(*words: str) -> str:
    answer = subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise RuntimeError(f"a draw needs a checkout of git: {answer.stderr.strip()}")
    return answer.stdout.strip()


def has_last_word(verdict: Mapping[str, Any] | None) -> bool:
    """Whether all that it was to be asked was asked."""
    return verdict is not None and bool(verdict.get("is_last", True))


def count_by_app(told: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """Of each app that any was tried of, by module and whether it was noticed: how many were, and how many noticed."""
    tried, noticed = Counter[str](), Counter[str]()
    for module, is_noticed in told:
        app = module.partition(".")[0]
        tried[app] += 1
        noticed[app] += is_noticed
    return {app: (tried[app], noticed[app]) for app in APPS if tried[app]}


def find_shortfalls(told: Iterable[tuple[str, bool]]) -> list[str]:
    """What is under the share that is asked for: of all, and of each app."""
    counts = count_by_app(told)
    whole = (sum(tried for tried, _ in counts.values()), sum(noticed for _, noticed in counts.values()))
    asked = [("all", whole, LEAST_PERCENT), *((app, each, LEAST_PERCENT_OF_AN_APP) for app, each in counts.items())]
    return [
        f"{name}: {noticed} of {tried} noticed, under {least}%"
        for name, (tried, noticed), least in asked
        if noticed * 100 < least * tried
    ]

"""What changed since a commit whose whole run was green, and where no such run is kept, since the likeliest other.

In this order: the commit that GOLEM_DRAW_SINCE names; the newest whole green run kept under var/, if this commit comes
after it; where this branch left the one it came from; the commit before this one. What is not committed counts as
changed. Without git, or without a commit before, everything counts as changed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SINCE_VARIABLE: Final = "GOLEM_DRAW_SINCE"
_ORIGINS: Final = ("@{upstream}", "origin/HEAD", "origin/main", "main")


@dataclass(frozen=True, slots=True)
class Changes:
    """The files that differ from `since`; None where nothing is known of before, and then everything runs."""

    head: str
    since: str
    why: str
    files: frozenset[str] | None
    is_clean: bool = False


def find_changes(checkout: Path, *, green: str | None) -> Changes:
    """What changed in `checkout`; `green` is the commit of the newest whole green run."""
    head = _ask(checkout, "rev-parse", "HEAD")
    if head is None:
        return Changes("", "", "there is no git here", None)
    uncommitted = _list(checkout, "diff", "--name-only", "HEAD")
    untracked = _list(checkout, "ls-files", "--others", "--exclude-standard")
    is_clean = not uncommitted and not untracked
    for since, why in _list_bases(checkout, head, green):
        files = _ask(checkout, "diff", "--name-only", "--no-renames", since, "HEAD")
        if files is not None:
            return Changes(head, since, why, frozenset([*files.splitlines(), *uncommitted, *untracked]), is_clean)
    return Changes(head, "", "there is no commit before this one", None, is_clean)


def _list_bases(checkout: Path, head: str, green: str | None) -> Iterator[tuple[str, str]]:
    named = os.environ.get(SINCE_VARIABLE)
    if named:
        yield named, f"named by {SINCE_VARIABLE}"
        return
    if green and _ask(checkout, "merge-base", "--is-ancestor", green, head) is not None:
        yield green, "the newest whole run that was green"
    for origin in _ORIGINS:
        base = _ask(checkout, "merge-base", origin, head)
        if base and base != head:
            yield base, f"where this branch left {origin}"
    before = _ask(checkout, "rev-parse", "--verify", "--quiet", "HEAD~1")
    if before:
        yield before, "the commit before; no whole green run is kept here"


def _list(checkout: Path, *words: str) -> list[str]:
    return (_ask(checkout, *words) or "").splitlines()


def _ask(checkout: Path, *words: str) -> str | None:
    """What git answers; None where it fails or is not there."""
    command = ["git", "-c", "core.quotePath=false", "-C", str(checkout), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()

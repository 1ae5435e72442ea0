"""The fenced blocks of the pages under `docs/how-to`, word for word, and a shell that runs them as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from tests.architecture.sources import ROOT

_BLOCK = re.compile(r"^ *```\w+\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def list_blocks(page: str) -> list[str]:
    """Every fenced block of a page, in its order."""
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return [textwrap.dedent(block) for block in _BLOCK.findall(text)]


def read_block(page: str, number: int) -> str:
    """One of them, counted from 0."""
    return list_blocks(page)[number]


def run_in_shell(
    block: str, *, folder: Path, environment: Mapping[str, str], typed: str = "", seconds: int = 120
) -> subprocess.CompletedProcess[str]:
    """A block of commands in `folder`, with this Python as `python`; what is not in `environment` is not set."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-eu", "-c", block],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder), **environment},
        input=typed,
        capture_output=True,
        text=True,
        timeout=seconds,
    )

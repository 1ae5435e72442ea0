"""How long the test files took that are not short: `tests/durations.json`, in whole seconds. One not in it is short."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

DURATIONS = Path(__file__).with_name("durations.json")
A_SHORT_FILE_SECONDS = 0.5
"""What one that is not in it takes, all of them together taken."""


@cache
def read_durations() -> dict[str, int]:
    """The seconds of each file that is not short."""
    known: dict[str, int] = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    return known

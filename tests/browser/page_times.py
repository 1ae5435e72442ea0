"""How long the pages of the journeys took in the browser, slowest first: `python -m tests.browser.page_times`.

From the start of the navigation to the end of its load event, on the machine that ran the journeys last.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

TIMES = Path(__file__).parents[2] / "var" / "screenshots" / "journeys" / "times.jsonl"
PROMISED_MS = 1_000
SHOWN = 12


@dataclass(frozen=True, slots=True)
class PageTime:
    """One look at one page; `milliseconds` of its navigation and its height in pixels."""

    name: str
    size: str
    milliseconds: int
    height: int


def read_times() -> list[PageTime]:
    """The newest look of each page and size, slowest first."""
    looks = [PageTime(**json.loads(line)) for line in TIMES.read_text(encoding="utf-8").splitlines()]
    newest = {(look.name, look.size): look for look in looks}
    return sorted(newest.values(), key=lambda look: -look.milliseconds)


def main() -> None:
    times = read_times()
    for look in times[:SHOWN]:
        sys.stdout.write(f"{look.milliseconds:6} ms  {look.height:6} px high  {look.name} ({look.size})\n")
    slow = sum(look.milliseconds > PROMISED_MS for look in times)
    sys.stdout.write(f"{len(times)} pages, {slow} above {PROMISED_MS} ms\n")


if __name__ == "__main__":
    main()

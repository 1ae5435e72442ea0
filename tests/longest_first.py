"""The files that take longest begin first, so that no process of a run ends with one while the others have none left.

`GOLEM_KEEP_DURATIONS=1 make test-all` writes anew how long they took.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict

import pytest

from tests.durations import DURATIONS, read_durations

SHORTEST_KEPT_SECONDS = 5
_TAKEN: dict[str, float] = defaultdict(float)


def pytest_itemcollected(item: pytest.Item) -> None:
    """`make test-fast` leaves those files out as well, by the mark that `tests/conftest.py` gives."""
    if item.location[0] in read_durations():
        item.add_marker("slow")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order by file, the tests of each as they were."""
    known = read_durations()
    items.sort(key=lambda item: -known.get(item.location[0], 0))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Every process hears of its own tests, the one that hands them out of all."""
    _TAKEN[report.location[0]] += report.duration


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write down what the whole run took, once."""
    if os.environ.get("GOLEM_KEEP_DURATIONS") == "1" and not hasattr(session.config, "workerinput"):
        DURATIONS.write_text(render(_TAKEN))


def render(taken: dict[str, float]) -> str:
    """The files that are not short, the longest first."""
    kept = {path: round(seconds) for path, seconds in taken.items() if seconds >= SHORTEST_KEPT_SECONDS}
    return json.dumps(dict(sorted(kept.items(), key=lambda each: (-each[1], each[0]))), indent=1) + "\n"

"""A pytest plugin for one mutant in a process of its own: quick tests come first, and after a share of the processor's
time, GOLEM_ALONE_SECONDS, no further test begins.
"""

from __future__ import annotations

import os
import time
from typing import Final

import pytest

SECONDS_VARIABLE: Final = "GOLEM_ALONE_SECONDS"
OUT_OF_TIME: Final = "the mutant's share of time is used up"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the order of the files, what is quick first."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """End the run when its share is used up."""
    if time.process_time() > float(os.environ[SECONDS_VARIABLE]):
        item.session.shouldstop = OUT_OF_TIME
        pytest.skip(OUT_OF_TIME)

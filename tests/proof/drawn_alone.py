"""A pytest plugin for one mutant in a process of its own: the tests of GOLEM_ALONE_FIRST come first, then quick ones,
and after a share of the processor's time, GOLEM_ALONE_SECONDS, no further test begins. GOLEM_ALONE_WORDS says of which
file only some tests are asked.
"""

from __future__ import annotations

import json
import os
import time
from typing import Final

import pytest

from tests.proof.drawn_record import is_meant

SECONDS_VARIABLE: Final = "GOLEM_ALONE_SECONDS"
WORDS_VARIABLE: Final = "GOLEM_ALONE_WORDS"
FIRST_VARIABLE: Final = "GOLEM_ALONE_FIRST"
OUT_OF_TIME: Final = "the mutant's share of time is used up"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the order of the files, what noticed the mutant before and then what is quick first."""
    words = json.loads(os.environ.get(WORDS_VARIABLE, "{}"))
    items[:] = [item for item in items if is_meant(item.name, words.get(item.nodeid.partition("::")[0], ""))]
    first = tuple(json.loads(os.environ.get(FIRST_VARIABLE, "[]")))
    items.sort(key=lambda item: (not item.nodeid.startswith(first), item.get_closest_marker("slow") is not None))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """End the run when its share is used up."""
    if time.process_time() > float(os.environ[SECONDS_VARIABLE]):
        item.session.shouldstop = OUT_OF_TIME
        pytest.skip(OUT_OF_TIME)

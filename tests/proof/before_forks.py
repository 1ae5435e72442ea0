"""What would otherwise be made or read anew in every fork: shared fixtures, templates and addresses of pages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

from tests.conftest import is_slow

# What a session shares is made before the forks, or each of them would make it anew.
_SHARED_FIXTURES: Final = ("world", "db", "among_others")
# What is read at a first request is read before the forks too.
_DOORS: Final = ("tests/admin/test_what_pages_show.py", "tests/golem_project/pi/test_views.py")
_ASKED_OF_A_DOOR: Final = 6


def run_what_is_shared(items: Sequence[pytest.Item], *, nothing_shared: Any) -> None:
    """A test of each shared fixture, and some of each door."""
    for name in _SHARED_FIXTURES:
        # The files that take longest come first.
        first = next((item for item in reversed(items) if name in getattr(item, "fixturenames", ())), None)
        if first is not None:
            runtestprotocol(first, nextitem=nothing_shared, log=False)
    for door in _DOORS:
        quick = (item for item in items if item.nodeid.startswith(door) and not is_slow(item))
        for item in islice(quick, _ASKED_OF_A_DOOR):
            runtestprotocol(item, nextitem=nothing_shared, log=False)

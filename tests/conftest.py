"""Plugins of the whole suite; `tests.services` comes before the settings are read and is named in pyproject.toml."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.emptied_database",
    "tests.evm.world",
    "tests.live_golem",
    "tests.lying_chain",
    "tests.made_up_bank.on_the_shelf",
    "tests.migrated_database",
    "tests.receiver",
    "tests.watched_locks",
]

# A busy machine fails no property, and the build machine tries the same examples each time.
settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI", "").lower() == "true",
)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def gas_limits_are_forgotten_between_tests() -> Iterator[None]:
    """What a process remembers of calls that fitted would let one test decide how often another's calls are run."""
    yield
    rehearsal = sys.modules.get("permits_app.safety.rehearsal")
    if rehearsal is not None:
        rehearsal.LIMITS.clear()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright's event loop stays in the main thread once it has begun."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)

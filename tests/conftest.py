"""Plugins of the whole suite; `tests.services` comes before the settings are read and is named in pyproject.toml."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.evm.world", "tests.live_golem", "tests.receiver"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright's event loop stays in the main thread once it has begun."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)

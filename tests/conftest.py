"""Plugins of the whole suite; `tests.services` comes before the settings are read and is named in pyproject.toml."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.backends.postgresql.operations import DatabaseOperations

pytest_plugins = ["tests.evm.world", "tests.live_golem", "tests.receiver"]

_NEVER_EMPTIED = ("tools_app_auditentry", "tools_app_auditcheckpoint")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright's event loop stays in the main thread once it has begun."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session", autouse=True)
def audit_log_is_emptied_between_tests() -> Any:
    """The database refuses to empty the audit log; what ends a test is somebody who may switch the triggers off."""
    plain = DatabaseOperations.sql_flush

    def sql_flush(self: Any, *given: Any, **options: Any) -> list[str]:
        found = plain(self, *given, **options)
        off, on = (
            [f"ALTER TABLE {table} {word} TRIGGER USER" for table in _NEVER_EMPTIED] for word in ("DISABLE", "ENABLE")
        )
        return [*off, *found, *on] if found else found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield

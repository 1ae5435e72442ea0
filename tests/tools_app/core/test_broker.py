"""Connections to the broker are opened in one place, and kept."""

from __future__ import annotations

import re
from typing import Any

from tests.architecture.sources import ROOT, list_sources
from tools_app.core import broker


def test_no_other_module_opens_a_connection_to_the_broker() -> None:
    opening = re.compile(r"\b(redis|Redis|asyncio\.Redis)\.(from_url|Redis\()")
    assert [path for path in list_sources() if opening.search((ROOT / path).read_text())] == [
        "tools_app/core/broker.py"
    ]


def test_callers_with_equal_waits_share_one_client_and_a_changed_address_is_followed(settings: Any) -> None:
    shared = broker.connect()
    assert broker.connect() is shared and shared.ping()
    assert broker.connect(silence_seconds=3) is not shared
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert broker.connect() is not shared

"""An index on the local chain."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.history.followed import Followed


@pytest.fixture
def followed(db: None, local_chain: World, settings: Any) -> Followed:
    """Nothing is followed yet; questions are no matter."""
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 1_000_000
    return Followed(local_chain)

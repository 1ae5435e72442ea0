"""The local Aave."""

from __future__ import annotations

import pytest

from tests.evm.world import World
from tests.tools_app.protocols.aave_v3.desk import Desk, open_desk


@pytest.fixture
def desk(chain: World) -> Desk:
    """An account with WETH, USDC and DAI, nothing of it at Aave yet."""
    return open_desk(chain)

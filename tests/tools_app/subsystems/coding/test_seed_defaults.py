"""The numbers of the specification, where an agent meets them."""

from __future__ import annotations

import pytest

from tests.coding_agent import CodingAgent, Refused
from tests.tools_app.subsystems.coding.test_six_tools import put


def test_the_limits_are_those_specified(coder: CodingAgent) -> None:
    put(coder, "many.txt", "x\n" * 2_001)
    told = coder.ask("read", path="many.txt")
    assert told["continue_at"] == 2_001
    with pytest.raises(Refused, match="INVALID_PARAMS"):
        coder.ask("read", path="many.txt", limit=2_001)
    assert coder.preview("bash", command="true")["expected_outcome"]["details"]["timeout_ms"] == 30_000
    with pytest.raises(Refused, match="INVALID_PARAMS"):
        coder.preview("bash", command="true", timeout_ms=45_001)

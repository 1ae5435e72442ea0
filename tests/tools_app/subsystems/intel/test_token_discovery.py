"""A score is the sum of what was found, and every word of its rating has its edge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context
from tools_app.subsystems.intel import token_risk_score
from tools_app.subsystems.intel.token_risk_score import DiscoveredToken
from tools_app.subsystems.safety.token_tools import check_token


def discover(chain: World, token: str) -> DiscoveredToken:
    found: DiscoveredToken = call_tool(make_context(chain), "intel_discover_token", token=token)
    return found


@pytest.mark.parametrize(
    ("dangers", "cautions", "score", "rating"),
    [
        (0, 0, 100, "SAFE"),
        (0, 1, 85, "SAFE"),
        (0, 2, 70, "CAUTION"),
        (0, 3, 55, "WARNING"),
        (1, 0, 40, "WARNING"),
        (1, 1, 25, "DANGER"),
        (2, 9, 0, "DANGER"),
    ],
)
def test_a_danger_takes_sixty_and_a_caution_fifteen(
    chain: World, monkeypatch: pytest.MonkeyPatch, dangers: int, cautions: int, score: int, rating: str
) -> None:
    def judged(*given: Any) -> Any:
        return replace(check_token(*given), dangers=dangers, warnings=("bad",) * (dangers + cautions))

    monkeypatch.setattr(token_risk_score, "check_token", judged)
    told = discover(chain, "WETH")
    assert (told.risk_score, told.risk_rating, len(told.risk_factors)) == (score, rating, dangers + cautions)

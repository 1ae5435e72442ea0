"""The golem page says of each effective limit where its value comes from."""

from __future__ import annotations

import pytest

from permits_app.pages.golem_tabs import build_rules
from tests.live_golem import LiveGolem
from tools_app.core import clock


@pytest.mark.parametrize(
    ("name", "value", "source"),
    [
        ("Per transaction", "$10,000.00", "default of this server"),
        ("Writes per hour", "500", "set for this golem"),
        ("One position, of the portfolio", "100%", "set for this golem"),
        ("Drawdown within 24 h", "13%", "default of this server"),
    ],
)
def test_each_limit_shows_its_value_and_its_origin(live_golem: LiveGolem, name: str, value: str, source: str) -> None:
    page = build_rules(live_golem.golem, now=clock.now())
    shown = {rule.name: rule for rule in page.rules}
    assert shown[name].value == value
    assert shown[name].source.startswith(source)

"""The health of a debt over the last ticks is drawn on the golem's page beside its owner's floor, at every lender, and
a fall to that floor is told by the tick that saw it.
"""

from __future__ import annotations

import re

import pytest

from permits_app.pages import health_lines
from permits_app.pages.health_lines import draw_health
from tests.catalogue.door import Door
from tests.catalogue.test_adversaries import set_feed
from tests.catalogue.test_restaked_halt import read_page
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tools_app.core import clock
from tools_app.core.models import OutboxEvent

DRAWN = re.compile(
    r'<svg class="gx-range gx-health.*?aria-label="Health over time: ([^"]*)".*?points="([^"]*)"', re.DOTALL
)
SAID = re.compile(r"(\d+\.\d\d) at the last tick, (\d+\.\d\d) at the lowest since .*; your floor is (\d+\.\d\d)")
LOANS = {
    "aave_v3": "aave_borrow",
    "spark": "spark_borrow",
    "morpho": "morpho_borrow_market",
    "maker": "maker_generate_dai",
    "compound_v3": "compound_v3_borrow",
    "moonwell": "moonwell_borrow",
}


def told_of_health(door: Door) -> list[str]:
    rows = OutboxEvent.objects.filter(type="heartbeat:alert", payload__source__startswith="health-")
    return [str(row.payload["source"]) for row in rows.filter(golem_id=door.stage.live.golem.pk).order_by("sequence")]


@pytest.mark.parametrize("lender", [pytest.param(each, marks=pytest.mark.protocols(each)) for each in LOANS])
def test_the_health_of_a_debt_is_drawn_over_time_and_its_fall_is_told(door: Door, lender: str) -> None:
    door.do(LOANS[lender])
    live = door.stage.live
    turn_on(live.golem, is_live=False)
    page = ("archetypes_app.golem", "money", live.golem.pk)
    tick(live.golem)
    assert "gx-health" not in read_page(live, *page), "one tick is no line"
    (price,) = live.world.rpc.read(live.world.tokens["WETH"].feed, "latestAnswer()", returns="(int256)")
    health = max(each.position.health_bps or 0 for each in door.stage.holdings().positions)
    # Far enough that what covers the debt is a tenth over what it owes.
    set_feed("WETH", price * 11_000 // health // 10**8)(door)
    tick(live.golem)
    [(said, points)] = DRAWN.findall(read_page(live, *page))
    found = SAID.match(said)
    assert found is not None, said
    last, lowest, floor = (float(each) for each in found.groups())
    assert last == lowest < floor and len(points.split()) == 2
    first, second = (float(each.split(",")[1]) for each in points.split())
    assert first < second <= 24, "the line falls"
    assert told_of_health(door) == ["health-under"]


@pytest.mark.protocols("compound_v3")
def test_however_many_ticks_there_were_the_last_ones_are_read(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.do("compound_v3_borrow")
    live = door.stage.live
    turn_on(live.golem, is_live=False)
    for _ in range(3):
        tick(live.golem)
    (ref,) = (str(each.ref) for each in door.stage.positions() if each.ref.protocol == "compound_v3")

    def count() -> int:
        return len(draw_health(live.golem.pk, [ref], now=clock.now())[ref].points.split())

    assert count() == 3
    monkeypatch.setattr(health_lines, "MOST_TICKS", 2)
    assert count() == 2
    assert draw_health(live.golem.pk, [], now=clock.now()) == {}

"""An owner sees how long a way out takes from when it is asked for, before anybody asks."""

from __future__ import annotations

import pytest

from golem_project.cockpit.risks import build_risks
from permits_app.pages.portfolio_card import read_portfolio_card
from tests.catalogue.door import Door
from tools_app.core import clock


@pytest.mark.parametrize(
    ("protocol", "case", "says"),
    [
        pytest.param(*each, marks=pytest.mark.protocols(each[0]))
        for each in (
            ("ethena", "ethena_stake_usde", "7 d after it is asked for"),
            ("eigenlayer", "eigenlayer_deposit_lst", "10 min after it is asked for"),
            ("liquid_restaking", "lrt_deposit_renzo", "3 d after it is asked for"),
            ("lido", "lido_stake", "nobody knows how long it waits"),
            ("yearn", "yearn_deposit", ""),
        )
    ],
)
def test_how_long_leaving_takes_is_told_before_it_is_asked_for(door: Door, protocol: str, case: str, says: str) -> None:
    door.do(case)
    # Dust of its other token may lie beside it.
    there = [each for each in door.stage.positions() if each.ref.protocol == protocol]
    position = max(there, key=lambda each: sum(leg.raw for leg in each.legs))
    card = read_portfolio_card(door.stage.live.golem, now=clock.now())
    (shown,) = (each for each in card.positions if each.label == position.label)
    assert says in shown.unlocks and bool(shown.unlocks) is bool(says)
    ways = build_risks(door.stage.live.golem, now=clock.now()).ways_out
    waits = {None: "unknown", 0: ""}.get(position.leaving_seconds, says.partition(" after")[0])
    assert [each.wait for each in ways if position.label in each.label] == [waits]

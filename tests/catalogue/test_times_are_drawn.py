"""When money comes free and when claims are due is drawn on the golem's page, on one scale for all of its positions."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from tests.catalogue.door import Door
from tests.catalogue.test_restaked_halt import read_page
from tools_app.protocols.pendle.addresses import find_places

DRAWN = re.compile(r'<svg class="gx-times".*?aria-label="From today to ([^:]*): ([^"]*)".*?</svg>', re.DOTALL)
MARKS = re.compile(r'<rect class="gx-range-at" x="(\d+)"')


@pytest.mark.protocols("ethena", "pendle")
def test_a_cooldown_and_the_maturity_of_claims_are_drawn_with_their_days(door: Door) -> None:
    door.do("ethena_stake_usde", "ethena_unstake_usde", "pendle_buy_pt")
    live = door.stage.live
    shown = read_page(live, "archetypes_app.golem", "money", live.golem.pk)
    chain = live.golem.home_chain_id
    world = live.world.rpc
    [(_, _, _, _, _, expiry, *_)] = world.read(
        find_places(chain)[0].market,
        "readState(address)",
        find_places(chain)[0].router,
        returns="((int256,int256,int256,address,int256,uint256,uint256,uint256,uint256))",
    )
    matures = datetime.fromtimestamp(expiry, tz=UTC).date().isoformat()
    drawn = {found[2]: (found[1], MARKS.findall(found[0])) for found in DRAWN.finditer(shown)}
    assert drawn.pop(f"due on {matures}") == (matures, ["99"])
    # A week beside years.
    [(said, (last, [mark]))] = drawn.items()
    assert said.startswith("free on ") and last == matures and int(mark) <= 2


@pytest.mark.protocols("ethena")
def test_what_is_free_already_has_no_picture(door: Door) -> None:
    door.do("ethena_stake_usde")
    live = door.stage.live
    assert "gx-times" not in read_page(live, "archetypes_app.golem", "money", live.golem.pk)

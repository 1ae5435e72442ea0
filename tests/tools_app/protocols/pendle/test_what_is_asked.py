"""What reading an account's positions asks a market: what is dear to answer only of what is held."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.pendle.test_market import MARKET, WAD, Golem, pass_time
from tests.tools_app.protocols.pendle.test_market import golem as golem
from tools_app.protocols.pendle.addresses import find_places
from tools_app.protocols.pendle.market_state import KEPT_REWARD, LP_RATE, PT_RATE, REWARDS, ask_standings
from tools_app.protocols.pendle.positions import PendlePositions
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import Position, drive

pytestmark = pytest.mark.protocols("pendle")
DEAR = {PT_RATE, LP_RATE, REWARDS}
(PLACE,) = find_places(CHAIN_ID)


def ask(golem: Golem) -> tuple[list[set[str]], tuple[Position, ...]]:
    """The dear questions of each batch, and what came of it."""
    reader = make_context(golem.chain, address=golem.address).chain()
    batches: list[set[str]] = []

    def call_many(calls: Sequence[ReadCall]) -> Sequence[ReadOutcome]:
        batches.append({call.signature for call in calls} & DEAR)
        return reader.call_many(calls)

    return batches, drive(PendlePositions().list(CHAIN_ID, golem.address, ()), call_many)


def test_who_holds_nothing_of_a_market_is_asked_nothing_dear_and_no_second_batch(golem: Golem) -> None:
    assert ask(golem) == ([set()], ())


@pytest.mark.parametrize(
    ("tool", "asked"),
    [("pendle_buy_pt", {PT_RATE}), ("pendle_buy_yt", {PT_RATE}), ("pendle_add_lp", {LP_RATE, REWARDS})],
)
def test_of_what_is_held_its_own_average_is_asked_and_no_other(golem: Golem, tool: str, asked: set[str]) -> None:
    golem.act(tool, market=MARKET, amount=str(1_000 * WAD))
    batches, (position,) = ask(golem)
    assert batches == [set(), asked]
    assert position.legs or position.uncounted


def test_a_reward_of_a_part_that_was_taken_out_is_told_as_the_market_keeps_it(chain: World, golem: Golem) -> None:
    golem.act("pendle_add_lp", market=MARKET, amount=str(5_000 * WAD))
    pass_time(chain, 86_400)
    golem.act("pendle_remove_lp", market=MARKET, lp_amount="max")
    batches, (position,) = ask(golem)
    assert REWARDS not in batches[1]
    (reward,) = (each for each in position.uncounted if each.token == PLACE.reward)
    reader = make_context(chain, address=golem.address).chain()
    (paid,) = drive(ask_standings(CHAIN_ID, (PLACE,), golem.address), reader.call_many)
    # What the market would pay now, asked of the function that pays it.
    assert reward.raw == paid.held.reward > WAD // 100
    (kept,) = reader.call_many([ReadCall(MARKET, KEPT_REWARD, (PLACE.reward, golem.address))])
    assert int(kept.values[1]) == reward.raw

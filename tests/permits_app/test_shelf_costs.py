"""Protocols on the shelf cost a preview that does not use them next to nothing; what is held costs a few batches."""

from __future__ import annotations

import pytest

from permits_app.models import PolicyCage
from tests.bench.forty import give_code, make_protocols, make_tools, on_the_shelf
from tests.bench.shelf import (
    FIVE,
    MOST_MORE_BATCHES,
    MOST_MORE_BATCHES_OF_FIVE,
    counted,
    list_others,
    without,
)
from tests.live_golem import LiveGolem
from tests.proof.holding_steps import STEPS
from tests.proof.holding_walk import COINS, FUNDS, HoldingsWalk
from tests.proof.holdings import WORLDS as WALKED
from tests.tools_app.factories import make_context
from tools_app.core import clock
from tools_app.portfolio.read_all_positions import foretell_positions, read_positions
from tools_app.portfolio.remembered_positions import remember_positions

WORLDS = ("across", "uniswap_twamm", *WALKED)
"""Every protocol that tells positions, also those whose deposits no walk takes."""
pytestmark = pytest.mark.protocols(*WORLDS)


def count_batches(live: LiveGolem, amount: int) -> int:
    with counted() as batches:
        assert live.preview(amount=str(amount))["permit_id"]
    return len(batches)


def compare(live: LiveGolem, amount: int) -> tuple[int, int]:
    """With the market alone on the shelf, and with everything."""
    # Off the shelf nobody says which of the listed tokens only stand for positions.
    PolicyCage.objects.filter(golem=live.golem).update(max_assets=20)
    count_batches(live, amount)
    with without(list_others()):
        alone = count_batches(live, amount + 1_000)
    return alone, count_batches(live, amount + 2_000)


def hold_at_five(live: LiveGolem) -> None:
    """Positions at five protocols, one of them a loan."""
    world, golem = live.world, live.golem
    world.fund(golem.address, COINS, FUNDS)
    walk = HoldingsWalk(world.rpc, golem.address, world.protocols)
    for name in FIVE:
        found = STEPS[name](walk, 25, 0)
        assert found is not None and walk.act(found), name
    remember_positions(account=golem.address, refs=walk.hints, now=clock.now())


def test_a_swap_of_a_golem_that_holds_nothing_elsewhere_asks_at_most_two_batches_more(live_golem: LiveGolem) -> None:
    assert len(list_others()) == len(WORLDS)
    alone, among_all = compare(live_golem, 100_000_000)
    assert among_all <= alone + MOST_MORE_BATCHES


def test_a_swap_of_a_golem_with_positions_at_five_protocols_asks_at_most_four_batches_more(
    live_golem: LiveGolem,
) -> None:
    hold_at_five(live_golem)
    world, golem = live_golem.world, live_golem.golem
    reader = make_context(world, address=golem.address).chain()
    assert len({each.ref.protocol for each in read_positions(chain=reader, account=golem.address)}) == 5
    alone, among_all = compare(live_golem, 100_000_000)
    assert among_all <= alone + MOST_MORE_BATCHES_OF_FIVE
    # What the last preview had to find out step by step, the next asks at once.
    assert count_batches(live_golem, 100_003_000) <= alone


def test_thirty_protocols_more_cost_a_swap_a_question_each_and_no_round_trip(live_golem: LiveGolem) -> None:
    made_up = make_protocols(30)
    give_code(live_golem.world.rpc, made_up)
    count_batches(live_golem, 100_000_000)
    few = count_batches(live_golem, 100_001_000)
    with on_the_shelf(made_up, make_tools(made_up)):
        count_batches(live_golem, 100_002_000)
        assert count_batches(live_golem, 100_003_000) <= few
        reader = make_context(live_golem.world, address=live_golem.golem.address).chain()
        first = foretell_positions(chain_id=reader.chain_id, account=live_golem.golem.address)
        assert first.contracts == ()
        assert len(first.calls) <= len(WORLDS) + 1 + len(made_up)

"""A golem gets out of what it lent and owes, wherever restrictions, halts and a paused lender have led it."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.evm.world import World
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import make_live_golem
from tests.permits_app.safety.lending_walk import LENDING_ACTS, LendingWalk
from tests.permits_app.safety.machines import run_machine

pytestmark = [
    pytest.mark.usefixtures("tasks_here", "transactional_db"),
    pytest.mark.protocols("aave_v3", "erc4626"),
]
_STEPS = 6


@pytest.mark.one_of_many
@pytest.mark.parametrize("number", range(2))
def test_what_is_lent_and_owed_is_left_from_wherever_a_walk_through_restrictions_leads(
    number: int, local_chain: World
) -> None:
    chance = random.Random(number)
    walk = LendingWalk(make_live_golem(local_chain))
    walk.begin()
    for name in ["pause", *chance.sample([each for each in LENDING_ACTS if each != "pause"], _STEPS)]:
        walk.take(name, chance.choice(LENDING_ACTS[name]) if name != "pause" else (True,))
    if number % 2 == 0:
        walk.check_owner_gets_out()
    else:
        walk.check_agent_gets_out()


def test_as_much_cover_as_the_floor_leaves_comes_out_beside_a_debt(local_chain: World) -> None:
    walk = LendingWalk(make_live_golem(local_chain))
    walk.begin()
    walk.withdraw_what_the_floor_leaves()
    assert walk.has_debt() and walk.has_collateral()
    walk.check_agent_gets_out()


class LeavingLenders(RuleBasedStateMachine):
    """Walks of a golem each, from its loan."""

    world: ClassVar[World]
    walks: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).walks += 1
        self.walk = LendingWalk(make_live_golem(self.world, name=f"Lender {self.walks}"))

    @initialize()
    def begin(self) -> None:
        """It lends, owes and holds shares."""
        self.walk.begin()

    @rule(act=st.sampled_from([(name, values) for name, each in LENDING_ACTS.items() for values in each]))
    def take(self, act: tuple[str, tuple[Any, ...]]) -> None:
        """Any act, with any of its values."""
        self.walk.take(*act)

    def teardown(self) -> None:
        """Out of where it led."""
        if self.walks % 2:
            self.walk.check_owner_gets_out()
        else:
            self.walk.check_agent_gets_out()


@pytest.mark.hypothesis
def test_a_machine_of_states_finds_no_loan_without_a_way_out(local_chain: World) -> None:
    """`make proof ONLY=leaving` walks at random, oftener and further."""
    run_machine(LeavingLenders, local_chain, short=(2, 3), long=(20, 15))

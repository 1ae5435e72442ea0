"""A golem gets out of a Safe, and its owner with it, from behind its cage, wherever the rules of both have led it."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from permits_app.policy_cage.contract import Limit
from tests.evm.world import World
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import make_live_golem
from tests.permits_app.safety.caged_walk import CAGED_ACTS, CagedWalk, SafeWalk
from tests.permits_app.safety.leaving_walk import ACTS, LeavingWalk
from tests.permits_app.safety.machines import run_machine
from tools_app.toolkit.enums import Phase

pytestmark = pytest.mark.usefixtures("tasks_here", "transactional_db")
_STEPS = 5


def _get_out(walk: LeavingWalk, *, by_owner: bool) -> None:
    if by_owner:
        walk.check_owner_gets_out()
    else:
        walk.check_agent_gets_out()


@pytest.mark.parametrize("phase", list(Phase))
def test_what_lies_behind_a_cage_is_left_in_every_phase_of_golem_and_contract(phase: Phase, local_chain: World) -> None:
    walk = CagedWalk(make_live_golem(local_chain))
    walk.begin()
    number = list(Phase).index(phase)
    walk.change_phase(phase)
    walk.take("worsen_in_contract", (number,))
    walk.take("retire", ("DAI",))
    for name in ("take_off_list", "raise_the_mark", "record_drawdown", "fall", "fail_at_venue"):
        walk.take(name, CAGED_ACTS[name][0])
    _get_out(walk, by_owner=number % 2 == 0)


def test_what_retires_is_sold_in_the_plan_that_takes_it_out_of_a_position(local_chain: World) -> None:
    walk = CagedWalk(make_live_golem(local_chain))
    walk.begin()
    walk.take("retire", ("WETH",))
    [position] = walk.list_positions()
    walk.check_position_is_left_by_the_key()
    _get_out(walk, by_owner=False)
    walk.check_rest_is_taken_out(position, of="WETH")


def test_a_halt_leaves_a_position_of_what_retires_too(local_chain: World) -> None:
    walk = CagedWalk(make_live_golem(local_chain))
    walk.begin()
    walk.take("retire", ("WETH",))
    walk.take("halt_contract", ())
    _get_out(walk, by_owner=True)


def test_of_what_nothing_may_leave_the_owners_take_out_what_lies_in_a_position(local_chain: World) -> None:
    walk = CagedWalk(make_live_golem(local_chain))
    walk.begin()
    walk.take("close_outflow", ("WETH",))
    with pytest.raises(AssertionError, match="OutflowTooLarge"):
        walk.check_position_is_left_by_the_key()
    walk.take("halt_contract", ())
    _get_out(walk, by_owner=True)


def test_a_position_above_its_cap_is_left_before_anything_is_sold(local_chain: World) -> None:
    walk = CagedWalk(make_live_golem(local_chain))
    walk.begin()
    walk.take("tighten_contract", (Limit.MAX_POSITION_BPS, 1))
    with pytest.raises(AssertionError, match="PositionTooLarge"):
        walk.check_is_sold("WETH")
    _get_out(walk, by_owner=False)


@pytest.mark.one_of_many
@pytest.mark.parametrize("number", range(2))
def test_on_a_walk_a_golem_with_a_safe_gets_out(number: int, local_chain: World) -> None:
    chance = random.Random(number)
    walk = SafeWalk(make_live_golem(local_chain))
    walk.begin()
    for name in chance.sample(list(ACTS), _STEPS):
        walk.take(name, chance.choice(ACTS[name]))
    _get_out(walk, by_owner=number % 2 == 0)


@pytest.mark.one_of_many
@pytest.mark.parametrize("number", range(3))
def test_on_a_walk_a_golem_behind_its_cage_gets_out(number: int, local_chain: World) -> None:
    chance = random.Random(number)
    walk = CagedWalk(make_live_golem(local_chain))
    walk.begin()
    for name in chance.sample(list(CAGED_ACTS), _STEPS):
        walk.take(name, chance.choice(CAGED_ACTS[name]))
    _get_out(walk, by_owner=number % 2 == 0)


class LeavingCages(RuleBasedStateMachine):
    """Walks of a golem each, from behind its cage."""

    world: ClassVar[World]
    walks: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).walks += 1
        self.walk = CagedWalk(make_live_golem(self.world, name=f"Caged {self.walks}"))

    @initialize()
    def begin(self) -> None:
        """It holds other assets and a position."""
        self.walk.begin()

    @rule(act=st.sampled_from([(name, values) for name, each in CAGED_ACTS.items() for values in each]))
    def take(self, act: tuple[str, tuple[Any, ...]]) -> None:
        """Any act, with any of its values."""
        self.walk.take(*act)

    def teardown(self) -> None:
        """Out of where it led."""
        _get_out(self.walk, by_owner=bool(self.walks % 2))


@pytest.mark.hypothesis
def test_a_machine_of_states_finds_no_cage_without_a_way_out(local_chain: World) -> None:
    """`make proof ONLY=leaving` walks at random, oftener and further."""
    run_machine(LeavingCages, local_chain, short=(1, 3), long=(20, 15))

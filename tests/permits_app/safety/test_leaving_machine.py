"""From every state that a golem comes into, by whatever way, it and its owner reach "all in base asset"."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.evm.world import World
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import make_live_golem
from tests.permits_app.safety.leaving_walk import ACTS, LeavingWalk
from tests.permits_app.safety.machines import run_machine

pytestmark = pytest.mark.usefixtures("tasks_here", "transactional_db")
_STEPS = 9


def _get_out(walk: LeavingWalk, *, by_owner: bool) -> None:
    """For real, by the one or the other."""
    if by_owner:
        walk.check_owner_gets_out()
    else:
        walk.check_agent_gets_out()


@pytest.mark.one_of_many
@pytest.mark.parametrize("number", range(3))
def test_on_a_walk_through_most_restrictions_every_step_out_stays_open(number: int, local_chain: World) -> None:
    """Different acts in a drawn order, the same at each run; the machine below goes on from there."""
    chance = random.Random(number)
    walk = LeavingWalk(make_live_golem(local_chain))
    walk.begin()
    for name in chance.sample(list(ACTS), _STEPS):
        walk.take(name, chance.choice(ACTS[name]))
    _get_out(walk, by_owner=number % 2 == 0)


class Leaving(RuleBasedStateMachine):
    """Walks of a golem each, from its beginning."""

    world: ClassVar[World]
    walks: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).walks += 1
        self.walk = LeavingWalk(make_live_golem(self.world, name=f"Walk {self.walks}"))

    @initialize()
    def begin(self) -> None:
        """It holds other assets and a position."""
        self.walk.begin()

    @rule(act=st.sampled_from([(name, values) for name, each in ACTS.items() for values in each]))
    def take(self, act: tuple[str, tuple[Any, ...]]) -> None:
        """Any act, with any of its values."""
        self.walk.take(*act)

    def teardown(self) -> None:
        """Out of where it led."""
        _get_out(self.walk, by_owner=bool(self.walks % 2))


@pytest.mark.hypothesis
def test_a_machine_of_states_finds_none_without_a_way_out(local_chain: World) -> None:
    """`make proof ONLY=leaving` walks at random, oftener and further."""
    run_machine(Leaving, local_chain, short=(2, 4), long=(40, 20))

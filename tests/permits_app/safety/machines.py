"""How far a machine of states walks a golem: a few fixed walks in the suite, many by chance in `make proof`."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.evm.world import World

Walks = tuple[int, int]
"""How many, and of how many steps at most."""


def run_machine(machine: type[RuleBasedStateMachine], world: World, *, short: Walks, long: Walks) -> None:
    """Run `machine` on `world`, which its class is given: `long` under `make proof ONLY=leaving`, `short` elsewhere."""
    profile = settings()
    is_long = not profile.derandomize and profile.max_examples > 100
    many, steps = long if is_long else short
    how = settings(
        max_examples=many,
        stateful_step_count=steps,
        derandomize=not is_long,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(type(f"{machine.__name__}OfOne", (machine,), {"world": world}), settings=how)

"""How soon a golem commits again once a killed commit worker is back, over HTTP with everything running.

Each time the worker dies by SIGKILL with commits of the same account under way, and is started again as the supervisor
would do it. Measured is from the moment it is ready until a new commit of that account is verified.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from archetypes_app.models import Golem
from golem_project.embedded.process import start_child
from golem_project.embedded.product_process_plans import plan_product
from permits_app.models import ActionPermit
from permits_app.models.permit import UNFINISHED
from tests.bench.agents import HttpAgent, is_verified, make_golems
from tests.bench.everything import Everything, environment_of, is_ready, run_everything
from tests.bench.figures import Figure, measure, percentile
from tools_app.core import clock

_KILLS, _UNDER_WAY = 8, 4
_MOST_SECONDS = 60.0
_LOOK_SECONDS = 0.05
# How long commits run before each kill: another moment of them each time.
_STEP_SECONDS = 0.02


@measure("killed")
def measure_killed() -> Iterator[Figure]:
    """One golem, its commit worker killed again and again."""
    ((golem, token),) = make_golems(1, name="Killed under", now=clock.now())
    with run_everything() as running:
        agent = HttpAgent(port=running.port, token=token)
        agent.swap_and_time()
        took = [_kill_and_commit(running, agent, number) for number in range(_KILLS)]
        left = _count_left(golem)
    yield Figure(
        "killed.commit.p95",
        "from a killed commit worker's being ready again until a new commit of its golem is verified, 95th percentile",
        round(percentile([1000 * each for each in took], 95) / 1000, 2),
        "s",
        target=5,
        reference=f"{_KILLS} kills with {_UNDER_WAY} commits under way each:"
        f" {', '.join(f'{each:.1f}' for each in took)} s; {left} permits still under way at the end;"
        f" {agent.met.describe()}",
    )


def _kill_and_commit(running: Everything, agent: HttpAgent, number: int) -> float:
    """Seconds; the most when it never commits again."""
    for _ in range(_UNDER_WAY):
        permit = agent.preview()
        if permit is not None:
            agent.commit_later(permit)
    time.sleep(number * _STEP_SECONDS)
    _restart(running, _name_worker())
    started, deadline = clock.monotonic_ms(), clock.Deadline.after_ms(_MOST_SECONDS * 1000)
    while not deadline.is_over:
        permit = agent.preview()
        if permit is not None and agent.commit_later(permit):
            while not deadline.is_over:
                seen = agent.look(permit)
                if seen.get("status") not in {str(status) for status in UNFINISHED}:
                    break
                time.sleep(_LOOK_SECONDS)
            if is_verified(seen):
                return (clock.monotonic_ms() - started) / 1000
        time.sleep(_LOOK_SECONDS)
    return _MOST_SECONDS


def _name_worker() -> str:
    return next(plan.name for plan in plan_product(0) if "commit" in plan.name)


def _restart(running: Everything, name: str) -> None:
    child = running.children[name]
    child.stop(grace_seconds=0)
    plan = next(each for each in plan_product(running.port) if each.name == name)
    with (running.log_dir / f"{name}.log").open("wb") as log:
        running.children[name] = start_child(
            plan.argv, name=name, environment=environment_of(running.port, {}), log=log
        )
    deadline = clock.Deadline.after_ms(_MOST_SECONDS * 1000)
    while not is_ready(running, name, plan.ready_url):
        if deadline.is_over:
            raise RuntimeError(f"{name} did not start again; see {running.log_dir / name}.log")
        time.sleep(_LOOK_SECONDS)


def _count_left(golem: Golem) -> int:
    states = [str(status) for status in UNFINISHED]
    deadline = clock.Deadline.after_ms(_MOST_SECONDS * 1000)
    while (left := ActionPermit.objects.filter(golem=golem, status__in=states).count()) and not deadline.is_over:
        time.sleep(_LOOK_SECONDS)
    return left

"""What it costs to change every word of a case's calls once and have each change refused, for every case there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from golem_project.demo.seed import CHAIN_ID
from tests.bench.figures import Figure, measure
from tests.bench.processor_time import ProcessorTime
from tests.catalogue.mutations import find_passed
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import open_stage
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tests.proof.holding_walk import undone
from tools_app.core import clock

MOST_MS = 500.0


@dataclass(frozen=True, slots=True)
class Timed:
    """One case: milliseconds by the clock and of all processors, how many changes, how many of them had to be run."""

    name: str
    ms: float
    spent: str
    made: int
    run: int

    def describe(self) -> str:
        return f"{self.name}: {self.made} changes, {self.run} run; {self.spent} of processor time"


@measure("mutations")
def measure_mutations() -> Iterator[Figure]:
    """The worst and the median case; each is begun on the chain as it was before any."""
    world = World(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    cases = load_cases()
    world.provide_protocols(*sorted({key for filed in cases.values() for key in filed.worlds}))
    live = make_live_golem(world, name=f"mutates {clock.now():%H%M%S%f}")
    wanted = [name for name, filed in cases.items() if not filed.case.refused]
    timed = sorted((_time(live, name) for name in wanted), key=lambda each: each.ms)
    for place, found in (("worst", timed[-1]), ("median", timed[len(timed) // 2])):
        yield Figure(
            f"mutations.{place}",
            f"the {place} of {len(timed)} cases: every word of its calls changed once",
            round(found.ms, 1),
            "ms",
            target=MOST_MS,
            reference=found.describe(),
        )


def _time(live: LiveGolem, name: str) -> Timed:
    with undone(live.world.rpc), transaction.atomic():
        cases = load_cases()
        stage, case = open_stage(live, cases), cases[name].case
        stage.prepare(case)
        call = stage.call(case)
        spent = ProcessorTime(live.world.rpc_url)
        with spent.measured():
            begun = clock.monotonic_ms()
            _, made, run = find_passed(call, case)
            ms = clock.monotonic_ms() - begun
        transaction.set_rollback(True)
    return Timed(name, ms, spent.spent.describe(1), made, run)

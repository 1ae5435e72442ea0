"""Proof of the cage: a million hostile batches on the node's machine, and no bound is ever broken.

Every round is a run of batches on one caged Safe, seen from outside the cage. The short form runs in the tests.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.saved import find_anvil
from golem_project.proof.caged.batches import MULTICALL, Attacker
from golem_project.proof.caged.engines import Engine, NodeEngine
from golem_project.proof.caged.invariants import Bounds
from golem_project.proof.caged.safe import DEFAULT_LIMITS, USD, build_caged_safe, selector
from golem_project.proof.caged.watching import Step, Watch
from golem_project.proof.registry import Progress, proof
from permits_app.policy_cage.contract import Limit, call_rule

BATCHES_PER_RUN = 50
RUNS_PER_ROUND = 20


# The defaults; an owner who allows arbitrary calls; one who is lax about one batch and strict about the day.
VARIANTS: tuple[dict[Limit, int], ...] = (
    {},
    {Limit.ALLOWS_ARBITRARY_CALLS: 1},
    {
        Limit.MAX_LOSS_BPS: 1_000,
        Limit.MAX_WINDOW_LOSS_BPS: 100,
        Limit.MIN_REBALANCE_INTERVAL_SECONDS: 0,
        Limit.MAX_REBALANCES_PER_DAY: 3,
        Limit.MAX_POSITION_BPS: 5_000,
        Limit.MAX_CONCENTRATION_BPS: 6_000,
        Limit.HIGH_WATER_MARK_MICRO_USD: 112_000 * USD,
    },
)

# What of each asset may leave at once, in dollars; twice as much in a day.
MOST_USD = (50_000, 50_000, 4_000)


class Siege:
    """Caged Safes under attack, one for each of the owners' tempers."""

    def __init__(self, engine: Engine) -> None:
        self.watches: list[Watch] = []
        for salt, limits in enumerate(VARIANTS):
            caged = build_caged_safe(engine, limits=limits, most_usd=MOST_USD[salt], salt=salt)
            caged.change(call_rule(caged.venue, selector(MULTICALL)))
            self.watches.append(Watch(caged))
        self.starts = [watch.look() for watch in self.watches]

    def run(
        self, number: int, *, batches: int = BATCHES_PER_RUN, is_dry_run_wanted: bool = False
    ) -> tuple[list[str], list[Step]]:
        """One run; what it found, and its steps."""
        which = number % len(VARIANTS)
        watch, attacker = self.watches[which], Attacker(self.watches[which].caged)
        made = [attacker.make_batch(number * batches + index) for index in range(batches)]
        steps = watch.run(made, is_dry_run_wanted=is_dry_run_wanted)
        limits = {**DEFAULT_LIMITS, **VARIANTS[which]}
        bounds = Bounds(watch.caged, self.starts[which], limits=limits, most_usd=MOST_USD[which])
        return bounds.check_run(steps), steps


@contextmanager
def run_siege() -> Iterator[Siege]:
    """On a node of its own, which knows nothing else."""
    with tempfile.TemporaryDirectory(prefix="golem-cage-") as folder, run_node(find_anvil(), Path(folder)) as url:
        rpc = JsonRpc(url)
        try:
            yield Siege(NodeEngine(rpc))
        finally:
            rpc.close()


@proof(
    id="cage.invariants",
    what="a million batches of a hostile session key break no bound of the PolicyCage",
    rounds=1_000,
)
def prove_invariants(progress: Progress) -> None:
    """Rounds of a thousand batches: twenty runs of fifty."""
    with run_siege() as siege:
        for number in progress.remaining():
            for run in range(number * RUNS_PER_ROUND, (number + 1) * RUNS_PER_ROUND):
                findings, _ = siege.run(run)
                progress.findings += [f"run {run}, {line}" for line in findings]

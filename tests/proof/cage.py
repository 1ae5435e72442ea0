"""Proof of the cage: a million hostile batches on the node's machine, and no bound is ever broken.

Every round is a run of batches on one caged Safe, seen from outside the cage. The short form runs in the tests.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golem_project.embedded.world.bindings import PARTS
from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.saved_world import find_anvil
from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage.contract import (
    PERMIT2,
    AssetRule,
    AssetState,
    Limit,
    Rule,
    RuleKind,
    address_key,
    call_rule,
    decode_cage_error,
    spender_rule,
)
from tests.proof.caged.batches import MULTICALL, TAKE_FROM, TAKE_THROUGH_PERMIT2, Attacker, HostileBatch
from tests.proof.caged.engines import Engine, NodeEngine, install_permit2
from tests.proof.caged.invariants import Bounds
from tests.proof.caged.safe import (
    DEFAULT_LIMITS,
    FEED_DECIMALS,
    MAX_AGE,
    USD,
    Coin,
    build_caged_safe,
    selector,
    set_session,
)
from tests.proof.caged.watching import Question, Step, Watch
from tests.proof.registry import Progress, proof

BATCHES_PER_RUN = 50
RUNS_PER_ROUND = 20
ROUNDS_PER_REPORT = 10


@dataclass(frozen=True, slots=True)
class Variant:
    """One owner's temper: limits other than the defaults, and what the session key is given.

    `most_usd` of each asset may leave at once, and twice as much in a day. Prices may jump by `jump_percent` from batch
    to batch, 0 by any.
    """

    limits: Mapping[Limit, int] = field(default_factory=dict)
    most_usd: int = 50_000
    seconds: int = 20 * 86_400
    operations: int = 1_000
    budget_usd: int = 10**8
    is_wbtc_retiring: bool = False
    jump_percent: int = 0


VARIANTS: tuple[Variant, ...] = (
    Variant(),
    Variant({Limit.ALLOWS_ARBITRARY_CALLS: 1}),
    # Lax about one batch and strict about the day.
    Variant(
        {
            Limit.MAX_LOSS_BPS: 1_000,
            Limit.MAX_WINDOW_LOSS_BPS: 100,
            Limit.MIN_REBALANCE_INTERVAL_SECONDS: 0,
            Limit.MAX_REBALANCES_PER_DAY: 3,
            Limit.MAX_POSITION_BPS: 5_000,
            Limit.MAX_CONCENTRATION_BPS: 6_000,
            Limit.HIGH_WATER_MARK_MICRO_USD: 112_000 * USD,
        },
        most_usd=4_000,
    ),
    # Late in a golem's life, and with a key that soon has nothing left.
    Variant({Limit.PHASE: 2}, operations=3, is_wbtc_retiring=True),
    Variant({Limit.PHASE: 4}, seconds=18 * 3_600),
    Variant({Limit.HIGH_WATER_MARK_MICRO_USD: 0}),
    # And feeds that may not move far from batch to batch.
    Variant(budget_usd=3_000, jump_percent=20),
)


class Siege:
    """Caged Safes under attack, one for each of the owners' tempers."""

    def __init__(self, engine: Engine, variants: Sequence[Variant] = VARIANTS) -> None:
        self.variants = variants
        self.watches: list[Watch] = []
        install_permit2(engine)
        for salt, variant in enumerate(variants):
            caged = build_caged_safe(engine, limits=dict(variant.limits), most_usd=variant.most_usd, salt=salt)
            listed = (MULTICALL, TAKE_FROM, TAKE_THROUGH_PERMIT2)
            caged.change(
                spender_rule(PERMIT2, most_micro_usd=50_000 * USD),
                *(call_rule(caged.venue, selector(text)) for text in listed),
            )
            if variant.is_wbtc_retiring:
                wbtc = caged.coins["WBTC"]
                asset = AssetRule(wbtc.feed, MAX_AGE, wbtc.decimals, FEED_DECIMALS, AssetState.RETIRING)
                caged.change(Rule(RuleKind.ASSET, address_key(wbtc.address), asset.pack()))
            if variant.jump_percent:
                caged.change(*(_bound(coin, variant.jump_percent) for coin in caged.coins.values()))
            self.watches.append(Watch(caged))
        # Only now: waiting for what was changed takes days.
        for watch, variant in zip(self.watches, variants, strict=True):
            set_session(
                watch.caged, seconds=variant.seconds, operations=variant.operations, budget=variant.budget_usd * USD
            )
        self.starts = [watch.look() for watch in self.watches]

    def run(
        self, number: int, *, batches: int = BATCHES_PER_RUN, is_dry_run_wanted: bool = False
    ) -> tuple[list[str], list[Step]]:
        """One run; what it found, and its steps."""
        made = self._make_batches(number, batches)
        steps = self._watch(number).run(made, is_dry_run_wanted=is_dry_run_wanted)
        return self._check(number, steps), steps

    def run_many(self, numbers: Iterable[int]) -> Iterator[tuple[int, list[str], list[Step]]]:
        """Runs on the node, each made and judged here while the node works on the next: number, findings, steps."""
        with ThreadPoolExecutor(max_workers=1) as node:
            asked: tuple[int, Question, Future[Any]] | None = None
            for number in [*numbers, None]:
                following = None
                if number is not None:
                    watch = self._watch(number)
                    engine = watch.caged.engine
                    if not isinstance(engine, NodeEngine):
                        raise TypeError("only a node works on the next run while this one is judged")
                    question = watch.ask_node(engine, self._make_batches(number, BATCHES_PER_RUN))
                    following = (number, question, node.submit(engine.rpc.call, "eth_simulateV1", *question.params))
                if asked is not None:
                    done, question, answer = asked
                    steps = self._watch(done).read_answer(question, answer.result())
                    yield done, self._check(done, steps), steps
                asked = following

    def _watch(self, number: int) -> Watch:
        return self.watches[number % len(self.variants)]

    def _make_batches(self, number: int, batches: int) -> list[HostileBatch]:
        attacker = Attacker(self._watch(number).caged)
        return [attacker.make_batch(number * batches + index) for index in range(batches)]

    def _check(self, number: int, steps: Sequence[Step]) -> list[str]:
        which = number % len(self.variants)
        variant = self.variants[which]
        bounds = Bounds(
            self.watches[which].caged,
            self.starts[which],
            limits={**DEFAULT_LIMITS, **variant.limits},
            most_usd=variant.most_usd,
            budget_usd=variant.budget_usd,
        )
        return bounds.check_run(steps)


def _bound(coin: Coin, jump_percent: int) -> Rule:
    asset = AssetRule(coin.feed, MAX_AGE, coin.decimals, FEED_DECIMALS, most_jump_percent=jump_percent)
    return Rule(RuleKind.ASSET, address_key(coin.address), asset.pack())


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
    """Rounds of a thousand batches: twenty runs of fifty. Begins again when the contract is another than before."""
    subject = f"PolicyCage sha256:{hash_contract()}"
    if progress.notes[:1] != [subject]:
        progress.done, progress.findings, progress.notes = 0, [], [subject]
    reached = read_counts(progress.notes)
    with run_siege() as siege:
        for number in progress.remaining():
            runs = range(number * RUNS_PER_ROUND, (number + 1) * RUNS_PER_ROUND)
            for run, findings, steps in siege.run_many(runs):
                progress.findings += [f"run {run}, {line}" for line in findings]
                reached.update(name_answer(step) for step in steps)
            progress.notes = [subject, *(f"{name}: {count}" for name, count in reached.most_common())]
            if (number + 1) % ROUNDS_PER_REPORT == 0:
                report(progress, done=number + 1)


def name_answer(step: Step) -> str:
    """`ran`, or the name of the refusal."""
    return "ran" if step.sent.succeeded else decode_cage_error(step.sent.output).name or "no reason"


def read_counts(notes: Sequence[str]) -> Counter[str]:
    """How often each answer was given, as the notes of an earlier run of the proof say."""
    pairs = (line.rsplit(": ", 1) for line in notes[1:])
    return Counter({name: int(count) for name, count in pairs})


def report(progress: Progress, *, done: int) -> None:
    """One line on how far it is, and the findings so far."""
    batches = f"{done * BATCHES_PER_RUN * RUNS_PER_ROUND:,} of {progress.rounds * BATCHES_PER_RUN * RUNS_PER_ROUND:,}"
    sys.stderr.write(f"{progress.id}: {batches} batches, {len(progress.findings)} findings\n")
    for line in progress.findings[-3:]:
        sys.stderr.write(f"  {line}\n")
    sys.stderr.flush()


def hash_contract() -> str:
    """What the code of the cage and of its parts is; a proof holds for this code alone."""
    names = ("PolicyCage", *PARTS["PolicyCage"])
    codes = [bytes.fromhex(load_contract(name).deployed_bytecode[2:]) for name in names]
    return hashlib.sha256(b"".join(codes)).hexdigest()

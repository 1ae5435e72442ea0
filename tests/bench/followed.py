"""A quiet tick while the index follows the chain, and while it does not: both in one run, in turns.

Blocks come four times a second all the time. Beside the ticks a process of its own mines them and, in the turns that
count as followed, reads each into the index as the product's worker does; the others' blocks it reads when the next
followed turn begins, before that turn is measured.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from uuid import uuid4

from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Heartbeat
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.heartbeat.cycle import run_heartbeat_tick
from tests.bench.figures import Figure, percentile, time_calls
from tests.bench.heartbeat import BOUNDARIES, claim_of, make_like
from tests.bench.miner import FOLLOW, LEAVE
from tools_app.chain.chains import open_reader
from tools_app.chain.networks import get_network
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.history import chain_following, followed_contracts, follower_positions
from tools_app.models import LogSource
from tools_app.models.history import SourceKind
from tools_app.toolkit.protocol import SHELF

MOST_MORE_PERCENT = 10.0
_ROUNDS = 48
_TICKS = 5


def measure_followed(rounds: int = _ROUNDS) -> Iterator[Figure]:
    """How much longer a quiet tick takes while blocks are read into the index."""
    demo = seed_demo(now=clock.now(), with_token=False).golem
    pulse = make_like(demo, f"followed {uuid4().hex[:8]}")
    pulse.save(force_insert=True)
    Heartbeat.objects.create(golem=pulse, is_on=True)

    def tick() -> None:
        if run_heartbeat_tick(claim=claim_of(pulse)) is None:
            raise RuntimeError("the measured tick did not run")

    times: dict[str, list[float]] = {FOLLOW: [], LEAVE: []}
    more: list[float] = []
    more_here: list[float] = []
    before, read = _next_block(), 0
    pools: list[int] = []
    try:
        with _miner() as miner:
            # With blocks that come: a new one is a question more of its own, whoever follows it.
            miner.say(LEAVE)
            unfollowed = _list_statements(tick)
            pools = _take_up_pools(str(pulse.pk))
            for number in range(rounds):
                # Who goes first takes turns too.
                took: dict[str, list[float]] = {}
                used: dict[str, float] = {}
                for word in (FOLLOW, LEAVE) if number % 2 else (LEAVE, FOLLOW):
                    miner.say(word)
                    begun = _next_block()
                    time_calls(tick, count=1, warm_up=1)
                    used[word] = time.process_time()
                    took[word] = time_calls(tick, count=_TICKS, warm_up=0)
                    used[word] = time.process_time() - used[word]
                    times[word] += took[word]
                    read += _next_block() - begun if word == FOLLOW else 0
                # Against its neighbour in time: what else the machine does drifts from round to round.
                more.append(percentile(took[FOLLOW], 50) / percentile(took[LEAVE], 50))
                more_here.append(used[FOLLOW] / used[LEAVE])
            miner.say(FOLLOW)
            followed = _list_statements(tick)
        if read <= 0:
            raise RuntimeError(f"nothing was followed between block {before} and {_next_block()}")
    finally:
        LogSource.objects.filter(chain_id=CHAIN_ID, pk__in=pools).delete()
        Heartbeat.objects.filter(golem=pulse).update(is_on=False)
    with_it, without = (percentile(times[word], 50) for word in (FOLLOW, LEAVE))
    yield Figure(
        "history.quiet_tick",
        f"more time of a quiet tick while the index follows {len(pools)} pools: the median of {rounds} rounds, each of"
        f" {_TICKS} with it against {_TICKS} without",
        round((percentile(more, 50) - 1) * 100, 1),
        "%",
        target=MOST_MORE_PERCENT,
        reference=f"{without:g} ms without, {with_it:g} ms with it; {read} blocks were read in those turns;"
        f" {round((percentile(more_here, 50) - 1) * 100, 1):g}% more processor time of the tick's own process",
    )
    new = [each for each in followed if followed.count(each) > unfollowed.count(each)]
    yield Figure(
        "history.quiet_tick_statements",
        "statements more of a quiet tick once its pools are followed",
        len(followed) - len(unfollowed),
        "",
        target=0,
        reference=f"{len(unfollowed)} before, {len(followed)} after{''.join('; ' + each[:160] for each in new)}",
    )


def _list_statements(tick: Callable[[], None]) -> list[str]:
    """Those of the tick of five that has fewest: what is done every few ticks is in none of them."""
    # The first of all keeps what is held at its block; with the next block every tick asks whether that is news.
    tick()
    time.sleep(1)
    ticks = []
    for _ in range(5):
        with CaptureQueriesContext(connection) as captured:
            tick()
        said = (re.sub(r"'[^']*'|\b\d+\b", "?", str(each["sql"])) for each in captured.captured_queries)
        ticks.append([each for each in said if not each.startswith(BOUNDARIES)])
    return min(ticks, key=len)


def _take_up_pools(wanted_by: str) -> list[int]:
    """Have every pool of the local chain's tokens followed; the rows of those that were not."""
    network, now = get_network(CHAIN_ID), clock.now()
    reader = open_reader(CHAIN_ID, now=now, deadline=Deadline.after_ms(10_000))
    pairs = list(combinations(sorted(each.address for each in reader.registered_tokens()), 2))
    found = [
        pool.pool_id
        for each in SHELF.on(CHAIN_ID)
        if each.markets is not None and CHAIN_ID in each.markets.chains
        for pool in each.markets.find(reader, pairs)
    ]
    if chain_following.begin_chain(network, now=now) is None:
        raise RuntimeError("the local chain cannot be read")
    known = set(LogSource.objects.filter(chain_id=CHAIN_ID).values_list("pk", flat=True))
    wishes = [
        followed_contracts.FollowWish(
            CHAIN_ID, each.text, SourceKind.POOL, wanted_by, "a measure", manager=each.manager
        )
        for each in found
    ]
    followed_contracts.take_up(CHAIN_ID, wishes[: settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM], now=now)
    rows = LogSource.objects.filter(chain_id=CHAIN_ID).exclude(pk__in=known)
    return list(rows.values_list("pk", flat=True))


def _next_block() -> int:
    place = follower_positions.load_place(CHAIN_ID)
    return 0 if place is None else place.next_block


@dataclass(frozen=True)
class _Miner:
    """The process beside."""

    process: subprocess.Popen[str]

    def say(self, word: str) -> None:
        """Follow from now on, or leave it; returns once it does."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        told = self.process.stdout.readline().strip()
        if told != word:
            raise RuntimeError(f"the process that follows says {told!r}")


@contextmanager
def _miner() -> Iterator[_Miner]:
    command = (sys.executable, "-m", "tests.bench.miner")
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=dict(os.environ), stdin=pipe, stdout=pipe, text=True)
    try:
        yield _Miner(process)
    finally:
        process.kill()
        process.wait(timeout=30)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

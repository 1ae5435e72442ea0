"""What the pulse costs: a quiet tick, and five hundred golems on time with the workers of one machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import uuid4

from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Golem, Heartbeat, HeartbeatTick
from archetypes_app.models.golem import Maker
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.schedule import first_tick
from golem_project.heartbeat.tick_claims import TickClaim, claim_due
from tests.bench.agents import HttpAgent, make_golems, open_agents
from tests.bench.everything import run_everything
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.bench.processor_time import ProcessorTime
from tests.bench.profiles import profile_calls
from tools_app.core import clock

GOLEMS = 500
THETA_SECONDS = 30
WORKERS = 2
WATCH_SECONDS = 40.0
_WARM_SECONDS = 12.0
_START_SECONDS = 60.0
_COUNT = 60
MOST_WORKER_MS = 12
MOST_DATABASE_MS = 5
MOST_LATE_SECONDS = 2
THOUSAND = 1_000
AGENTS = 4
_TRADE_EVERY_SECONDS = 5.0
"""Of each agent beside a thousand ticking golems."""
# What only opens and closes a transaction reads and writes nothing.
BOUNDARIES = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE SAVEPOINT")


@measure("heartbeat")
def measure_heartbeat() -> Iterator[Figure]:
    """Milliseconds and statements of a quiet tick on the local chain, then the lateness of a fleet."""
    demo = seed_demo(now=clock.now(), with_token=False).golem
    if Heartbeat.objects.filter(is_on=True).exclude(golem=demo).exists():
        # They would be claimed here and ticked by nobody, and slow what is measured.
        raise RuntimeError("golems live on this database; measure on throw-away servers")
    yield from _measure_quiet_tick(make_like(demo, f"pulse {uuid4().hex[:8]}"))
    yield from _measure_fleet(demo)


def make_like(demo: Golem, name: str) -> Golem:
    """A golem that sees what the demo golem sees and is nobody's."""
    return Golem(
        name=name,
        owner=demo.owner,
        archetype=demo.archetype,
        address=demo.address,
        home_chain_id=demo.home_chain_id,
        made_by=Maker.MEASUREMENT,
    )


def _measure_quiet_tick(golem: Golem) -> Iterator[Figure]:
    golem.save(force_insert=True)
    Heartbeat.objects.create(golem=golem, is_on=True)

    def tick() -> None:
        if run_heartbeat_tick(claim=claim_of(golem)) is None:
            raise RuntimeError("the measured tick did not run")

    times = time_calls(tick, count=_COUNT, warm_up=8)
    yield from _measure_processor(golem)
    what = f"a quiet T0 tick with its record and events, {_COUNT} in a row on the local chain"
    yield Figure("heartbeat.quiet_tick_p50", what, percentile(times, 50), "ms", target=50)
    yield Figure("heartbeat.quiet_tick_p95", "the same, 95th percentile", percentile(times, 95), "ms")
    claim = claim_of(golem)
    with CaptureQueriesContext(connection) as captured:
        run_heartbeat_tick(claim=claim)
    queries = [row for row in captured.captured_queries if not str(row["sql"]).startswith(BOUNDARIES)]
    everything = f"{len(captured.captured_queries)} with the beginnings and ends of transactions"
    yield Figure("heartbeat.quiet_tick_queries", "statements of a quiet tick", len(queries), "", 12, everything)
    Heartbeat.objects.filter(golem=golem).update(is_on=False)


def _measure_processor(golem: Golem) -> Iterator[Figure]:
    """Of the tick alone: its claim is another task's."""
    processor = ProcessorTime(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    for _ in range(_COUNT):
        claim = claim_of(golem)
        with processor.measured():
            run_heartbeat_tick(claim=claim)
    told = processor.spent.describe(_COUNT)
    for name, spent, most in (
        ("worker", processor.spent.here_ms, MOST_WORKER_MS),
        ("database", processor.spent.database_ms, MOST_DATABASE_MS),
    ):
        each = round(spent / _COUNT, 1)
        profile = profile_calls(lambda: run_heartbeat_tick(claim=claim_of(golem)), count=20) if each > most else ()
        what = f"processor time of a quiet tick in its {name}"
        yield Figure(f"heartbeat.quiet_tick.{name}", what, each, "ms", most, told, profile=profile)


def claim_of(golem: Golem) -> TickClaim:
    """The claim of the golem's next tick, due now."""
    Heartbeat.objects.filter(golem=golem).update(next_tick_at=clock.now())
    claims = claim_due(
        now=clock.now(),
        limit=2,
        lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
        jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
    )
    return next(claim for claim in claims if claim.golem_id == golem.pk)


def _measure_fleet(like: Golem) -> Iterator[Figure]:
    golems = _make_fleet(like)
    # The same worker and beat as `make run` starts, by the same commands.
    celery = (sys.executable, "-m", "celery", "-q", "-A", "golem_project.celery")
    commands = (
        (*celery, "worker", "-n", "bench@%h", "-Q", "heartbeat", "-P", "prefork", "-c", str(WORKERS), "-l", "ERROR"),
        (*celery, "beat", "-l", "ERROR", "--pidfile="),
    )
    quiet = subprocess.DEVNULL
    processes = [
        subprocess.Popen(command, cwd=settings.BASE_DIR, env=dict(os.environ), stdout=quiet, stderr=quiet)
        for command in commands
    ]
    try:
        _wait_for_first_tick(golems)
        now = clock.now()
        # Due only from here on, so that what is measured is the fleet and not the start of the processes.
        _spread(golems, now)
        _sleep(_WARM_SECONDS)
        begun = clock.now()
        _sleep(WATCH_SECONDS)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=30)
    ticks = HeartbeatTick.objects.filter(golem__in=golems, started_at__gte=begun, started_at__lt=clock.now())
    late = [float(each or 0) for each in ticks.values_list("lateness_ms", flat=True)]
    spent = [float(each or 0) for each in ticks.exclude(duration_ms=None).values_list("duration_ms", flat=True)]
    Heartbeat.objects.filter(golem__in=golems).update(is_on=False)
    due = int(GOLEMS * WATCH_SECONDS / THETA_SECONDS)
    what = f"{GOLEMS} golems at theta {THETA_SECONDS} s on {WORKERS} worker processes: start after due, p95"
    yield Figure(
        "heartbeat.fleet_lateness_p95",
        what,
        percentile(late, 95) / 1_000,
        "s",
        2,
        f"{len(late)} ticks in {WATCH_SECONDS:g} s, {due} expected; a tick took {percentile(spent, 50):g} ms at p50",
    )
    yield Figure("heartbeat.fleet_lateness_p50", "the same, median", percentile(late, 50) / 1_000, "s")


@measure("thousand")
def measure_thousand() -> Iterator[Figure]:
    """A thousand golems tick while agents trade, with all of the product's processes."""
    demo = seed_demo(now=clock.now(), with_token=False).golem
    trading = make_golems(AGENTS, name="Beside", now=clock.now())
    golems = _make_fleet(demo, THOUSAND)
    with run_everything() as running:
        _wait_for_first_tick(golems)
        _spread(golems, clock.now())
        agents = open_agents(running.port, [token for _, token in trading], first_amount=7_000_000)
        is_over = threading.Event()
        threads = [threading.Thread(target=_trade_now_and_then, args=(agent, is_over), daemon=True) for agent in agents]
        for thread in threads:
            thread.start()
        _sleep(THETA_SECONDS + _WARM_SECONDS)
        begun, before = clock.now(), running.processor_ms()
        _sleep(WATCH_SECONDS)
        ended, after = clock.now(), running.processor_ms()
        is_over.set()
        for thread in threads:
            thread.join(timeout=60)
    ticks = HeartbeatTick.objects.filter(golem__in=golems, started_at__gte=begun, started_at__lt=ended)
    late = [float(each or 0) for each in ticks.values_list("lateness_ms", flat=True)]
    Heartbeat.objects.filter(golem__in=golems).update(is_on=False)
    traded = sum(len(agent.met.times) for agent in agents)
    spent = {name: (after[name] - before[name]) / 1000 / WATCH_SECONDS for name in after}
    told = ", ".join(f"{name} {share:.2f}" for name, share in spent.items() if share >= 0.01)
    p95 = percentile(late, 95) / 1_000 if late else WATCH_SECONDS
    yield Figure(
        "thousand.lateness_p95",
        f"{THOUSAND} golems at theta {THETA_SECONDS} s beside {AGENTS} agents that trade every"
        f" {_TRADE_EVERY_SECONDS:g} s: start after due, 95th percentile",
        p95,
        "s",
        MOST_LATE_SECONDS,
        f"{len(late)} ticks in {WATCH_SECONDS:g} s, {THOUSAND * WATCH_SECONDS / THETA_SECONDS:g} expected;"
        f" {traded} trades; processors in use: {sum(spent.values()):.2f} of {os.cpu_count()} ({told})",
        profile=_profile_tick(demo) if p95 > MOST_LATE_SECONDS else (),
    )


def _trade_now_and_then(agent: HttpAgent, is_over: threading.Event) -> None:
    while not is_over.wait(_TRADE_EVERY_SECONDS):
        agent.swap_and_time()


def _profile_tick(demo: Golem) -> tuple[str, ...]:
    golem = make_like(demo, f"pulse {uuid4().hex[:8]}")
    golem.save(force_insert=True)
    Heartbeat.objects.create(golem=golem, is_on=True)
    told = profile_calls(lambda: run_heartbeat_tick(claim=claim_of(golem)), count=20)
    Heartbeat.objects.filter(golem=golem).update(is_on=False)
    return told


def _make_fleet(like: Golem, count: int = GOLEMS) -> list[Golem]:
    mark = uuid4().hex[:8]
    golems = Golem.objects.bulk_create(make_like(like, f"fleet {mark} {number}") for number in range(count))
    now = clock.now()
    Heartbeat.objects.bulk_create(
        # One is due at once and shows when the processes are up; the rest wait for `_spread`.
        Heartbeat(
            golem=golem,
            is_on=True,
            base_interval_seconds=THETA_SECONDS,
            next_tick_at=now if number == 0 else now + timedelta(seconds=100),
        )
        for number, golem in enumerate(golems)
    )
    return golems


def _spread(golems: list[Golem], now: datetime) -> None:
    for golem in golems:
        due = first_tick(golem_id=golem.pk, theta_seconds=THETA_SECONDS, now=now)
        Heartbeat.objects.filter(golem=golem).update(next_tick_at=due)


def _wait_for_first_tick(golems: list[Golem]) -> None:
    end = clock.Deadline.after_ms(_START_SECONDS * 1_000)
    while not HeartbeatTick.objects.filter(golem=golems[0]).exists():
        if end.is_over:
            raise RuntimeError("no worker ticked; is the queue reachable?")
        _sleep(0.2)


def _sleep(seconds: float) -> None:
    """Waits on the machine, measuring nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", [seconds])

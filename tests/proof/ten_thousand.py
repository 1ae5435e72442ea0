"""Ten thousand golems in a real database, for a day of which each hour passes in a moment; and the machines they need.

Golems are written again by SQL from one that acted and ticked. First two workers and beat tick a quarter of them at the
slowest pace, by the machine's own clock. Then time goes on by the hour: everything that is due is claimed, some golems
really tick, the rest is ended as if they had; every sweep runs, some trade, pages are loaded. Each part is measured by
itself, each sweep is explained, and one that reads more than is open or due is a finding. GOLEM_PROOF_FLEET_GOLEMS and
GOLEM_PROOF_FLEET_HOURS make less of it, which is no proof but a look.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock
from uuid import UUID

import redis
from celery.app.task import Task
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from archetypes_app.models import Golem, Heartbeat, HeartbeatTick
from golem_project.celery import app
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.duties.delete_quiet_ticks import forget_quiet_ticks
from golem_project.heartbeat.tick_claims import TickClaim, claim_due
from golem_project.settings.environment import read_integer
from permits_app.actions.commit import commit_permit
from permits_app.actions.preview import preview_action
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.actions.start_commit import start_commit
from permits_app.models import SpendingLimits
from tests import passing_time
from tests.bench.figures import percentile
from tests.bench.heartbeat import claim_of
from tests.explained import explain_all
from tests.proof.registry import Progress, proof
from tests.proof.thousands.ended_ticks import end_others
from tests.proof.thousands.fleet_rows import THETA_SECONDS, Fleet, make_fleet
from tests.proof.thousands.machine_plan import Costs, Load, PartCost, plan_machines, play_lateness
from tests.proof.thousands.meter import Cost, Meter, read_sizes
from tools_app.core import clock

GOLEMS: Final = 10_000
HOURS: Final = 24
WORKERS: Final = 2
_SLOW_THETA_SECONDS: Final = 120
"""The longest that a golem may have."""
_ONE_IN_AWAKE: Final = 4
"""So many golems have one among them that ticks on the two workers; the rows of the others are there."""
_WATCH_SECONDS: Final = 40.0
_START_SECONDS: Final = 90.0
_WATCHED: Final = 40
_TRADES_AN_HOUR: Final = 2
_PAGES_EVERY_HOURS: Final = 8
_CLAIM_BATCH: Final = 500
_MOST_READ: Final = 3_000
"""Rows that one scan of a sweep may look at."""
_SWAP: Final = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH"}
_OWNER_PAGES: Final = ("/admin/", "/admin/cockpit/{golem}/", "/admin/archetypes_app/golem/{golem}/change/")
_OPERATOR_PAGES: Final = (
    "/admin/",
    "/admin/archetypes_app/golem/",
    "/admin/permits_app/actionpermit/",
    "/admin/archetypes_app/heartbeattick/",
)
_LEFT_OUT: Final = ("pulse-", "dream", "claim-heartbeats")
"""Signs of life of queues, what asks a model, and what is measured by itself."""
_LOOKS_THROUGH: Final = {
    "sign-audit-checkpoints": "each chain's head against its newest checkpoint, once in ten minutes",
    "lay-away-records": "the oldest permit of each golem, once an hour",
    "clean-history": "each wish to follow a contract, once an hour",
    "renew-history": "each wish to follow a contract, once a minute; one is written again once an hour",
    "run-heartbeat-duties": "each heartbeat once a minute, for the 2,000 that are to be judged in it",
    "value-unattended-golems": "each golem once a minute, for those without a heartbeat",
}
"""Sweeps that look once through a narrow table for what is due."""
_TABLES_OF_TICK: Final = ("archetypes_app_heartbeattick", "archetypes_app_decisioncyclerecord")
_TABLES_OF_REAL_TICK: Final = ("tools_app_outboxevent", "permits_app_navsnapshot")
_TABLES_OF_TRADE: Final = (
    "permits_app_actionpermit",
    "permits_app_outboundtransaction",
    "permits_app_outcomerecord",
    "permits_app_spendentry",
    "permits_app_noncereservation",
    "tools_app_auditentry",
    "memory_app_episode",
)
_ASSUMED: Final = Load(golems=GOLEMS, theta_seconds=THETA_SECONDS, trades_a_day=10, pages_a_second=5, kept_days=7)


@dataclass
class Day:
    """The fleet, its clock and what was measured so far."""

    pattern: Golem
    fleet: Fleet
    meter: Meter
    amounts: Iterator[int]
    waited_ms: list[float] = field(default_factory=list)
    messages: int = 0
    tick_rows: int = 0

    @property
    def watched(self) -> frozenset[UUID]:
        """Golems that really tick."""
        return frozenset(self.fleet.ids[:_WATCHED])


@proof(
    id="ten_thousand",
    what="10,000 golems for a compressed day: what each part costs, no sweep that reads them all, and the machine plan",
    rounds=1,
)
def prove_ten_thousand(progress: Progress) -> None:
    """One day. The servers are this run's own: a fleet is left on them."""
    count = read_integer("GOLEM_PROOF_FLEET_GOLEMS", GOLEMS)
    hours = read_integer("GOLEM_PROOF_FLEET_HOURS", HOURS)
    app.loader.import_default_modules()
    for _ in progress.remaining():
        if Heartbeat.objects.filter(is_on=True).exclude(golem__name="Demo golem").exists():
            raise RuntimeError("golems live on this database; prove it on throw-away servers")
        begun = time.monotonic()
        day = begin_day(count)
        progress.figures = {"golems": count, "hours": hours, "seeded_seconds": round(time.monotonic() - begun, 1)}
        progress.figures["workers"] = tick_by_workers(day)
        before, rows = read_sizes(), HeartbeatTick.objects.count()
        try:
            for hour in range(hours):
                pass_hour(day, hour)
            day.tick_rows = HeartbeatTick.objects.count() - rows
            progress.findings += explain_sweeps(day)
            after = read_sizes()
            forget(day)
        finally:
            passing_time.come_back()
        report(progress, day, hours, before, after)
        progress.notes.append(f"{time.monotonic() - begun:.0f} s in all; load of the machine {os.getloadavg()[0]:.1f}")


def begin_day(count: int) -> Day:
    """A pattern that acted and ticked, and `count` golems like it, some of which have funds."""
    pattern = seed_demo(now=clock.now(), with_token=True).golem
    amounts = iter(range(100_000_000, 10**9))
    SpendingLimits.objects.filter(golem=pattern).update(writes_per_hour=100_000)
    for _ in range(_TRADES_AN_HOUR):
        _trade(pattern, next(amounts))
    run_heartbeat_tick(claim=claim_of(pattern))
    Heartbeat.objects.filter(golem=pattern).update(is_on=False)
    fleet = make_fleet(pattern, count, now=clock.now())
    url = settings.GOLEM_RPC_URLS[CHAIN_ID][0]
    for address in fleet.addresses[:_WATCHED]:
        fund(url, address, 10**18, {"USDC": 5_000 * 10**6})
    return Day(pattern, fleet, Meter(), amounts)


def tick_by_workers(day: Day) -> dict[str, Any]:
    """A quarter of them tick at the slowest pace on two workers, by the machine's clock: how late, how deep the queue
    was, and how many connections there were.
    """
    now, awake = clock.now(), list(day.fleet.ids[::_ONE_IN_AWAKE])
    golems = Heartbeat.objects.filter(golem_id__in=day.fleet.ids)
    golems.exclude(golem_id__in=awake).update(is_on=False)
    golems.update(
        base_interval_seconds=_SLOW_THETA_SECONDS, state={}, next_tick_at=now + timedelta(seconds=_START_SECONDS)
    )
    golems.filter(golem_id=day.fleet.ids[0]).update(next_tick_at=now)
    celery = (sys.executable, "-m", "celery", "-q", "-A", "golem_project.celery")
    commands = (
        (*celery, "worker", "-n", "fleet@%h", "-Q", "heartbeat", "-P", "prefork", "-c", str(WORKERS), "-l", "ERROR"),
        (*celery, "beat", "-l", "ERROR", "--pidfile="),
    )
    quiet, broker = subprocess.DEVNULL, redis.Redis.from_url(settings.REDIS_URL)
    depths, connections = [], []
    processes = [
        subprocess.Popen(each, cwd=settings.BASE_DIR, env=dict(os.environ), stdout=quiet, stderr=quiet)
        for each in commands
    ]
    try:
        deadline = clock.Deadline.after_ms(_START_SECONDS * 1_000)
        while not HeartbeatTick.objects.filter(golem_id=day.fleet.ids[0], started_at__gte=now).exists():
            if deadline.is_over:
                raise RuntimeError("no worker ticked")
            time.sleep(0.2)
        begun = clock.now()
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE archetypes_app_heartbeat SET next_tick_at = %s + random() * make_interval(secs => %s)"
                " WHERE golem_id = ANY(%s)",
                [begun, _SLOW_THETA_SECONDS, awake],
            )
        ends = time.monotonic() + _WATCH_SECONDS
        while time.monotonic() < ends:
            depths.append(int(broker.llen("heartbeat")))
            connections.append(_count_connections())
            time.sleep(0.5)
        ended = clock.now()
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=60)
    ticks = HeartbeatTick.objects.filter(golem_id__in=day.fleet.ids, started_at__gte=begun, started_at__lt=ended)
    late = [float(each or 0) for each in ticks.values_list("lateness_ms", flat=True)]
    golems.update(base_interval_seconds=THETA_SECONDS, is_on=True, state={}, lease_expires_at=None, next_tick_at=ended)
    took = [float(each or 0) for each in ticks.values_list("duration_ms", flat=True) if each is not None] or [0.0]
    load = Load(len(awake), _SLOW_THETA_SECONDS, 0, 0, 0)
    return {
        "processes": WORKERS,
        "theta_seconds": _SLOW_THETA_SECONDS,
        "golems_awake": len(awake),
        "ticks": len(late),
        "ticks_due": round(len(awake) / _SLOW_THETA_SECONDS * _WATCH_SECONDS),
        "late_p95_seconds": percentile(late, 95) / 1_000 if late else _WATCH_SECONDS,
        "late_p95_seconds_as_played": round(play_lateness(load, took, workers=WORKERS), 2),
        "tick_p50_ms": percentile(took, 50),
        "deepest_queue": max(depths),
        "most_connections": max(connections),
        "load_of_machine": round(os.getloadavg()[0], 1),
    }


def pass_hour(day: Day, hour: int) -> None:
    """Time goes on by an hour, for this process and the chain; what is due is done."""
    passing_time.let_pass(timedelta(hours=1), chain=_chain())
    mine = claim_all(day)
    for claim in mine:
        with day.meter.measured("tick") as cost:
            run_heartbeat_tick(claim=claim)
        day.waited_ms.append(cost.wall_ms)
    end_others(day.fleet.ids, like=HeartbeatTick.objects.filter(golem_id__in=day.watched).latest("pk"), hour=hour)
    for _ in range(_TRADES_AN_HOUR):
        with day.meter.measured("trade"):
            _trade(day.pattern, next(day.amounts))
    with _messages_counted(day):
        for name, run in list_sweeps().items():
            with day.meter.measured(f"sweep {name}"):
                run()
    if hour % _PAGES_EVERY_HOURS == 0:
        load_pages(day)


def claim_all(day: Day) -> list[TickClaim]:
    """Claim what is due, look by look; the claims of golems that really tick."""
    mine: list[TickClaim] = []
    while True:
        with day.meter.measured("claim", count=0) as cost:
            claims = claim_due(
                now=clock.now(),
                limit=_CLAIM_BATCH,
                lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
                jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
            )
            cost.count = len(claims)
        mine += [each for each in claims if each.golem_id in day.watched]
        if len(claims) < _CLAIM_BATCH:
            return mine


def list_sweeps() -> dict[str, Callable[[], Any]]:
    """Every task of beat's schedule by its name there."""
    found: dict[str, Callable[[], Any]] = {}
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        if not name.startswith(_LEFT_OUT):
            task, args, named = app.tasks[entry["task"]], entry.get("args", ()), entry.get("kwargs", {})
            found[name] = lambda task=task, args=args, named=named: task(*args, **named)  # type: ignore[misc]
    return found


def load_pages(day: Day) -> None:
    """An owner's pages, of ten golems, and an operator's, of all."""
    operator, _ = User.objects.get_or_create(username="operator", defaults={"is_staff": True, "is_superuser": True})
    for person, whose, pages in (
        (day.fleet.owner, "owner", _OWNER_PAGES),
        (operator, "operator", _OPERATOR_PAGES),
    ):
        browser = Client()
        browser.force_login(person)
        for path in pages:
            with day.meter.measured(f"page {whose} {path}"):
                answer = browser.get(path.format(golem=day.fleet.ids[0]))
            if answer.status_code != 200:
                raise AssertionError(f"{path} answered {answer.status_code} to the {whose}")


def explain_sweeps(day: Day) -> list[str]:
    """What a sweep, a trade or a tick reads beyond what is open or due, in words."""
    told = []

    def tick() -> None:
        # The one that waits longest is claimed first.
        longest = clock.now() - timedelta(hours=1)
        Heartbeat.objects.filter(golem_id=day.fleet.ids[0]).update(next_tick_at=longest, lease_expires_at=None)
        (claim,) = claim_due(
            now=clock.now(),
            limit=1,
            lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
            jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
        )
        run_heartbeat_tick(claim=claim)

    _trade(day.pattern, next(day.amounts))
    deeds = {"a trade": lambda: _trade(day.pattern, next(day.amounts)), "a tick": tick}
    for name, run in (list_sweeps() | deeds).items():
        # A round that asked a node gives its connection back, and with it what is watched here.
        with mock.patch.object(connection, "close", lambda: None), _messages_counted(day), explain_all() as found:
            run()
        for scan in found.list_long(_MOST_READ):
            if name not in _LOOKS_THROUGH and scan.table != "memory_app_episode":
                statement = " ".join(scan.statement.split())[:300]
                told.append(f"{name}: {scan.kind} of {scan.table} read {scan.read} for {scan.returned}: {statement}")
    return told


def forget(day: Day) -> None:
    """After a week, one round of the cleaning of quiet ticks."""
    passing_time.let_pass(timedelta(days=settings.GOLEM_HEARTBEAT_KEEP_QUIET_DAYS + 1))
    with day.meter.measured("forgotten tick", count=0) as cost:
        cost.count = forget_quiet_ticks(now=clock.now())


def report(
    progress: Progress,
    day: Day,
    hours: int,
    before: dict[str, int],
    after: dict[str, int],
) -> None:
    """Costs, growth, and the plan that follows."""
    costs = day.meter.costs
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    rows = max(1, day.tick_rows)
    of_tick = sum(grown[each] for each in _TABLES_OF_TICK) / rows
    of_tick += sum(grown[each] for each in _TABLES_OF_REAL_TICK) / max(1, costs["tick"].count)
    of_trade = sum(grown[each] for each in _TABLES_OF_TRADE) / max(1, costs["trade"].count)
    pages = [cost for name, cost in costs.items() if name.startswith("page ")]
    page = Cost(count=sum(each.count for each in pages))
    for each in pages:
        page.worker_ms, page.database_ms = page.worker_ms + each.worker_ms, page.database_ms + each.database_ms
    claim, tick = _part(costs["claim"]), _part(costs["tick"], kept=of_tick)
    measured = Costs(
        tick=PartCost(
            tick.process_ms + claim.process_ms,
            tick.database_ms + claim.database_ms,
            tick.node_requests,
            tick.wal_bytes + claim.wal_bytes,
            tick.kept_bytes,
        ),
        trade=_part(costs["trade"], kept=of_trade),
        page=_part(page),
        swept=_sweep_minute(costs),
        forgotten=_part(costs.get("forgotten tick", Cost())),
        waited_ms=tuple(day.waited_ms),
    )
    load = Load(progress.figures["golems"], THETA_SECONDS, _ASSUMED.trades_a_day, _ASSUMED.pages_a_second, 7)
    plan = plan_machines(load, measured)
    due = load.golems * hours * 3600 / THETA_SECONDS
    progress.figures |= {
        "parts": {name: cost.as_dict() for name, cost in sorted(costs.items())},
        "really_run": {
            "ticks": costs["tick"].count,
            "ticks_of_such_a_day": round(due),
            "share_of_ticks": round(costs["tick"].count / due, 6),
            "tick_rows_written": rows,
            "looks_of_each_sweep": hours,
            "messages": day.messages,
        },
        "looked_through": _LOOKS_THROUGH,
        "bytes_of_a_tick": round(of_tick),
        "bytes_of_a_trade": round(of_trade),
        "grown_bytes": {name: size for name, size in sorted(grown.items(), key=lambda each: -each[1])[:12] if size},
        "assumed": {"trades_a_day": load.trades_a_day, "pages_a_second": load.pages_a_second, "kept_days": 7},
        "plan": plan.as_dict(),
    }
    progress.notes.append(
        f"a tick {tick.process_ms:.1f} ms worker and {tick.database_ms:.1f} ms database; for {load.golems} golems at"
        f" {THETA_SECONDS} s: {plan.worker_processes} worker processes, {plan.worker_cores} cores of workers,"
        f" {plan.database_cores} of the database, {plan.web_cores} of web, {plan.connections} connections,"
        f" {plan.node_requests_a_second:g} questions to nodes a second, {plan.disk_gb_a_year:g} GB a year"
    )


def _part(cost: Cost, *, kept: float = 0.0) -> PartCost:
    return PartCost(
        cost.each("worker_ms"),
        cost.each("database_ms"),
        cost.each("node_requests"),
        cost.each("wal_bytes"),
        kept,
    )


def _sweep_minute(costs: dict[str, Cost]) -> PartCost:
    """All sweeps of a minute, each at its pace."""
    whole = [0.0, 0.0, 0.0, 0.0]
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        cost = costs.get(f"sweep {name}")
        if cost is not None:
            part, times = _part(cost), 60 / float(entry["schedule"])
            each = (part.process_ms, part.database_ms, part.node_requests, part.wal_bytes)
            whole = [so_far + times * one for so_far, one in zip(whole, each, strict=True)]
    return PartCost(*whole)


@contextmanager
def _messages_counted(day: Day) -> Iterator[None]:
    """What is handed to workers is counted and not sent: none of them runs."""

    def count(*_: Any, **__: Any) -> None:
        day.messages += 1

    with mock.patch.object(Task, "apply_async", count):
        yield


def _trade(golem: Golem, amount: int) -> None:
    told = preview_action(golem_id=golem.pk, api_key_id=None, body={**_SWAP, "amount": str(amount)}, now=clock.now())
    permit_id = UUID(told["permit_id"])
    start_commit(golem=golem, permit_id=permit_id, actor="system:proof", now=clock.now())
    answer = commit_permit(permit_id=permit_id)
    if answer is None or answer["status"] != "COMMITTED":
        raise AssertionError(f"a trade of the pattern ended as {answer and answer['status']}")
    remember_outcome(permit_id=permit_id, now=clock.now(), use_model=False)


def _chain() -> Any:
    return SimpleNamespace(rpc=JsonRpc(settings.GOLEM_RPC_URLS[CHAIN_ID][0]))


def _count_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])

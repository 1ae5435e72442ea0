"""Where the time of one preview and of one commit goes, layer by layer, and the processor time of each layer.

The same call is made at three depths: over HTTP, through the queue from here, and in this process. What lies between
two depths is their difference; inside, what the database and the node were asked is counted and timed at their doors:
round trips, each with a statement or several, but for those that only begin or end a transaction. Processor time is
read from the processes themselves, so it holds on a busy machine too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from archetypes_app.models import ApiKey, Golem
from permits_app.actions.commit import commit_permit
from permits_app.actions.preview import preview_action
from permits_app.actions.start_commit import start_commit
from permits_app.doors.hand_to_worker import hand_to_worker
from permits_app.permits.selectors import get_permit
from permits_app.tasks import preview_action_task
from tests.bench.agents import HttpAgent, make_golems
from tests.bench.everything import Everything, run_everything
from tests.bench.figures import Figure, measure, percentile
from tools_app.chain.http_pool import HttpPool
from tools_app.core import clock
from tools_app.core.worker_dispatch import enqueue, wait_for

_COUNT = 30
_WARM = 5


@dataclass
class _Doors:
    """How often the database and the node were asked, and how long the answers took."""

    trips: int = 0
    database_ms: float = 0.0
    posts: int = 0
    node_ms: float = 0.0
    here_ms: float = 0.0

    def describe(self, count: int) -> str:
        """What each of `count` calls asked."""
        return (
            f"{self.trips / count:.1f} round trips to the database in {self.database_ms / count:.1f} ms,"
            f" {self.posts / count:.1f} to the node in {self.node_ms / count:.1f} ms,"
            f" {self.here_ms / count:.1f} ms of processor time here"
        )


@dataclass
class _Depth:
    """Milliseconds of each call at one depth, and what the processes used meanwhile."""

    times: list[float] = field(default_factory=list)
    spent: str = ""

    @property
    def p50(self) -> float:
        return percentile(self.times, 50)


@measure("layers")
def measure_layers() -> Iterator[Figure]:
    """One preview and one commit of a golem nobody else uses, with everything running."""
    ((golem, token),) = make_golems(1, name="Layers", now=clock.now())
    key = golem.api_keys.get()
    with run_everything() as running:
        agent = HttpAgent(port=running.port, token=token, first_amount=1_000_000)
        bodies = _bodies(2_000_000)
        yield from _measure_preview(running, agent, golem, key, bodies)
        yield from _measure_commit(running, agent, golem)


def _measure_preview(
    running: Everything, agent: HttpAgent, golem: Golem, key: ApiKey, bodies: Iterator[dict[str, Any]]
) -> Iterator[Figure]:
    laps: dict[str, list[float]] = {}
    doors = _Doors()

    def in_queue() -> None:
        pending = enqueue(
            preview_action_task, golem_id=str(golem.pk), api_key_id=str(key.pk), body=next(bodies), actor="bench"
        )
        for name, ms in wait_for(pending, seconds=settings.GOLEM_PREVIEW_WAIT_SECONDS)["timings_ms"].items():
            laps.setdefault(name, []).append(ms)

    def in_process() -> None:
        preview_action(golem_id=golem.pk, api_key_id=key.pk, body=next(bodies), now=clock.now())

    bare = _ask(running, lambda: agent.call("query_state", {"query": "golem"}))
    http = _ask(running, agent.preview)
    queued = _ask(running, in_queue)
    inside = _ask(running, in_process, doors)
    worked = sum(percentile(times, 50) for times in laps.values())
    yield from _tell(
        "preview",
        {
            "all of it over HTTP": (http.p50, http.spent),
            "HTTP, token, parsing, rendering": (http.p50 - queued.p50, f"a small read over HTTP takes {bare.p50:g} ms"),
            "queue there and back": (queued.p50 - worked, queued.spent),
            **{f"worker: {name}": (percentile(times, 50), "") for name, times in laps.items()},
            "the same in this process": (inside.p50, f"{doors.describe(_COUNT)}; {inside.spent}"),
        },
    )


def _measure_commit(running: Everything, agent: HttpAgent, golem: Golem) -> Iterator[Figure]:
    doors, steps = _Doors(), dict[str, list[float]]()
    permits: list[dict[str, Any]] = []
    ends: Counter[str] = Counter()

    def plan() -> None:
        permit = agent.preview()
        if permit is None:
            raise RuntimeError(f"the preview before a measured commit was refused: {agent.met.describe()}")
        permits.append(permit)

    def begin(permit_id: UUID) -> None:
        started = clock.monotonic_ms()
        start_commit(golem=golem, permit_id=permit_id, actor="bench", now=clock.now())
        steps.setdefault("start", []).append(clock.monotonic_ms() - started)

    def in_queue() -> None:
        permit_id = UUID(permits.pop()["permit_id"])
        begin(permit_id)
        hand_to_worker(permit_id=permit_id, wait_seconds=settings.GOLEM_COMMIT_WAIT_SECONDS, request_id="bench")

    def in_process() -> None:
        permit_id = UUID(permits.pop()["permit_id"])
        begin(permit_id)
        started = clock.monotonic_ms()
        commit_permit(permit_id=permit_id)
        steps.setdefault("work", []).append(clock.monotonic_ms() - started)
        started = clock.monotonic_ms()
        ends[get_permit(golem=golem, permit_id=permit_id)["status"]] += 1
        steps.setdefault("read", []).append(clock.monotonic_ms() - started)

    http = _ask(running, lambda: agent.commit(permits.pop()), before=plan)
    queued = _ask(running, in_queue, before=plan)
    inside = _ask(running, in_process, doors, before=plan)
    start, work, read = (percentile(steps[name], 50) for name in ("start", "work", "read"))
    yield from _tell(
        "commit",
        {
            "all of it over HTTP": (http.p50, http.spent),
            "HTTP, token, place in the line, rendering": (http.p50 - queued.p50, ""),
            "the start, in one transaction": (start, ""),
            "queue there and back": (queued.p50 - start - work - read, queued.spent),
            "recheck, sign, store, send, receipt, settle": (
                work,
                f"{doors.describe(_COUNT)}; {inside.spent}; ended {_name(ends)}",
            ),
            "reading the permit for the answer": (read, ""),
        },
    )


def _ask(
    running: Everything,
    call: Callable[[], Any],
    doors: _Doors | None = None,
    before: Callable[[], None] = lambda: None,
) -> _Depth:
    """Time `call`; `before` is made each time and not measured."""
    depth, spent = _Depth(), dict[str, float]()
    for number in range(_WARM + _COUNT):
        before()
        used, here, started = running.processor_ms(), time.process_time(), clock.monotonic_ms()
        with _watch(doors if doors is not None and number >= _WARM else _Doors()):
            call()
        took, here_ms = clock.monotonic_ms() - started, 1000 * (time.process_time() - here)
        if number < _WARM:
            continue
        depth.times.append(took)
        if doors is not None:
            doors.here_ms += here_ms
        # Looking at all the others takes this process longer than some of what is measured.
        for name, ms in {**running.processor_ms(), "client": used["client"] + here_ms}.items():
            spent[name] = spent.get(name, 0.0) + ms - used[name]
    told = ", ".join(f"{name} {ms / _COUNT:.1f}" for name, ms in spent.items() if ms / _COUNT >= 0.1)
    depth.spent = f"processor ms of each: {told}"
    return depth


@contextmanager
def _watch(doors: _Doors) -> Iterator[None]:
    """Count and time what this process asks of the database and the node."""
    plain = HttpPool.post

    def execute(run: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        started = clock.monotonic_ms()
        try:
            return run(sql, params, many, context)
        finally:
            doors.trips += 1
            doors.database_ms += clock.monotonic_ms() - started

    def post(self: HttpPool, *given: Any, **options: Any) -> Any:
        started = clock.monotonic_ms()
        try:
            return plain(self, *given, **options)
        finally:
            doors.posts += 1
            doors.node_ms += clock.monotonic_ms() - started

    HttpPool.post = post  # type: ignore[method-assign]
    try:
        with connection.execute_wrapper(execute):
            yield
    finally:
        HttpPool.post = plain  # type: ignore[method-assign]


def _bodies(first: int) -> Iterator[dict[str, Any]]:
    while True:
        first += 1
        yield {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": str(first)}


def _name(ends: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(ends.items()))


def _tell(topic: str, layers: dict[str, tuple[float, str]]) -> Iterator[Figure]:
    for number, (name, (ms, reference)) in enumerate(layers.items()):
        yield Figure(f"layers.{topic}.{number}", name, round(ms, 2), "ms", reference=reference)

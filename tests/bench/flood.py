"""A neighbour's previews beside two hundred hostile connections of each kind, and what the server grows by.

The hostile are at four addresses of loopback, which stay under the bound of connections; the neighbour is at a fifth.
They run on the processors of this machine, and so take from the server besides what they ask of it. What is quiet is
taken just before each kind: scheduled work and what is open by then are the same in both.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from django.contrib.auth.models import User

from golem_project.settings.environment import read_integer
from tests.bench.agents import HttpAgent
from tests.bench.everything import Everything, run_everything
from tests.bench.figures import Figure, measure, percentile
from tests.proof.loaded.people import make_golem, make_owner, make_token
from tools_app.core import clock

KINDS = ("bodies", "heads", "slow_writers", "slow_readers", "logins", "pages", "previews", "streams")
CONNECTIONS = 200
_HOSTILE = Path(__file__).with_name("hostile.py")
_TOKENS = 30
_QUIET = 100
_SETTLE_SECONDS = 2.0
_MEBIBYTE = 1_048_576
_END_SECONDS = 30.0


@dataclass
class Flooded:
    """What the neighbour met beside one kind, and what the server grew by meanwhile."""

    kind: str
    quiet: list[float]
    times: list[float]
    refused: dict[str, int]
    server_errors: int
    grown_mb: float
    disk_mb: float
    hostile: dict[str, int] = field(default_factory=dict)

    @property
    def p95(self) -> float:
        """The neighbour's 95th percentile; with nothing answered, as long as it was asked."""
        return percentile(self.times, 95) if self.times else 1000.0 * seconds_of_each()

    @property
    def quiet_p95(self) -> float:
        """The same of the previews just before."""
        return percentile(self.quiet, 95)


def seconds_of_each() -> int:
    """How long each kind floods."""
    return read_integer("GOLEM_FLOOD_SECONDS", 12)


@dataclass
class Scene:
    """A running product, a neighbour, and the tokens of one hostile owner."""

    running: Everything
    neighbour: HttpAgent
    tokens: list[str]
    quiet: list[float] = field(default_factory=list)


@contextmanager
def flooded_scene() -> Iterator[Scene]:
    """The product with two owners; the neighbour's quiet times are taken."""
    hostile: User = make_owner()
    golem = make_golem(hostile, "Hostile")
    tokens = [make_token(golem, hostile) for _ in range(_TOKENS)]
    owner: User = make_owner()
    token = make_token(make_golem(owner, "Neighbour"), owner)
    with run_everything() as running:
        scene = Scene(running, HttpAgent(port=running.port, token=token), tokens)
        for _ in range(20):
            scene.neighbour.preview()
        scene.quiet = _preview(scene.neighbour, count=_QUIET)
        yield scene


def flood(scene: Scene, kind: str) -> Flooded:
    """Previews of the neighbour before the hostile come, and while they are at it."""
    quiet = _preview(scene.neighbour, count=_QUIET)
    web = psutil.Process(scene.running.children["web"].pid)
    before, disk = web.memory_info().rss, _free_bytes()
    most = Peak(web)
    agent = HttpAgent(port=scene.running.port, token=scene.neighbour._headers["Authorization"].split()[1])
    agent._amount = scene.neighbour._amount
    told = {
        "port": scene.running.port,
        "kind": kind,
        "connections": CONNECTIONS,
        "seconds": seconds_of_each(),
        "tokens": scene.tokens,
    }
    process = subprocess.Popen(
        [sys.executable, str(_HOSTILE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(told) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        with most:
            deadline = clock.Deadline.after_ms((seconds_of_each() - _SETTLE_SECONDS) * 1000)
            while not deadline.is_over and process.poll() is None:
                agent.preview_and_time()
        lowest_free = min(most.free, _free_bytes())
        hostile: dict[str, Any] = json.loads(process.stdout.readline() or "{}")
    finally:
        try:
            process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    scene.neighbour._amount = agent._amount
    threading.Event().wait(_SETTLE_SECONDS)
    return Flooded(
        kind=kind,
        quiet=quiet,
        times=agent.met.times,
        refused=dict(agent.met.refused),
        server_errors=agent.met.server_errors,
        grown_mb=round((most.rss - before) / _MEBIBYTE, 1),
        disk_mb=round((disk - lowest_free) / _MEBIBYTE, 1),
        hostile=hostile,
    )


class Peak:
    """The most memory of a process, and the least free room of the folder for temporary files, while it is entered."""

    def __init__(self, process: psutil.Process) -> None:
        self._process, self._stop = process, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.rss, self.free = process.memory_info().rss, _free_bytes()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.1):
            self.rss = max(self.rss, self._process.memory_info().rss)
            self.free = min(self.free, _free_bytes())


@measure("flood")
def measure_flood() -> Iterator[Figure]:
    """Each kind after the other on one running product."""
    with flooded_scene() as scene:
        yield Figure(
            "flood.quiet.p95",
            f"a neighbour's previews in quiet, 95th percentile of {_QUIET}",
            percentile(scene.quiet, 95),
            "ms",
            reference=f"median {percentile(scene.quiet, 50):g} ms",
        )
        for kind in KINDS:
            found = flood(scene, kind)
            yield Figure(
                f"flood.{kind}.times",
                f"the same beside {CONNECTIONS} hostile {kind.replace('_', ' ')}, as a multiple of just before",
                round(found.p95 / found.quiet_p95, 2),
                "x",
                target=3,
                reference=_describe(found),
            )
            yield Figure(f"flood.{kind}.memory", "the web server grew by", found.grown_mb, "MB", target=50)
            yield Figure(f"flood.{kind}.disk", "the disk filled by", found.disk_mb, "MB", target=50)


def _describe(found: Flooded) -> str:
    median = percentile(found.times, 50) if found.times else 0
    return (
        f"{found.p95:g} ms after {found.quiet_p95:g} ms, median {median:g} ms of {len(found.times)};"
        f" refused {found.refused or 'none'}; the hostile met {found.hostile}"
    )


def _preview(agent: HttpAgent, *, count: int) -> list[float]:
    agent.met.times.clear()
    for _ in range(count):
        agent.preview_and_time()
    return list(agent.met.times)


def _free_bytes() -> int:
    return psutil.disk_usage(tempfile.gettempdir()).free

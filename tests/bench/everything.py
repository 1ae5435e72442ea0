"""All of the product's processes beside a bench, as `make run` starts them, and whose processor time each one uses."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil
from django.conf import settings
from django.db import connection

from golem_project.demo.seed import CHAIN_ID
from golem_project.embedded.forked_children import LoadingProcess, Loads
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import Child, free_port
from golem_project.embedded.product_process_plans import (
    LIBRARIES,
    MODULES,
    WEB_HOST,
    ChildPlan,
    answers_ok,
    plan_product,
)
from tests.bench.processor_time import find_listener, find_postmaster, time_of
from tools_app.core import clock

_START_SECONDS = 150.0
_LOOK_SECONDS = 0.05
_MOST_MAPPED = 5


@dataclass
class Everything:
    """The running product: its port and its processes by name."""

    port: int
    log_dir: Path
    children: dict[str, Child] = field(default_factory=dict)
    servers: dict[str, psutil.Process | None] = field(default_factory=dict)

    def processor_ms(self) -> dict[str, float]:
        """Milliseconds of processor time by process so far: the product's own, its servers, and this one (`client`)."""
        spent = {name: 1000 * time_of(_process(child), with_children=True) for name, child in self.children.items()}
        spent["client"] = 1000 * time.process_time()
        for name, process in self._find_servers().items():
            spent[name] = 1000 * time_of(process, with_children=name == "postgres")
        return spent

    def memory_mib(self) -> dict[str, float]:
        """MiB of each of the product's processes with its children; what several share is shared out (PSS)."""
        found = {}
        for name, child in self.children.items():
            process = _process(child)
            family = [process, *process.children(recursive=True)] if process is not None else []
            found[name] = sum(each.memory_full_info().pss for each in family) / 1024**2
        return found

    def list_mapped(self) -> tuple[str, ...]:
        """What of each process is its own, and which files it has mapped most of, in MiB of this share (PSS)."""
        told = []
        for name, child in self.children.items():
            process = _process(child)
            for each in [process, *process.children(recursive=True)] if process is not None else []:
                mapped: Counter[str] = Counter()
                for part in each.memory_maps(grouped=True):
                    mapped[Path(part.path).name or part.path] += part.pss
                most = ", ".join(f"{path} {pss / 1024**2:.0f}" for path, pss in mapped.most_common(_MOST_MAPPED))
                told.append(f"{name}: {sum(mapped.values()) / 1024**2:.0f} MiB: {most}")
        return tuple(told)

    def _find_servers(self) -> dict[str, psutil.Process | None]:
        # Looking for who listens takes longer than some of what is measured.
        if not self.servers:
            self.servers["postgres"] = find_postmaster()
            self.servers["valkey"] = find_listener(settings.REDIS_URL)
            self.servers["node"] = find_listener(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
        return self.servers


def _process(child: Child) -> psutil.Process | None:
    return None if child.has_ended() else psutil.Process(child.pid)


@contextmanager
def run_everything(**variables: str) -> Iterator[Everything]:
    """Web server, workers and beat, ready, on the servers of this run; ended with the block.

    The children die with the thread that calls this. `variables` are added to their environment.
    """
    log_dir = Path(settings.GOLEM_REPORT_DIR) / "log" / "bench"
    log_dir.mkdir(parents=True, exist_ok=True)
    running = Everything(port=free_port(), log_dir=log_dir)
    environment = environment_of(running.port, variables)
    plans = plan_product(running.port)
    try:
        running.children = _fork(plans, environment, log_dir)
        deadline = clock.Deadline.after_ms(_START_SECONDS * 1000)
        for plan in plans:
            while not is_ready(running, plan.name, plan.ready_url):
                if deadline.is_over or running.children[plan.name].has_ended():
                    raise RuntimeError(f"{plan.name} did not start; see {log_dir / plan.name}.log")
                time.sleep(_LOOK_SECONDS)
        yield running
    finally:
        for child in running.children.values():
            if not child.has_ended():
                child.process.send_signal(signal.SIGTERM)
        for child in running.children.values():
            child.stop(grace_seconds=5.0)


def _fork(plans: Sequence[ChildPlan], environment: Mapping[str, str], log_dir: Path) -> dict[str, Child]:
    """All of them out of one process that loaded what they share, each with a log of its own."""
    with ExitStack() as opened:
        outputs = {name: opened.enter_context(_open_log(log_dir, name)) for name in (plan.name for plan in plans)}
        loading = LoadingProcess(
            Loads(LIBRARIES, MODULES),
            environment=environment,
            outputs={name: log.fileno() for name, log in outputs.items()},
            log=opened.enter_context(_open_log(log_dir, "load")).fileno(),
            cwd=CHECKOUT,
        )
        try:
            loading.load({})
            return loading.fork(plans, pause=lambda: time.sleep(_LOOK_SECONDS))
        finally:
            loading.end()


def _open_log(log_dir: Path, name: str) -> IO[bytes]:
    return (log_dir / f"{name}.log").open("wb")


def environment_of(port: int, variables: Mapping[str, str]) -> dict[str, str]:
    """What a process of the product that a bench starts has in its environment."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "golem_project.settings.local",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
        "GOLEM_WEB_URL": f"http://{WEB_HOST}:{port}",
        **variables,
    }


def is_ready(running: Everything, name: str, ready_url: str) -> bool:
    """Whether a process answers, or says in its log that it is ready."""
    if ready_url:
        return answers_ok(ready_url)
    log = (running.log_dir / f"{name}.log").read_text(errors="replace")
    return "ready." in log or "beat: Starting" in log


def count_deadlocks() -> int:
    """How many deadlocks the database has counted since it began."""
    with connection.cursor() as cursor:
        # The view is a snapshot of this transaction; each statement of autocommit sees a new one.
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])

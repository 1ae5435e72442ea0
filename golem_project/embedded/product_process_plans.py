"""The processes of the product itself, as data: what to run, and how to tell that it is ready."""

from __future__ import annotations

import dataclasses
import http.client
import sys
from urllib.parse import urlsplit

# What all of them use, loaded once where they start together: first what needs no settings, then the product.
LIBRARIES = (
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.concurrency.prefork",
    "uvicorn.main",
    "web3",
    "rest_framework",
)
MODULES = ("golem_project.management.preload",)
# -q: without the banner.
CELERY = (sys.executable, "-m", "celery", "-q", "-A", "golem_project.celery")
WEB_HOST = "127.0.0.1"
# The server's protocol with an end to what it waits for.
BOUNDS = ("--http", "golem_project.front.connections:BoundedHttp")
OUTGOING_QUEUES, OUTGOING_THREADS = "webhooks,alerts,notices", 12
# Celery says so itself once it consumes; another word for it in the log would be missed, see READY_GRACE_SECONDS.
WORKER_READY = r"\bready\.$"
BEAT_READY = r"beat: Starting|Scheduler: Sending"


@dataclasses.dataclass(frozen=True)
class ChildPlan:
    """One process. Ready when `ready_url` answers 200, else when a line matches `ready_line`.

    What an agent's first request does not need is started behind what it needs (`is_needed_first`).
    """

    name: str
    argv: tuple[str, ...]
    ready_url: str = ""
    ready_line: str = ""
    grace_seconds: float = 5.0
    is_needed_first: bool = True

    @property
    def port(self) -> int:
        """Where it listens on loopback; 0 for what does not."""
        return urlsplit(self.ready_url).port or 0


def plan_web(port: int) -> ChildPlan:
    """The ASGI server, one process: what is slow runs on the workers."""
    argv = ("uvicorn", "golem_project.asgi:application", "--host", WEB_HOST, "--port", str(port), *BOUNDS)
    # An open event stream would otherwise hold the stop for ever.
    options = ("--no-access-log", "--no-server-header", "--timeout-graceful-shutdown", "3", "--log-level", "warning")
    return ChildPlan("web", (sys.executable, "-m", *argv, *options), ready_url=f"http://{WEB_HOST}:{port}/readyz")


def plan_worker(name: str, queues: str, *, pool: str, concurrency: int, is_needed_first: bool = False) -> ChildPlan:
    """One Celery worker process (with `prefork`: and its children)."""
    argv = [*CELERY, "worker", "-n", f"{name}@%h", "-Q", queues, "-P", pool, "-c", str(concurrency)]
    argv += ["-l", "INFO", "--without-gossip", "--without-mingle"]
    return ChildPlan(name, tuple(argv), ready_line=WORKER_READY, is_needed_first=is_needed_first)


def plan_workers() -> tuple[ChildPlan, ...]:
    """Previews and heartbeats compute, so they get processes; commits wait for receipts, so they get threads.

    Each kind has workers of its own, so that no crowd of one keeps another waiting: an agent's preview does not wait
    for sweeps and ticks, and those do not wait for previews. The embedding model keeps threads of its own, which a fork
    would lose: memory is one thread in a process of its own, and gives way to the rest (`golem_project.celery`).
    """
    return (
        plan_worker("simulation", "simulation", pool="prefork", concurrency=2, is_needed_first=True),
        plan_worker("heartbeat", "heartbeat", pool="prefork", concurrency=2),
        plan_worker("commit", "commit", pool="threads", concurrency=4, is_needed_first=True),
        plan_worker("memory", "memory", pool="threads", concurrency=1),
        # Subscriptions wait for nodes; no heartbeat may wait with them.
        plan_worker("stream", "stream", pool="threads", concurrency=4),
        # Webhooks, alerts and notices wait for other people's servers: a thread for each of GOLEM_OUTGOING_PLACES.
        plan_worker("outgoing", OUTGOING_QUEUES, pool="threads", concurrency=OUTGOING_THREADS),
        # A conversation waits for a model, a hundred seconds at most; nobody else may wait with it.
        plan_worker("chat", "chat", pool="threads", concurrency=2),
    )


def plan_beat() -> ChildPlan:
    """The clock; its schedules are rows in the database. No pid file: a killed beat's would stop the next one."""
    argv = [*CELERY, "beat", "-l", "INFO", "--pidfile="]
    argv += ["--scheduler", "golem_project.runtime.beat_schedule:Schedule"]
    return ChildPlan("beat", tuple(argv), ready_line=BEAT_READY, is_needed_first=False)


def plan_product(web_port: int) -> tuple[ChildPlan, ...]:
    """All of it, in the order in which it starts."""
    return (plan_web(web_port), *plan_workers(), plan_beat())


def answers_ok(url: str) -> bool:
    """Whether GET `url` (http, loopback) answers 200 within two seconds."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=2)
    try:
        connection.request("GET", f"/{path}")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

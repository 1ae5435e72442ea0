"""Two machines in network namespaces, over one database behind PgBouncer, one watched broker and one node.

The first address of the bridge is where the servers are; each machine has an address of its own, and its cable can be
pulled. Needs root, `ip` and PgBouncer.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import psutil
import psycopg
import redis
from django.conf import settings
from django.db import connection

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import free_port
from golem_project.embedded.product_process_plans import ChildPlan, plan_beat, plan_web, plan_worker
from golem_project.embedded.valkey import find_server
from tests.dropping_proxy import DroppingProxy
from tests.proof.loaded.people import CHAIN_ID

HUB: Final = "10.77.0.1"
_BRIDGE: Final = "golembr"
_PORT: Final = 8000
_START_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 40.0
_PLACES: Final = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"


def list_lacking() -> list[str]:
    """What this machine lacks for it."""
    found = [name for name in ("ip", "pgbouncer", "setpriv") if shutil.which(name, path=_PLACES) is None]
    return found if os.geteuid() == 0 else [*found, "root"]


@dataclass
class Machine:
    """A web server, workers and beat in a namespace of their own."""

    number: int
    environment: dict[str, str]
    logs: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of its namespace."""
        return f"golem{self.number}"

    @property
    def address(self) -> str:
        """On the bridge."""
        return f"10.77.0.{10 + self.number}"

    @property
    def url(self) -> str:
        """Of its API."""
        return f"http://{self.address}:{_PORT}"

    def list_plans(self) -> list[ChildPlan]:
        """What carries an action, and the clock."""
        return [
            plan_web(_PORT),
            plan_worker("simulation", "simulation,heartbeat", pool="prefork", concurrency=1),
            plan_worker("commit", "commit", pool="threads", concurrency=4),
            plan_worker("rest", "memory,stream,webhooks,alerts,notices", pool="threads", concurrency=2),
            plan_beat(),
        ]

    def start(self, name: str = "") -> None:
        """Start all, or the one of this name."""
        for plan in self.list_plans():
            if name and plan.name != name:
                continue
            argv = [self.address if word == "127.0.0.1" else word for word in plan.argv]
            with (self.logs / f"{self.name}-{plan.name}.log").open("ab") as log:
                self.processes[plan.name] = subprocess.Popen(
                    ["ip", "netns", "exec", self.name, *argv],
                    env=self.environment,
                    cwd=CHECKOUT,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )

    def wait_until_ready(self) -> None:
        """Until its web server answers. Raises RuntimeError."""
        wait_until(self.answers, f"{self.name} did not start; see {self.logs}", seconds=_START_SECONDS)

    def answers(self) -> bool:
        """Whether its API does."""
        try:
            return httpx.get(f"{self.url}/healthz", timeout=2).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """All of it at once, as by a power cut."""
        for process in self.processes.values():
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(process.pid).children(recursive=True):
                    with suppress(psutil.NoSuchProcess):
                        child.kill()
            process.kill()
            process.wait()

    def follow_up(self) -> None:
        """One service after the other is stopped as an upgrade stops it, and started again."""
        for plan in self.list_plans():
            process = self.processes[plan.name]
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_SECONDS)
            process.kill()
            process.wait()
            self.start(plan.name)
            if plan.name == "web":
                self.wait_until_ready()

    def pull_cable(self, *, is_out: bool) -> None:
        """Nothing reaches it, or all does again."""
        run("ip", "link", "set", f"gv{self.number}", "down" if is_out else "up")

    def list_dead(self) -> list[str]:
        """The processes that ended by themselves."""
        return [f"{self.name} {name}" for name, each in self.processes.items() if each.poll() is not None]


@dataclass
class Broker:
    """Two servers of which Sentinels make one the broker."""

    url: str
    processes: dict[int, subprocess.Popen[bytes]]
    watchers: list[int]
    start: Callable[[int, int], subprocess.Popen[bytes]]

    def find_first(self) -> int:
        """The port of the one that is the broker now."""
        client = redis.Redis(host=HUB, port=self.watchers[0], socket_timeout=2)
        found: Any = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "golem")
        return int(found[1])

    def fall_over(self) -> None:
        """The broker is killed, the other takes over, and the killed one comes back as its replica."""
        first = self.find_first()
        self.processes[first].kill()
        self.processes[first].wait()
        wait_until(lambda: self.find_first() != first, "no broker took over", seconds=60)
        self.processes[first] = self.start(first, self.find_first())


@contextmanager
def running_machines(logs: Path, *, count: int = 2) -> Iterator[tuple[list[Machine], Broker]]:
    """The machines, ready, and their broker; stopped at the end. Raises RuntimeError."""
    logs.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        held.enter_context(_bridge(count))
        broker = held.enter_context(_broker(logs))
        node = urlsplit(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
        line = DroppingProxy(str(node.hostname), node.port or 80, at=HUB)
        held.callback(line.close)
        environment = {
            **os.environ,
            "DATABASE_URL": held.enter_context(_pooler(logs)),
            "REDIS_URL": broker.url,
            f"GOLEM_RPC_URL_{CHAIN_ID}": f"http://{HUB}:{line.port}",
            "GOLEM_DATABASE_PREPARES": "0",
            "GOLEM_ALLOWED_HOSTS": "*",
            "PYTHONUNBUFFERED": "1",
        }
        machines = [Machine(number, environment, logs) for number in range(count)]
        for machine in machines:
            held.callback(machine.kill)
            machine.start()
        for machine in machines:
            machine.wait_until_ready()
        yield machines, broker


def run(*argv: str) -> None:
    """Raises CalledProcessError."""
    subprocess.run(argv, check=True, capture_output=True)


def wait_until(is_so: Callable[[], bool], otherwise: str, *, seconds: float) -> None:
    """Raises RuntimeError with `otherwise`."""
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            raise RuntimeError(otherwise)
        time.sleep(0.2)


@contextmanager
def _bridge(count: int) -> Iterator[None]:
    _take_down(count)
    run("ip", "link", "add", _BRIDGE, "type", "bridge")
    try:
        run("ip", "addr", "add", f"{HUB}/24", "dev", _BRIDGE)
        run("ip", "link", "set", _BRIDGE, "up")
        for number in range(count):
            machine = Machine(number, {}, Path())
            inside = f"gi{number}"
            run("ip", "netns", "add", machine.name)
            run("ip", "link", "add", f"gv{number}", "type", "veth", "peer", "name", inside)
            run("ip", "link", "set", inside, "netns", machine.name)
            run("ip", "link", "set", f"gv{number}", "master", _BRIDGE, "up")
            run("ip", "-n", machine.name, "addr", "add", f"{machine.address}/24", "dev", inside)
            run("ip", "-n", machine.name, "link", "set", inside, "up")
            run("ip", "-n", machine.name, "link", "set", "lo", "up")
        yield
    finally:
        _take_down(count)


def _take_down(count: int) -> None:
    """What an earlier run left behind too."""
    for number in range(count):
        for argv in (("ip", "netns", "del", f"golem{number}"), ("ip", "link", "del", f"gv{number}")):
            with suppress(subprocess.CalledProcessError):
                run(*argv)
    with suppress(subprocess.CalledProcessError):
        run("ip", "link", "del", _BRIDGE)


@contextmanager
def _pooler(logs: Path) -> Iterator[str]:
    """The URL of this run's database behind PgBouncer, which gives each transaction another connection."""
    known, port = connection.settings_dict, free_port()
    # Its own user reads it, who cannot look into the folders of a proof.
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    options = made / "pgbouncer.ini"
    options.write_text(
        f"[databases]\n* = host={known['HOST']} port={known['PORT']} user={known['USER']}"
        f" password={known['PASSWORD']}\n"
        f"[pgbouncer]\nlisten_addr = {HUB}\nlisten_port = {port}\nauth_type = any\nunix_socket_dir =\n"
        "pool_mode = transaction\ndefault_pool_size = 20\nserver_round_robin = 1\nmax_client_conn = 500\n"
    )
    options.chmod(0o644)
    program = str(shutil.which("pgbouncer", path=_PLACES))
    argv = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program, "-q", str(options)]
    url = f"postgres://{known['USER']}@{HUB}:{port}/{known['NAME']}"

    def answers() -> bool:
        with suppress(psycopg.OperationalError):
            psycopg.connect(url, autocommit=True, connect_timeout=5).close()
            return True
        return False

    with (logs / "pgbouncer.log").open("ab") as log, subprocess.Popen(argv, stdout=log, stderr=log) as process:
        try:
            wait_until(answers, "PgBouncer did not start", seconds=30)
            yield url
        finally:
            process.terminate()
            shutil.rmtree(made)


@contextmanager
def _broker(logs: Path) -> Iterator[Broker]:
    first, second, *watchers = (free_port() for _ in range(5))
    folder = Path(tempfile.mkdtemp())

    def begin(*words: str) -> subprocess.Popen[bytes]:
        with (logs / "broker.log").open("ab") as log:
            return subprocess.Popen([str(find_server()), *words], stdout=log, stderr=log, cwd=folder)

    def start(port: int, of: int) -> subprocess.Popen[bytes]:
        kept = folder / str(port)
        kept.mkdir(exist_ok=True)
        words = ["--port", str(port), "--bind", HUB, "--dir", str(kept), "--save", "", "--appendonly", "yes"]
        words += ["--protected-mode", "no", "--repl-diskless-sync-delay", "0"]
        return begin(*words, *(["--replicaof", f"{HUB} {of}"] if of != port else []))

    processes = {first: start(first, first)}
    watching: list[subprocess.Popen[bytes]] = []
    try:
        wait_until(lambda: _is_up(first), "the broker did not start", seconds=30)
        processes[second] = start(second, first)
        wait_until(lambda: _count_replicas(first) == 1, "the broker has no replica", seconds=30)
        for port in watchers:
            options = folder / f"sentinel-{port}.conf"
            options.write_text(
                f"port {port}\nbind {HUB}\nprotected-mode no\ndir {folder}\n"
                f"sentinel monitor golem {HUB} {first} 2\nsentinel down-after-milliseconds golem 1000\n"
                "sentinel failover-timeout golem 5000\n"
            )
            watching.append(begin(str(options), "--sentinel"))
        for port in watchers:
            wait_until(lambda port=port: _is_up(port), "a Sentinel did not start", seconds=30)  # type: ignore[misc]
        places = ",".join(f"{HUB}:{port}" for port in watchers)
        yield Broker(f"redis+sentinel://{places}/golem/0", processes, watchers, start)
    finally:
        for process in [*watching, *processes.values()]:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _is_up(port: int) -> bool:
    with contextlib.suppress(redis.RedisError):
        return bool(redis.Redis(host=HUB, port=port, socket_timeout=2).ping())
    return False


def _count_replicas(port: int) -> int:
    with contextlib.suppress(redis.RedisError):
        told: Any = redis.Redis(host=HUB, port=port, socket_timeout=2).info("replication")
        return int(told["connected_slaves"])
    return 0

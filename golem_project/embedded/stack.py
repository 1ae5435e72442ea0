"""Starts all processes of `make run` in order, restarts what crashes, and stops them in reverse.

Children are started by the main thread only: they die with the thread that started them. Secrets reach them through the
environment and 0600 files, never through a command line.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType

from golem_project.embedded.autostart import SUPERVISOR_RECORD
from golem_project.embedded.environment import SECOND_FILE_VARIABLE
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.forked_children import LoadingProcess, Loads
from golem_project.embedded.page_address import find_page_url
from golem_project.embedded.paths import CHECKOUT, Paths
from golem_project.embedded.prepared_version import is_prepared, mark_prepared
from golem_project.embedded.process import (
    Child,
    identify,
    identity_from,
    is_port_free,
    listens_on,
    read_record,
    start_child,
    stop_process,
    write_record,
)
from golem_project.embedded.process_output import Output, Pump
from golem_project.embedded.product_process_plans import (
    WEB_HOST,
    ChildPlan,
    answers_ok,
    plan_product,
)
from golem_project.embedded.second_chain import ChainUse, find_file, write_url
from golem_project.embedded.servers import SECOND_CHAIN, EmbeddedServers

DEFAULT_WEB_PORT = 8000
PORTS_TRIED = 100
READY_TIMEOUT_SECONDS = 90.0
# A worker that runs this long without the expected line is taken for ready: a quieter log level may hide the line.
READY_GRACE_SECONDS = 20.0
LOOK_INTERVAL_SECONDS = 0.05
FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
# What a signal ended (kill -9, no memory left) had no fault at its start, so starting it again soon is right.
LONGEST_BACKOFF_AFTER_A_SIGNAL_SECONDS = 2.0
# Every such stretch of being up forgets one crash.
FORGET_A_CRASH_AFTER_SECONDS = 10.0
WEB_PORT_ATTEMPTS = 5
SETTINGS_MODULE = "golem_project.settings.local"
PREPARE = "prepare"
# One process for all of them: loading the product takes longer than they do.
PREPARATION = (
    *(sys.executable, "manage.py", "migrate", "--no-input", "-v", "0"),
    *("--then", "sync_builtins", "--then", "seed_demo"),
)


class Stopped(Exception):
    """Somebody asked the supervisor to stop."""


class PortTaken(Exception):
    """Another program took the port between our look at it and our server's start."""


@dataclasses.dataclass
class KeptProcess:
    """One process that is kept running: `begin` starts it anew, `has_ended` and `was_killed` look at it.

    Times are seconds of the monotonic clock; `started_at` is when it was begun last, or last forgotten a crash.
    """

    name: str
    begin: Callable[[], None]
    has_ended: Callable[[], bool]
    was_killed: Callable[[], bool]
    started_at: float = 0.0
    crashes: int = 0
    retry_at: float | None = None

    def stay_up(self, now: float) -> None:
        """It runs at `now`: each stretch of that forgets one crash."""
        while self.crashes and now - self.started_at >= FORGET_A_CRASH_AFTER_SECONDS:
            self.crashes -= 1
            self.started_at += FORGET_A_CRASH_AFTER_SECONDS

    def count_crash(self, now: float) -> float:
        """It has ended: the seconds until it is begun again, which double with every crash that is not forgotten."""
        self.stay_up(now)
        longest = LONGEST_BACKOFF_AFTER_A_SIGNAL_SECONDS if self.was_killed() else LONGEST_BACKOFF_SECONDS
        seconds = min(longest, FIRST_BACKOFF_SECONDS * 2**self.crashes)
        self.crashes += 1
        self.retry_at = now + seconds
        return seconds


class Stack:
    """Everything that `make run` keeps running, from the first server to the last worker."""

    def __init__(
        self,
        paths: Paths,
        *,
        throwaway: bool,
        output: Output,
        environment: dict[str, str],
        preparation: Sequence[str] = PREPARATION,
        plan_children: Callable[[int], Sequence[ChildPlan]] = plan_product,
        loads: Loads | None = None,
        commands: Mapping[str, int] | None = None,
    ) -> None:
        """`commands` are run by `run_command` once everything is ready, and write to these descriptors."""
        self.paths = paths
        self.output = output
        self.environment = environment
        self.servers = EmbeddedServers(
            paths, throwaway=throwaway, environment=environment, log_of=lambda name: output.pump(name).write_end
        )
        self.children: dict[str, Child] = {}
        self.plans: dict[str, ChildPlan] = {}
        self.kept: dict[str, KeptProcess] = {}
        self.web_url = ""
        self.is_stopping = False
        self._preparation = preparation
        self._plan_children = plan_children
        self._loads = loads
        # Of our own standard output a copy is handed on: the process that forks has another under that number.
        self._commands = {name: os.dup(descriptor) for name, descriptor in (commands or {}).items()}
        self._loading: LoadingProcess | None = None
        self._later: list[ChildPlan] = []
        self._preparing: Child | None = None
        self._chain_use = ChainUse()
        self._second_chain_file = find_file(paths)
        self._record = paths.run_dir / SUPERVISOR_RECORD
        self._children_record = paths.run_dir / "children.json"

    def ask_to_stop(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler of SIGINT and SIGTERM; a second one ends the waiting too."""
        if self.is_stopping:
            for child in self.children.values():
                child.process.kill()
        self.is_stopping = True

    @property
    def page_url(self) -> str:
        """Where a person opens the pages."""
        return find_page_url(self.web_url)

    def start(self) -> None:
        """Start everything and return when it is ready. Raises EmbeddedError or Stopped."""
        self.begin()
        self.finish()

    def begin(self) -> None:
        """Start everything; return when what a first request needs is ready. Raises EmbeddedError or Stopped."""
        begun = time.monotonic()
        self._end_leftovers()
        self.environment.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS_MODULE)
        self.environment.setdefault("PYTHONUNBUFFERED", "1")
        # Celery warns every root at every start; here root is the rule in containers, and tasks are JSON, not code.
        self.environment.setdefault("PYTHONWARNINGS", "ignore:You're running the worker with superuser")
        # The preparation of the database makes Django's checks too. Celery would make them again while the product is
        # loaded, when everything else waits.
        self.environment.setdefault("CELERY_SKIP_CHECKS", "true")
        (self.paths.var_dir / "static").mkdir(exist_ok=True)
        self._begin_loading()
        self._start_server("postgres", self.servers.start_postgres)
        self._start_server("valkey", self.servers.start_valkey)
        self._start_server("chain", self.servers.start_chain)
        self.environment.update(self.servers.exported())
        self._offer_second_chain()
        self._start_product()
        self.output.say(f"ready after {time.monotonic() - begun:.1f} s at {self.page_url}/admin/")

    def finish(self) -> None:
        """Return when all the rest is ready too. Raises EmbeddedError or Stopped."""
        for plan in self._later:
            self._wait_until_ready(plan)
        if self._preparing is not None:
            self._end_preparing(self._preparing)

    def _start_product(self) -> None:
        """The processes of the product, on the first web port that is ours. Raises EmbeddedError or Stopped."""
        first = self._read_web_port()
        for _ in range(WEB_PORT_ATTEMPTS):
            port = self._find_web_port(first)
            try:
                self._start_product_on(port)
                return
            except PortTaken:
                self.output.say(f"another program took port {port} just now; trying the next one")
                self._stop_children()
                first = port + 1
        raise EmbeddedError(f"Other programs took {WEB_PORT_ATTEMPTS} ports in a row. Fix: set GOLEM_WEB_PORT.")

    def _start_product_on(self, port: int) -> None:
        self._use_web_port(port)
        plans = self._plan_children(port)
        needed = [plan for plan in plans if plan.is_needed_first]
        self._later = [plan for plan in plans if not plan.is_needed_first]
        data = self.servers.postgres.data if self.servers.postgres is not None else None
        may_overlap = data is not None and is_prepared(data)
        if self._loading is not None:
            self._loading.load(self.environment)
        if not may_overlap:
            self._end_preparing(self._begin_preparing())
        self._start_children(needed)
        for plan in needed:
            self._wait_until_ready(plan)
        # Each takes half a second of a processor to begin, which the first ones were spared.
        self._start_children(self._later)
        if may_overlap:
            self._preparing = self._begin_preparing()
        if not self._commands:
            self._end_loading()

    def _begin_loading(self) -> None:
        """What the product's processes share is loaded beside the start of the servers."""
        if self._loads is None:
            return
        names = [PREPARE, *(plan.name for plan in self._plan_children(0))]
        self._loading = LoadingProcess(
            self._loads,
            environment=self.environment,
            outputs={**{name: self.output.pump(name).write_end for name in names}, **self._commands},
            log=self.output.pump("load").write_end,
            cwd=CHECKOUT,
        )

    def _start_children(self, plans: Sequence[ChildPlan]) -> None:
        """All of them: forked where the product was loaded for them, else each on its own."""
        if self._loading is None:
            for plan in plans:
                self._start_child(plan)
            return
        for plan in plans:
            self._expect(plan)
        children = self._loading.fork(plans, pause=self._pause)
        for plan in plans:
            self._keep(plan, children[plan.name])

    def _end_loading(self) -> None:
        if self._loading is not None:
            self._loading.end()
            self._loading = None

    def _use_web_port(self, port: int) -> None:
        self.web_url = f"http://{WEB_HOST}:{port}"
        self.environment["GOLEM_WEB_URL"] = self.web_url
        self._write_record()

    def _begin_preparing(self) -> Child:
        """Tables, built-in rows, demo rows; each only where it is missing."""
        return self._begin_command(PREPARE, self._preparation)

    def _end_preparing(self, child: Child) -> None:
        """Wait for it, and remember that it was done. Raises EmbeddedError and Stopped."""
        self._preparing = None
        if self._wait_for_end(child) != 0:
            last = self.output.pump(PREPARE).read_last_words()
            raise EmbeddedError(f"`{' '.join(self._preparation[1:])}` failed: {last}")
        if self.servers.postgres is not None:
            mark_prepared(self.servers.postgres.data)

    def _begin_command(self, name: str, argv: Sequence[str]) -> Child:
        if self._loading is not None:
            return self._loading.fork([ChildPlan(name, tuple(argv))], pause=self._pause)[name]
        log = self._commands[name] if name in self._commands else self.output.pump(name).write_end
        return start_child(argv, name=name, environment=self.environment, log=log, cwd=CHECKOUT)

    def run_command(self, name: str, argv: Sequence[str]) -> int:
        """Run a command to its end with the exported environment: forked where the product is loaded. Its status.

        Raises EmbeddedError and Stopped.
        """
        status = self._wait_for_end(self._begin_command(name, argv))
        if name in self._commands:
            os.close(self._commands.pop(name))
        if self.children and not self._commands:
            # Whoever is started from now on is started for itself.
            self._end_loading()
        return status

    def _wait_for_end(self, child: Child) -> int:
        try:
            while not child.has_ended():
                self._pause()
        finally:
            status = child.stop()
        return status

    def run_beside(self, name: str, argv: Sequence[str]) -> None:
        """Start a command that runs once beside everything else, with what it says on the screen; it ends with us."""
        self.children[name] = start_child(
            argv, name=name, environment=self.environment, log=self.output.pump(name).write_end, cwd=CHECKOUT
        )

    def keep_beside(self, plan: ChildPlan) -> None:
        """Start a process that nobody waits for, and start it again whenever it ends."""
        self._start_child(plan)

    def serve(self) -> None:
        """Keep everything running until asked to stop."""
        while True:
            self._pause()
            self._begin_second_chain_when_used()
            for kept in list(self.kept.values()):
                self._look_after(kept)

    def stop(self) -> None:
        """Stop everything, last first: those that use the servers together, then the servers."""
        self.is_stopping = True
        self._end_loading()
        if self._preparing is not None:
            self._preparing.stop()
            self._preparing = None
        while self._commands:
            os.close(self._commands.popitem()[1])
        self._stop_children()
        self._chain_use.close()
        self.servers.stop()
        for record in (self._record, self._children_record, self._second_chain_file):
            record.unlink(missing_ok=True)

    def _stop_children(self) -> None:
        """All of them at once, each with its grace."""
        children = [self.children[name] for name in reversed(self.children)]
        for child in children:
            if not child.has_ended():
                child.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + max((plan.grace_seconds for plan in self.plans.values()), default=0.0)
        while any(not child.has_ended() for child in children) and time.monotonic() < deadline:
            time.sleep(LOOK_INTERVAL_SECONDS)
        for child in children:
            child.stop(grace_seconds=0.0)
        for name in self.children:
            self.kept.pop(name, None)
        self.children.clear()

    def _pause(self) -> None:
        time.sleep(LOOK_INTERVAL_SECONDS)
        if self.is_stopping:
            raise Stopped

    def _start_server(self, name: str, begin: Callable[[], None]) -> None:
        if name not in self.servers.started_here:
            self.output.say(f"{name}: the one named in the environment")
            return
        begun = time.monotonic()
        begin()
        self.output.say(f"{name} ready ({time.monotonic() - begun:.2f} s)")
        self.kept[name] = KeptProcess(
            name=name,
            begin=lambda: self._restart_server(begin),
            has_ended=lambda: not self.servers.is_alive(name),
            was_killed=lambda: self.servers.was_killed(name),
            started_at=time.monotonic(),
        )
        if self.is_stopping:
            raise Stopped

    def _offer_second_chain(self) -> None:
        """Tell the product where the second chain will be named; what an earlier run wrote there is over."""
        self._second_chain_file.unlink(missing_ok=True)
        if self.servers.second_chain is not None:
            self.environment[SECOND_FILE_VARIABLE] = str(self._second_chain_file)

    def _begin_second_chain_when_used(self) -> None:
        if self.servers.second_chain is None or SECOND_CHAIN in self.kept or not self._chain_use.is_due():
            return
        if not self._chain_use.ask(self.environment["DATABASE_URL"]):
            return
        self._chain_use.close()
        try:
            self._start_server(SECOND_CHAIN, self._start_second_chain)
        except EmbeddedError as error:
            self.output.say(f"the second local chain does not start: {error}")
            return
        # Whoever is started from now on knows it by its variable; the others read the file.
        self.environment.update(self.servers.exported())
        self._write_record()

    def _start_second_chain(self) -> None:
        self.servers.start_second_chain()
        if self.servers.second_chain is not None:
            write_url(self._second_chain_file, self.servers.second_chain.rpc_url)

    def _restart_server(self, begin: Callable[[], None]) -> None:
        begin()
        exported = self.servers.exported()
        if exported.items() <= self.environment.items():
            return
        # The server lies elsewhere now: whoever knows the old address has to be told.
        self.environment.update(exported)
        self._write_record()
        for name in list(self.children):
            self.children[name].stop(grace_seconds=self.plans[name].grace_seconds)
            self._start_child(self.plans[name])

    def _start_child(self, plan: ChildPlan) -> None:
        log = self._expect(plan).write_end
        self._keep(plan, start_child(plan.argv, name=plan.name, environment=self.environment, log=log, cwd=CHECKOUT))

    def _expect(self, plan: ChildPlan) -> Pump:
        pump = self.output.pump(plan.name)
        if plan.ready_line:
            pump.expect(plan.ready_line)
        return pump

    def _keep(self, plan: ChildPlan, child: Child) -> None:
        """Look after `child` from now on, and record who it is."""
        self.children[plan.name] = child
        self.plans[plan.name] = plan
        self.kept[plan.name] = KeptProcess(
            name=plan.name,
            begin=lambda: self._restart_child(plan),
            has_ended=lambda: self.children[plan.name].has_ended(),
            was_killed=lambda: self.children[plan.name].was_killed(),
            started_at=time.monotonic(),
            crashes=self.kept[plan.name].crashes if plan.name in self.kept else 0,
        )
        identities = {name: dataclasses.asdict(one.identity) for name, one in self.children.items()}
        write_record(self._children_record, identities)

    def _restart_child(self, plan: ChildPlan) -> None:
        """A crashed child anew; one whose port a stranger took meanwhile goes to another, and all are told."""
        if not plan.port or is_port_free(plan.port):
            self._start_child(plan)
            return
        port = self._find_web_port(plan.port)
        self._use_web_port(port)
        self._stop_children()
        for moved in self._plan_children(port):
            self._start_child(moved)
        self.output.say(f"the web server moved to {self.web_url}/admin/")

    def _wait_until_ready(self, plan: ChildPlan) -> None:
        begun = time.monotonic()
        child = self.children[plan.name]
        pump = self.output.pump(plan.name)
        while time.monotonic() - begun < READY_TIMEOUT_SECONDS:
            if child.has_ended():
                if plan.port and not is_port_free(plan.port):
                    raise PortTaken
                last = pump.read_last_words()
                raise EmbeddedError(
                    f"{plan.name} ended while starting: {last}. See {self.paths.log_dir / plan.name}.log"
                )
            # Only our own process is asked: a stranger on the port may answer 200 to everything.
            if plan.port and listens_on(child.pid, plan.port) and answers_ok(plan.ready_url):
                return
            if plan.ready_line and (pump.has_seen() or time.monotonic() - begun > READY_GRACE_SECONDS):
                return
            self._pause()
        raise EmbeddedError(
            f"{plan.name} is not ready after {READY_TIMEOUT_SECONDS:.0f} s. See {self.paths.log_dir / plan.name}.log"
        )

    def _look_after(self, kept: KeptProcess) -> None:
        now = time.monotonic()
        if kept.retry_at is None:
            if not kept.has_ended():
                kept.stay_up(now)
                return
            seconds = kept.count_crash(now)
            self.output.say(f"{kept.name} ended; it starts again in {seconds:.1f} s")
            return
        if now < kept.retry_at:
            return
        kept.retry_at = None
        if kept.name in self.children:
            self.children[kept.name].stop(grace_seconds=0.0)
        try:
            kept.begin()
        except EmbeddedError as error:
            self.output.say(f"{kept.name}: {error}")
        kept.started_at = now

    def _read_web_port(self) -> int:
        text = self.environment.get("GOLEM_WEB_PORT") or str(DEFAULT_WEB_PORT)
        if not text.isdigit() or not 0 < int(text) < 65_536 - PORTS_TRIED:
            raise EmbeddedError(f"GOLEM_WEB_PORT={text!r} is no port. Fix: choose a number from 1024 to 65000.")
        return int(text)

    def _find_web_port(self, first: int) -> int:
        """The first free port from `first` on, named when it is another. Raises EmbeddedError."""
        for port in range(first, first + PORTS_TRIED):
            if is_port_free(port):
                if port != first:
                    self.output.say(f"port {first} is taken, the web server uses {port}")
                return port
        raise EmbeddedError(f"No free port from {first} on. Fix: set GOLEM_WEB_PORT.")

    def _write_record(self) -> None:
        identity = identify(os.getpid())
        if identity is not None:
            exported = self.servers.exported()
            if SECOND_FILE_VARIABLE in self.environment:
                exported[SECOND_FILE_VARIABLE] = self.environment[SECOND_FILE_VARIABLE]
            record = {**dataclasses.asdict(identity), "web_url": self.web_url, "environment": exported}
            write_record(self._record, record)

    def _end_leftovers(self) -> None:
        """What a killed supervisor left: the kernel ends it with its starter, this makes sure."""
        for name, record in read_record(self._children_record).items():
            identity = identity_from(record) if isinstance(record, dict) else None
            if identity is not None and identity.is_alive():
                self.output.say(f"ending a left-over {name} (process {identity.pid})")
                stop_process(identity, signals=((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)))

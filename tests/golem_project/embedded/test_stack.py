"""Everything in order, on real servers, with small programs in the place of the product's own."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path

import psycopg
import pytest

from golem_project.embedded.autostart import supervisor_environment
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import Paths
from golem_project.embedded.prepared_version import hash_product
from golem_project.embedded.process import ProcessIdentity, is_port_free, start_child
from golem_project.embedded.process_output import Output
from golem_project.embedded.product_process_plans import ChildPlan, answers_ok
from golem_project.embedded.sdk_bundle import READY_LINE, make_bundle, sdk_command
from golem_project.embedded.stack import KeptProcess, Stack, Stopped
from tests.golem_project.embedded.conftest import Starter, identity_of, kill_hard, read_line, wait_until_gone

WEB = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = os.environ["DATABASE_URL"].encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
WORKER = "import sys, time; print('worker@here ready.', flush=True); time.sleep(600)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready.', flush=True); time.sleep(600)"
)


def plan_small(port: int) -> tuple[ChildPlan, ...]:
    return (
        ChildPlan("web", (sys.executable, "-c", WEB, str(port)), ready_url=f"http://127.0.0.1:{port}/readyz"),
        ChildPlan("worker", (sys.executable, "-c", WORKER), ready_line=r"\bready\.$"),
    )


MakeStack = Callable[..., tuple[Stack, StringIO]]


@pytest.fixture
def make_stack(paths: Paths) -> Iterator[MakeStack]:
    made: list[Stack] = []

    def make(
        plan: Callable[[int], Sequence[ChildPlan]] = plan_small,
        preparation: Sequence[str] = ("true",),
        **variables: str,
    ) -> tuple[Stack, StringIO]:
        screen = StringIO()
        # The chain and the broker have tests of their own; a given address leaves them out.
        environment = {"PATH": os.environ["PATH"], "REDIS_URL": "redis://127.0.0.1:1/0", **variables}
        environment.setdefault("GOLEM_RPC_URL_31337", "http://127.0.0.1:1")
        stack = Stack(
            paths,
            throwaway=True,
            output=Output(paths.log_dir, stream=screen),
            environment=environment,
            preparation=preparation,
            plan_children=plan,
        )
        made.append(stack)
        return stack, screen

    yield make
    for stack in made:
        stack.stop()
        stack.output.close()


def serve_until(stack: Stack, condition: threading.Event) -> None:
    """Run the stack's loop in this thread, which its children belong to, until `condition` is set."""
    deadline = threading.Timer(90, condition.set)
    deadline.start()

    def ask() -> None:
        condition.wait()
        stack.ask_to_stop(signal.SIGTERM, None)

    asking = threading.Thread(target=ask)
    asking.start()
    with pytest.raises(Stopped):
        stack.serve()
    deadline.cancel()
    asking.join()


@pytest.fixture
def started(make_stack: MakeStack) -> tuple[Stack, StringIO]:
    stack, screen = make_stack()
    stack.start()
    return stack, screen


def identities(stack: Stack) -> list[ProcessIdentity]:
    assert stack.servers.postgres is not None
    assert stack.servers.postgres.child is not None
    return [stack.servers.postgres.child.identity, *(child.identity for child in stack.children.values())]


def test_everything_starts_is_recorded_and_stops(make_stack: MakeStack, paths: Paths) -> None:
    stack, screen = make_stack(preparation=(sys.executable, "-c", "print('tables made')"))
    stack.start()
    everything = identities(stack)
    assert answers_ok(f"{stack.web_url}/readyz")
    exported = supervisor_environment(paths)
    with psycopg.connect(exported["DATABASE_URL"]) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    stack.stop()
    assert not any(one.is_alive() for one in everything)
    assert supervisor_environment(paths) == {}
    printed = screen.getvalue()
    assert "prepare   | tables made" in printed
    assert "worker    | worker@here ready." in printed
    assert "valkey: the one named in the environment" in printed
    assert (paths.log_dir / "worker.log").read_text() == "worker@here ready.\n"


def test_no_secret_is_printed_or_in_a_command_line(started: tuple[Stack, StringIO], paths: Paths) -> None:
    stack, screen = started
    secrets = [path.read_text().strip() for path in paths.secrets_dir.iterdir()]
    secrets += [(paths.var_dir / name).read_text().strip() for name in ("keystore_passphrase", "secret_key")]
    assert len(secrets) == 3
    lines = [Path(f"/proc/{one.pid}/cmdline").read_text() for one in identities(stack)]
    assert not any(secret in line for secret in secrets for line in [*lines, screen.getvalue()])
    assert (paths.run_dir / "supervisor.json").stat().st_mode & 0o777 == 0o600


def test_a_failing_preparation_stops_the_start_with_its_last_line(make_stack: MakeStack) -> None:
    stack, _ = make_stack(preparation=(sys.executable, "-c", "exit('no such column')"))
    with pytest.raises(EmbeddedError, match="failed: no such column"):
        stack.start()
    assert stack.children == {}


def test_children_wait_for_the_first_preparation_and_overlap_with_later_ones(make_stack: MakeStack) -> None:
    order = []
    for _ in range(2):
        stack, screen = make_stack(preparation=(sys.executable, "-c", "print('tables made')"))
        start_child = stack._start_child

        def note(plan: ChildPlan, start_child=start_child, screen=screen) -> None:
            order.append((plan.name, "tables made" in screen.getvalue()))
            start_child(plan)

        stack._start_child = note  # type: ignore[method-assign]
        stack.start()
        assert "tables made" in screen.getvalue()
        stack.stop()
    assert order == [("web", True), ("worker", True), ("web", False), ("worker", False)]


@pytest.mark.parametrize("changed", ["migrations/0001_initial.py", "protocols/lender/tools.py", "archetypes/calm.toml"])
def test_a_changed_migration_tool_or_archetype_is_prepared_for_before_anything_serves(
    tmp_path: Path, changed: str
) -> None:
    path = tmp_path / "tools_app" / changed
    path.parent.mkdir(parents=True)
    (tmp_path / "constraints.txt").touch()
    before = hash_product(tmp_path)
    path.touch()
    added = hash_product(tmp_path)
    path.write_text("another word for agents")
    assert len({before, added, hash_product(tmp_path)}) == 3


def test_the_screen_is_spared_what_servers_say_all_the_time_and_the_file_is_not(paths: Paths) -> None:
    for shows_chatter in (False, True):
        screen = StringIO()
        output = Output(paths.log_dir, stream=screen, shows_chatter=shows_chatter)
        os.write(output.pump("beat").write_end, b"2026 INFO celery.beat [-] Sending due task\n2026 WARNING late\n")
        output.close()
        assert ("Sending due task" in screen.getvalue()) is shows_chatter
        assert "beat      | 2026 WARNING late" in screen.getvalue()
    assert (paths.log_dir / "beat.log").read_text().count("Sending due task") == 2


def test_a_child_that_ends_while_starting_is_named(make_stack: MakeStack) -> None:
    broken = ChildPlan("worker", (sys.executable, "-c", "exit('no broker')"), ready_line="ready")
    stack, _ = make_stack(plan=lambda _port: (broken,))
    with pytest.raises(EmbeddedError, match="worker ended while starting: no broker"):
        stack.start()


def test_a_killed_child_is_started_again(started: tuple[Stack, StringIO]) -> None:
    stack, screen = started
    first = stack.children["worker"].identity
    os.kill(first.pid, signal.SIGKILL)
    come_back = threading.Event()
    stack.output.pump("worker").expect(r"\bready\.$")
    watch(
        stack, come_back, lambda: stack.children["worker"].identity != first and stack.output.pump("worker").has_seen()
    )
    serve_until(stack, come_back)
    assert stack.children["worker"].identity != first
    assert "worker ended; it starts again in 0.5 s" in screen.getvalue()


def test_a_worker_that_is_killed_often_is_soon_back(started: tuple[Stack, StringIO]) -> None:
    stack, screen = started
    kept = stack.kept["worker"]
    kept.crashes = 10
    os.kill(stack.children["worker"].identity.pid, signal.SIGKILL)
    noticed = threading.Event()
    watch(stack, noticed, lambda: kept.retry_at is not None)
    serve_until(stack, noticed)
    assert "worker ended; it starts again in 2.0 s" in screen.getvalue()


def test_a_crash_is_forgotten_with_every_stretch_of_health() -> None:
    killed = False
    kept = KeptProcess("worker", begin=lambda: None, has_ended=lambda: True, was_killed=lambda: killed)
    assert [kept.count_crash(now=0.0) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    kept.stay_up(now=29.0)
    assert (kept.crashes, kept.count_crash(now=49.0)) == (6, 8)
    killed = True
    assert kept.count_crash(now=49.0) == 2
    kept.stay_up(now=1_000.0)
    assert (kept.crashes, kept.count_crash(now=1_000.0)) == (0, 0.5)


@pytest.mark.parametrize(("script", "was_killed"), [("kill -9 $$", True), ("exit 1", False), ("true", False)])
def test_what_a_signal_ended_is_told_from_what_failed(paths: Paths, script: str, was_killed: bool) -> None:
    with (paths.log_dir / "short.log").open("wb") as log:
        child = start_child(["sh", "-c", script], name="short", environment=dict(os.environ), log=log)
    while not child.has_ended():
        time.sleep(0.005)
    assert child.was_killed() is was_killed
    child.stop()
    assert child.was_killed() is was_killed


def test_a_killed_database_is_started_again_where_it_was(started: tuple[Stack, StringIO]) -> None:
    stack, screen = started
    postgres = stack.servers.postgres
    assert postgres is not None
    assert postgres.child is not None
    url, first = postgres.url, postgres.child.identity
    os.kill(first.pid, signal.SIGKILL)
    come_back = threading.Event()
    watch(stack, come_back, lambda: not first.is_alive() and postgres.is_ready())
    serve_until(stack, come_back)
    assert postgres.is_ready(), screen.getvalue()
    assert postgres.url == url


def test_a_killed_broker_and_chain_are_started_again_where_they_were(make_stack: MakeStack) -> None:
    stack, screen = make_stack(REDIS_URL="", GOLEM_RPC_URL_31337="")
    stack.start()
    before = stack.servers.exported()
    killed = [
        server.child.identity for server in (stack.servers.valkey, stack.servers.chain) if server and server.child
    ]
    assert len(killed) == 2
    for identity in killed:
        os.kill(identity.pid, signal.SIGKILL)
    come_back = threading.Event()
    names = ("valkey", "chain")
    watch(
        stack,
        come_back,
        lambda: not any(one.is_alive() for one in killed) and all(stack.servers.is_alive(name) for name in names),
    )
    serve_until(stack, come_back)
    assert stack.servers.exported() == before, screen.getvalue()
    assert stack.servers.valkey is not None
    assert stack.servers.valkey.is_ready()
    assert stack.servers.chain is not None
    assert stack.servers.chain.is_ready()


def watch(stack: Stack, event: threading.Event, is_true: Callable[[], bool]) -> None:
    """Set `event` when the stack's own loop finds `is_true()`; the loop is what gives the rhythm."""
    pause = stack._pause

    def look() -> None:
        pause()
        if is_true():
            event.set()

    stack._pause = look  # type: ignore[method-assign]


def test_a_child_that_ignores_the_request_is_ended_after_its_grace(make_stack: MakeStack) -> None:
    plan = ChildPlan("worker", (sys.executable, "-c", STUBBORN), ready_line="ready", grace_seconds=0.2)
    stack, _ = make_stack(plan=lambda _port: (plan,))
    stack.start()
    everything = identities(stack)
    stack.stop()
    assert not any(one.is_alive() for one in everything)


def test_a_taken_web_port_is_passed_over_and_named(make_stack: MakeStack) -> None:
    taken, _ = make_stack()
    taken.start()
    port = int(taken.web_url.rpartition(":")[2])
    stack, screen = make_stack(GOLEM_WEB_PORT=str(port))
    chosen = stack._find_web_port(stack._read_web_port())
    assert chosen > port
    assert is_port_free(chosen)
    assert f"port {port} is taken, the web server uses {chosen}" in screen.getvalue()


@pytest.mark.parametrize("port", ["no", "0", "70000"])
def test_a_web_port_that_is_none_is_refused(make_stack: MakeStack, port: str) -> None:
    stack, _ = make_stack(GOLEM_WEB_PORT=port)
    with pytest.raises(EmbeddedError, match="is no port. Fix: "):
        stack._read_web_port()


RUN_STACK = """
import os
from golem_project.embedded.process_output import Output
from golem_project.embedded.stack import Stack
from tests.golem_project.embedded.test_stack import plan_small, identities
os.environ.update(GOLEM_RPC_URL_31337="http://127.0.0.1:1")
stack = Stack(paths, throwaway=True, output=Output(paths.log_dir, stream=sys.stderr), environment=dict(os.environ),
              preparation=("true",), plan_children=plan_small)
stack.start()
print(*(one.pid for one in [*identities(stack), stack.servers.valkey.child.identity]), flush=True)
stack.serve()
"""


def test_kill_9_of_the_supervisor_leaves_no_orphan_and_the_next_start_recovers(
    make_stack: MakeStack, start_program: Starter
) -> None:
    supervisor = start_program(RUN_STACK)
    everything = [identity_of(int(pid)) for pid in read_line(supervisor).split()]
    assert len(everything) == 4
    kill_hard(supervisor)
    for one in everything:
        wait_until_gone(one)
    stack, _ = make_stack()
    stack.start()
    assert answers_ok(f"{stack.web_url}/readyz")


def test_the_sdk_beside_is_started_again_when_it_was_killed(started: tuple[Stack, StringIO], paths: Paths) -> None:
    stack, screen = started
    socket = paths.run_dir / "sdk.sock"
    stack.keep_beside(ChildPlan("sdk", sdk_command(make_bundle(), socket), ready_line=READY_LINE))
    first, back = stack.children["sdk"].identity, threading.Event()
    pump, killed = stack.output.pump("sdk"), threading.Event()

    def has_come_back() -> bool:
        if not killed.is_set() and pump.has_seen():
            pump.expect(READY_LINE)
            os.kill(first.pid, signal.SIGKILL)
            killed.set()
            return False
        return killed.is_set() and stack.children["sdk"].identity != first and pump.has_seen()

    watch(stack, back, has_come_back)
    serve_until(stack, back)
    assert "sdk ended; it starts again in 0.5 s" in screen.getvalue()
    assert socket.stat().st_mode & 0o777 == 0o600


def test_what_runs_beside_is_shown_and_is_not_begun_again(started: tuple[Stack, StringIO]) -> None:
    stack, screen = started
    stack.run_beside("protocols", (sys.executable, "-c", "print('one of two built', flush=True)"))
    done = threading.Event()

    def watch() -> None:
        while not (stack.children["protocols"].has_ended() and "one of two built" in screen.getvalue()):
            if done.wait(0.01):
                return
        done.set()

    watching = threading.Thread(target=watch)
    watching.start()
    serve_until(stack, done)
    watching.join()
    assert screen.getvalue().count("one of two built") == 1

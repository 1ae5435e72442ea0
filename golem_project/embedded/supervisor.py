"""The commands behind `make run` and `make demo`, and `exec`, which lends throw-away servers to any command."""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from golem_project.embedded.autostart import SUPERVISOR_RECORD
from golem_project.embedded.environment import LOCAL_RPC_VARIABLE, current_environment
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.forked_children import Loads
from golem_project.embedded.page_address import find_page_url
from golem_project.embedded.paths import CHECKOUT, Paths, locate
from golem_project.embedded.process import dying_with_us, free_port, read_record
from golem_project.embedded.process_output import Output
from golem_project.embedded.product_process_plans import LIBRARIES, MODULES, ChildPlan, answers_ok
from golem_project.embedded.sdk_bundle import READY_LINE, SOCKET_VARIABLE, find_bundle, sdk_command
from golem_project.embedded.servers import SERVER_NAMES, EmbeddedServers
from golem_project.embedded.stack import Stack, Stopped
from golem_project.embedded.throwaway import throwaway_paths

SUPERVISOR_LOCK = "supervisor.lock"
DEMO = "demo"
# Who listens there begins with the further protocols: `world/people/uniswap_x.py`. It is not imported, to start sooner.
DESKS_VARIABLE = "GOLEM_ORDER_DESKS"
PRIVATE_VARIABLE = "GOLEM_ORDER_DESKS_ALLOW_PRIVATE_ADDRESSES"
LOCAL_DESK = "uniswap_x:31337=http://127.0.0.1:{port}/v2/order"
# What the demo does not use is fetched, compiled and built while the rest already serves; then it is kept going.
PROTOCOLS = (sys.executable, "-m", "golem_project.embedded.world", "protocols", "--stay")


def run() -> int:
    """Start everything on the checkout's data, perform the demo, serve until asked to stop."""
    environment = current_environment()
    paths = locate(environment)
    with (paths.run_dir / SUPERVISOR_LOCK).open("a") as lock:
        try:
            # Held as long as this process lives, and dropped by the kernel however it ends.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return tell_where_it_runs(paths)
        stack = Stack(
            paths,
            throwaway=False,
            output=make_output(paths, environment),
            environment=environment,
            loads=Loads(LIBRARIES, MODULES),
            commands={DEMO: sys.stdout.fileno()},
        )
        with_signals(stack)
        offer_order_desk(environment)
        sdk = offer_sdk(environment, paths)
        try:
            stack.begin()
            if sdk is not None:
                stack.keep_beside(sdk)
            demo = [sys.executable, "manage.py", "run_demo", "--serve-report"]
            if stack.run_command(DEMO, demo) != 0:
                stack.output.say("the demo did not succeed, see above; everything keeps running")
            stack.finish()
            if stack.servers.chain is not None:
                stack.run_beside("protocols", PROTOCOLS)
            stack.output.say(f"serving at {stack.page_url}/admin/, Ctrl-C stops everything")
            stack.serve()
        except Stopped:
            stack.output.say("stopping")
        finally:
            stack.stop()
            stack.output.close()
        stack.output.say("stopped")
    return 0


def offer_order_desk(environment: MutableMapping[str, str]) -> None:
    """Have the product hand signed orders to the desk of the local chain's people, where it is our chain and the
    operator set no other desk.
    """
    if environment.get(LOCAL_RPC_VARIABLE) or environment.get(DESKS_VARIABLE):
        return
    environment[DESKS_VARIABLE] = LOCAL_DESK.format(port=free_port())
    environment.setdefault(PRIVATE_VARIABLE, "1")


def offer_sdk(environment: MutableMapping[str, str], paths: Paths) -> ChildPlan | None:
    """Have the product ask Uniswap's SDKs, where set-up bundled them and the operator runs none; how they start."""
    bundle = find_bundle()
    if environment.get(SOCKET_VARIABLE) or bundle is None:
        return None
    socket = paths.run_dir / "sdk.sock"
    environment[SOCKET_VARIABLE] = str(socket)
    return ChildPlan("sdk", sdk_command(bundle, socket), ready_line=READY_LINE, is_needed_first=False)


def tell_where_it_runs(paths: Paths) -> int:
    """One line for a second starter: 0 when the first one answers, 1 when it does not (yet)."""
    record = read_record(paths.run_dir / SUPERVISOR_RECORD)
    url, pid = record.get("web_url"), record.get("pid")
    if isinstance(url, str) and answers_ok(f"{url}/readyz"):
        sys.stdout.write(f"golem already runs at {find_page_url(url)}/admin/ (process {pid}).\n")
        return 0
    sys.stderr.write("golem is being started or stopped by another command. Fix: wait for it, or end it with Ctrl-C.\n")
    return 1


def demo(report: Path) -> int:
    """Everything on throw-away servers, the main job once; returns the demo's own status."""
    environment = current_environment()
    report.parent.mkdir(parents=True, exist_ok=True)
    with throwaway_paths() as paths:
        environment["GOLEM_WEB_PORT"] = str(free_port())
        output = make_output(paths, environment)
        output.quiet = not output.shows_chatter
        stack = Stack(
            paths,
            throwaway=True,
            output=output,
            environment=environment,
            loads=Loads(LIBRARIES, MODULES),
            commands={DEMO: sys.stdout.fileno()},
        )
        with_signals(stack)
        try:
            stack.begin()
            argv = [sys.executable, "manage.py", "run_demo", "--json", str(report.absolute())]
            status = stack.run_command(DEMO, argv)
            stack.finish()
        except Stopped:
            status = 130
        except EmbeddedError:
            output.print_last_lines()
            raise
        finally:
            stack.stop()
            output.close()
    return status


def make_output(paths: Paths, environment: Mapping[str, str]) -> Output:
    """The screen; GOLEM_VERBOSE=1 shows what otherwise only the files hold."""
    return Output(paths.log_dir, shows_chatter=environment.get("GOLEM_VERBOSE") == "1")


def with_signals(stack: Stack) -> None:
    """Let Ctrl-C and `kill` stop the stack in order."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stack.ask_to_stop)


def lend_servers(command: Sequence[str], *, wanted: tuple[str, ...]) -> int:
    """Run `command` with throw-away servers in its environment; returns its status."""
    environment = current_environment()
    with throwaway_paths() as paths:
        servers = EmbeddedServers(paths, throwaway=True, environment=environment, wanted=wanted)
        servers.start()
        try:
            environment.update(servers.exported())
            process = subprocess.Popen(dying_with_us(command), env=environment, cwd=CHECKOUT)  # noqa: S603
            # Ctrl-C reaches the command too, from the terminal; the rest has to be handed on.
            signal.signal(signal.SIGINT, lambda _received, _frame: None)
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, lambda received, _frame: process.send_signal(received))
            status = process.wait()
        finally:
            servers.stop()
    # A command ended by a signal, as shells report it.
    return status if status >= 0 else 128 - status


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="supervisor", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="start everything and serve until Ctrl-C")
    demo_parser = commands.add_parser("demo", help="the main job on throw-away servers")
    demo_parser.add_argument("--json", type=Path, default=CHECKOUT / "var" / "demo.json")
    exec_parser = commands.add_parser("exec", help="run a command with throw-away servers")
    for name in SERVER_NAMES:
        exec_parser.add_argument(f"--no-{name}", action="store_true", help=f"do not start {name}")
    exec_parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Run one command; what goes wrong in a foreseen way is one line."""
    arguments = parse_arguments(argv)
    try:
        if arguments.command == "run":
            return run()
        if arguments.command == "demo":
            return demo(arguments.json)
        command = [word for position, word in enumerate(arguments.argv) if position or word != "--"]
        if not command:
            raise EmbeddedError("exec needs a command. Fix: exec [--no-chain] COMMAND...")
        wanted = tuple(name for name in SERVER_NAMES if not getattr(arguments, f"no_{name}"))
        return lend_servers(command, wanted=wanted)
    except EmbeddedError as error:
        sys.stderr.write(f"golem: {error}\n")
        return 1


if __name__ == "__main__":
    os.chdir(CHECKOUT)
    sys.exit(main(sys.argv[1:]))

"""Database, broker, web server, beat and the local chain, each killed under the trades of two golems, again and again.

They run under the supervisor of `make run` on servers of their own, which starts again what was killed. Measured is
from the moment the killed one answers again until a new commit of each golem is verified; nothing may be lost or done
twice. What plays the agents is a process of its own (`killing.py`): its database is one that is killed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import free_port
from golem_project.embedded.process_output import Output
from golem_project.embedded.product_process_plans import plan_product
from golem_project.embedded.stack import PREPARATION, Stack, Stopped
from golem_project.embedded.throwaway import make_throwaway_paths
from tests.bench.figures import percentile
from tests.proof.registry import Progress, proof

VICTIMS: Final = ("postgres", "valkey", "web", "beat", "chain")
_MOST_SECONDS: Final = 5.0
_SCENARIO_SECONDS: Final = 900
_PLAY: Final = """
import sys
from pathlib import Path
import django
django.setup()
from tests.proof.loaded.killing import main
main(Path(sys.argv[1]), sys.argv[2:])
"""
_NOT_HANDED_ON: Final = ("DATABASE_URL", "REDIS_URL", "GOLEM_RPC_URL_31337", "GOLEM_VAR_DIR", "GOLEM_WEB_PORT")


@proof(
    id="killed",
    what="database, broker, web, beat and chain are killed under trades: each golem commits again within 5 s (p95)",
    rounds=4,
)
def prove_killed(progress: Progress) -> None:
    """Every round kills each of them once, in another order, on servers of its own."""
    for number in progress.remaining():
        order = [*VICTIMS[number % len(VICTIMS) :], *VICTIMS[: number % len(VICTIMS)]]
        told = kill_each(order, logs=Path(settings.GOLEM_REPORT_DIR) / "killed")
        progress.findings += [f"round {number}: {line}" for line in told["findings"]]
        progress.notes.append(f"round {number}: {json.dumps(told['seconds'])}; {told['met']}")
        took = [1000 * each for of_victim in told["seconds"].values() for each in of_victim]
        slow = percentile(took, 95) / 1000 if took else 0.0
        if slow > _MOST_SECONDS:
            progress.findings.append(f"round {number}: 95 % commit again within {slow:.1f} s and not {_MOST_SECONDS:g}")


def kill_each(victims: Sequence[str], *, logs: Path) -> dict[str, Any]:
    """Kill each of `victims` once; the seconds by victim, what the agents met, and what went wrong."""
    paths = make_throwaway_paths()
    logs.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
    # Durable, as `make run` has it: throw-away servers would forget what they said they kept.
    stack = Stack(
        paths,
        throwaway=False,
        output=Output(paths.log_dir, stream=(logs / "supervisor.log").open("w", encoding="utf-8")),
        environment={
            **kept,
            "GOLEM_WEB_PORT": str(free_port()),
            "DJANGO_SETTINGS_MODULE": "golem_project.settings.local",
        },
        preparation=PREPARATION,
        plan_children=plan_product,
    )
    told: dict[str, Any] = {"seconds": {}, "met": "", "findings": ["the agents told nothing"]}
    try:
        stack.start()
        # It lives as long as this process: the thread that waits for it is beside the supervisor's loop.
        threading.Thread(target=_play, args=(stack, victims, logs, told), daemon=True).start()
        try:
            stack.serve()
        except Stopped:
            pass
    finally:
        stack.stop()
        stack.output.close()
        for log in paths.log_dir.glob("*.log"):
            shutil.copy(log, logs / log.name)
        shutil.rmtree(paths.var_dir, ignore_errors=True)
    return told


def _play(stack: Stack, victims: Sequence[str], logs: Path, told: dict[str, Any]) -> None:
    argv = [sys.executable, "-c", _PLAY, str(stack.paths.run_dir), *victims]
    environment = {**stack.environment, "GOLEM_WEB_URL": stack.web_url}
    try:
        with (logs / "killing.log").open("w", encoding="utf-8") as log:
            ended = subprocess.run(
                argv,
                env=environment,
                cwd=CHECKOUT,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                timeout=_SCENARIO_SECONDS,
                check=False,
            )
        lines = ended.stdout.strip().splitlines()
        if lines:
            told.update(json.loads(lines[-1]))
    except (subprocess.TimeoutExpired, ValueError) as error:
        told["findings"] = [f"the agents did not come to an end: {type(error).__name__}"]
    finally:
        stack.ask_to_stop(signal.SIGTERM, None)

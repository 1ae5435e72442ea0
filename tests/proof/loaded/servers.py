"""The product's own processes, as `make run` starts them, on the servers of this run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import free_port
from golem_project.embedded.product_process_plans import WEB_HOST, answers_ok, plan_product
from tools_app.core.clock import Deadline

_START_MS, _STOP_SECONDS = 120_000, 20.0


@dataclass(frozen=True, slots=True)
class Product:
    """Web server, workers and beat; `url` is where its API answers."""

    url: str
    processes: dict[str, subprocess.Popen[bytes]]

    def list_dead(self) -> list[str]:
        """The processes that ended by themselves."""
        return [name for name, process in self.processes.items() if process.poll() is not None]


@contextlib.contextmanager
def running_product(
    logs: Path, *, variables_of: Callable[[str], Mapping[str, str]] = lambda name: {}
) -> Iterator[Product]:
    """The product, ready, with a log of each process in `logs`; stopped at the end. `variables_of` a process by its
    name are added to its environment. Raises RuntimeError.
    """
    logs.mkdir(parents=True, exist_ok=True)
    port = free_port()
    environment = {**os.environ, "GOLEM_WEB_URL": f"http://{WEB_HOST}:{port}", "PYTHONUNBUFFERED": "1"}
    processes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for plan in plan_product(port):
            with (logs / f"{plan.name}.log").open("wb") as log:
                processes[plan.name] = subprocess.Popen(
                    plan.argv,
                    env={**environment, **variables_of(plan.name)},
                    cwd=CHECKOUT,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
        product = Product(f"http://{WEB_HOST}:{port}", processes)
        deadline, pause = Deadline.after_ms(_START_MS), threading.Event()
        while not answers_ok(f"{product.url}/readyz"):
            if deadline.is_over or product.list_dead():
                raise RuntimeError(f"the product did not start ({product.list_dead()}); see {logs}")
            pause.wait(0.2)
        yield product
    finally:
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        for process in processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_STOP_SECONDS)
            process.kill()
            process.wait()

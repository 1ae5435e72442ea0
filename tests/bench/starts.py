"""How long a clone takes: to its first `make demo`, set-up and all, and to serve again at the second `make run`."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import free_port
from tests.bench.figures import Figure, measure

MOST_DEMO_SECONDS: Final = 30.0
MOST_RUN_SECONDS: Final = 4.0
_SERVES: Final = "serving at"
_LONGEST_SECONDS: Final = 600.0
_LENT: Final = ("GOLEM_", "DJANGO_", "DATABASE_URL", "REDIS_URL", "PYTHON")
"""What this run was lent: a clone finds its own."""


@measure("starts")
def measure_starts() -> Iterator[Figure]:
    """Both in a clone of the last commit, which is thrown away; what pip, uv and npm keep beside it is used."""
    with tempfile.TemporaryDirectory(prefix="golem-clone-") as folder:
        clone = Path(folder) / "golem"
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True, timeout=_LONGEST_SECONDS)
        took, spent = time_demo(clone)
        yield Figure(
            "starts.fresh_demo",
            "seconds of the first `make demo` of a fresh clone, set-up and all",
            round(took, 1),
            "s",
            target=MOST_DEMO_SECONDS,
            reference=f"{spent:.1f} s of processor time",
        )
        time_run(clone)
        took, spent = time_run(clone)
        yield Figure(
            "starts.second_run",
            "seconds of the second `make run` until it serves, its swap done",
            round(took, 1),
            "s",
            target=MOST_RUN_SECONDS,
            reference=f"{spent:.1f} s of processor time, with what it took to stop",
        )


def time_demo(clone: Path) -> tuple[float, float]:
    """Seconds by the clock and of processors."""
    begun, before = time.monotonic(), _spent()
    subprocess.run(
        ["make", "demo"], cwd=clone, env=_environment(), check=True, capture_output=True, timeout=_LONGEST_SECONDS
    )
    return time.monotonic() - begun, _spent() - before


def time_run(clone: Path) -> tuple[float, float]:
    """Seconds until it serves, and of processors until it has stopped. Raises RuntimeError where it never serves."""
    begun, before = time.monotonic(), _spent()
    process = subprocess.Popen(
        ["make", "run"],
        cwd=clone,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    watchdog = threading.Timer(_LONGEST_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
    watchdog.start()
    took, last = None, ""
    try:
        assert process.stdout is not None
        for last in process.stdout:
            if _SERVES in last:
                took = time.monotonic() - begun
                os.killpg(process.pid, signal.SIGINT)
                break
        # Who writes into a pipe that nobody reads would wait for ever.
        process.stdout.read()
        process.wait()
    finally:
        watchdog.cancel()
    if took is None:
        raise RuntimeError(f"`make run` never served: {last.strip()}")
    return took, _spent() - before


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LENT)}
    return {**kept, "GOLEM_WEB_PORT": str(free_port())}


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

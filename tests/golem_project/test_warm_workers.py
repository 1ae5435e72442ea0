"""A worker that simulates has the engine in process loaded before its first task; one that does not, has not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from golem_project.celery import app
assert "eth" not in sys.modules
app.Worker(hostname="w@h", pool_cls="solo", queues={queues})
print("warm" if "tools_app.simulation.pyevm.engine" in sys.modules else "cold")
"""


@pytest.mark.parametrize(
    ("queues", "expected"),
    [("simulation", "warm"), ("heartbeat", "warm"), (None, "warm"), ("memory", "cold")],
)
def test_only_workers_that_simulate_load_the_engine_at_their_start(queues: str | None, expected: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("{queues}", repr(queues))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.split()[-1:] == [expected], done.stderr


WAY = """
import os
from pathlib import Path
from golem_project.celery import app
app.Worker(hostname="w@h", pool_cls="solo", queues={queues})
print(os.nice(0), Path("/proc/self/autogroup").read_text().split()[-1])
"""


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel knows no sessions' shares")
@pytest.mark.parametrize(("queues", "more"), [("memory", 10), ("commit", 0)])
def test_a_worker_of_memory_gives_way_to_other_sessions_too(queues: str, more: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WAY.replace("{queues}", repr(queues))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        start_new_session=True,
    )

    # Beside whoever runs the tests, who may have given way already; 19 is as far as it goes.
    assert done.stdout.split()[-2:] == [str(min(19, os.nice(0) + more)), str(more)], done.stderr

"""A worker that simulates has the engine in process loaded before its first task; one that does not, has not."""

from __future__ import annotations

import subprocess
import sys

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

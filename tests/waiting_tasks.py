"""Tasks that wait on this run's broker for a worker that no test has: each test may begin with none of them.

`app.control.purge()` empties only queues that this process has published to. What the processes of a test before sent
(servers, workers) waits on others, and readiness names it as late.
"""

from __future__ import annotations

from tools_app.core import broker, liveness


def drop_waiting_tasks() -> None:
    """Remove every task that waits on a queue of the product."""
    broker.connect().delete(*(name.removeprefix("queue ") for name in liveness.list_queues()))

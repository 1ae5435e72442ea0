"""Hands work to a worker and waits for it without holding a database connection.

Its other end is each app's `tasks.py`: a task answers {"ok": ...} or {"problem": ...}, and a problem is raised here
as it was there.
"""

from __future__ import annotations

from typing import Any

from celery import Task
from celery.exceptions import TimeoutError as CeleryTimeout
from celery.exceptions import WorkerLostError
from celery.result import AsyncResult
from django.db import connections
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from tools_app.core.errors import BrokerUnavailable, RemoteProblem, WorkerEnded, WorkerTimeout

# Celery's own reader of results gives up with a RuntimeError when it cannot reconnect.
BROKER_FAILURES = (OperationalError, RedisError, OSError, RuntimeError)

# What a task is given stands in its message; nobody reads it there a second time, as words.
_UNTOLD: dict[str, Any] = {"argsrepr": "", "kwargsrepr": ""}  # Any: Celery has no types


def enqueue(task: Task[..., object], **arguments: object) -> AsyncResult[Any]:  # Any: Celery has no types
    """Publish a task. Raises BrokerUnavailable; then the task was not accepted, or nobody can know."""
    try:
        return task.apply_async(kwargs=arguments, **_UNTOLD)
    except BROKER_FAILURES:
        raise BrokerUnavailable("the task queue does not answer; nothing was started") from None


def wait_for(result: AsyncResult[Any], *, seconds: float) -> Any:  # Any: Celery has no types
    """The task's `ok`. Raises the problem it answered, WorkerTimeout after `seconds`, WorkerEnded,
    BrokerUnavailable.
    """
    # The pool takes the connection back: a waiting web thread must not starve the workers of connections.
    connections.close_all()
    try:
        answer = result.get(timeout=seconds, propagate=True, disable_sync_subtasks=False)
    except CeleryTimeout:
        raise WorkerTimeout(f"no worker finished within {seconds:g} s") from None
    except WorkerLostError:
        raise WorkerEnded(
            "the worker ended in the middle of it, as in an upgrade; another one takes what it left"
        ) from None
    except BROKER_FAILURES:
        raise BrokerUnavailable("the task queue stopped answering while we waited") from None
    if "problem" in answer:
        raise RemoteProblem(answer["problem"])
    return answer["ok"]

"""Ask the memory worker, which holds the embedding model; answer from words alone when it cannot.

Memory fails open: a broker or worker that is down costs the vectors, not the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from celery import current_task
from celery.exceptions import TimeoutError as CeleryTimeout
from celery.result import AsyncResult
from django.conf import settings
from django.db import connections
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from memory_app import embedding
from memory_app.actions.query_grimoire import Store, check_question, query_grimoire
from memory_app.filters import parse_filters
from memory_app.tasks import query_grimoire_task
from tools_app.core.errors import BrokerUnavailable, RemoteProblem, WorkerTimeout
from tools_app.core.json_types import JsonObject

IN_A_TASK = "a worker without the embedding model does not wait for another one"
# Celery's own reader of results gives up with a RuntimeError when it cannot reconnect.
_BROKER_FAILURES = (BrokerError, RedisError, OSError, RuntimeError)


def request_query_grimoire(
    *,
    golem_id: UUID,
    query: str,
    store: str = Store.EPISODES,
    limit: int = 10,
    filters: Mapping[str, Any] | None = None,  # Any: JSON, as agents see it
    apply_decay: bool = True,
    now: datetime,
    wait_seconds: float | None = None,
    min_percent: int = 0,
    reinforce: bool = True,
) -> JsonObject:
    """What `query_grimoire` answers, with vectors where possible and `mode: text_only` with its reason where not.

    Waits at most `wait_seconds` (GOLEM_MEMORY_QUERY_WAIT_SECONDS) holding no database connection. Inside a task it
    waits for nobody. Raises InvalidParams before anything is asked, and what the worker's answer raised.
    """
    check_question(query=query, store=store, limit=limit)
    parse_filters(filters or {})
    reason = ""
    if not embedding.is_loaded():
        arguments = {
            "golem_id": str(golem_id),
            "query": query,
            "store": str(store),
            "limit": limit,
            "filters": dict(filters or {}),
            "apply_decay": apply_decay,
            "min_percent": min_percent,
            "reinforce": reinforce,
        }
        seconds = settings.GOLEM_MEMORY_QUERY_WAIT_SECONDS if wait_seconds is None else wait_seconds
        try:
            return ask_worker(arguments=arguments, seconds=seconds)
        except (BrokerUnavailable, WorkerTimeout) as error:
            reason = error.detail
    return query_grimoire(
        golem_id=golem_id,
        query=query,
        store=store,
        limit=limit,
        filters=filters,
        apply_decay=apply_decay,
        now=now,
        text_only_reason=reason,
        min_percent=min_percent,
        reinforce=reinforce,
    )


def ask_worker(*, arguments: dict[str, object], seconds: float) -> dict[str, object]:
    """The answer of `query_grimoire_task`. Raises BrokerUnavailable, WorkerTimeout, and what the task answered."""
    if current_task:
        raise WorkerTimeout(IN_A_TASK)
    result = _enqueue(arguments, seconds)
    _give_connections_back()
    try:
        # Whether this is a task was asked above, of this thread; Celery's own flag is one for the whole process.
        answer = result.get(timeout=seconds, propagate=False, disable_sync_subtasks=False)
    except CeleryTimeout:
        raise WorkerTimeout(f"no memory worker answered within {seconds:g} s") from None
    except _BROKER_FAILURES:
        raise BrokerUnavailable("the task queue stopped answering while memory was asked") from None
    if not isinstance(answer, dict):
        raise WorkerTimeout("the memory worker failed on this question")
    if "problem" in answer:
        raise RemoteProblem(answer["problem"])
    found: dict[str, object] = answer["ok"]
    return found


def _enqueue(arguments: dict[str, object], seconds: float) -> AsyncResult[object]:
    try:
        # A question nobody waits for any more is dropped by the worker.
        return query_grimoire_task.apply_async(kwargs=arguments, expires=max(1.0, seconds), retry=False)
    except _BROKER_FAILURES:
        raise BrokerUnavailable("the task queue does not answer") from None


def _give_connections_back() -> None:
    # A waiting thread must not starve the workers of connections; inside a transaction the connection is needed.
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()

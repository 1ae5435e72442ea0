"""Celery's result backend for tasks somebody waits for: an answer is a list of one element, and its waiter pops it.

A blocking pop on a connection that is kept wakes exactly the one waiter, with one command; Celery's own backend for
this server subscribes, asks and unsubscribes for every answer, on connections of every thread. An answer that nobody
fetched goes away by itself. Nothing is a record here: what a task did is in the database.
"""

from __future__ import annotations

from typing import Any

from celery import states
from celery.backends.base import BaseBackend
from celery.exceptions import TimeoutError as CeleryTimeout

from tools_app.core import broker
from tools_app.core.clock import Deadline

# One pop waits at most this long at the server, so that a server which froze is noticed well before a caller gives up.
_SLICE_SECONDS = 2.0
_SILENCE_SECONDS = 5.0
_CONNECT_SECONDS = 3.0


def _connect(url: str) -> Any:  # Any: Celery has no types
    return broker.connect_to(url, silence_seconds=_SILENCE_SECONDS, connect_seconds=_CONNECT_SECONDS)


class AnswerBackend(BaseBackend):
    """`CELERY_RESULT_BACKEND = "tools_app.core.task_results:AnswerBackend+redis://…"`. Each answer is fetched once."""

    # Celery's own, which its stubs leave out.
    expires: float
    _ensure_not_eager: Any  # Any: Celery has no types
    _get_result_meta: Any  # Any: Celery has no types

    def __init__(self, app: Any, url: str | None = None, **options: Any) -> None:  # Any: Celery has no types
        super().__init__(app, url=url, **options)
        self._url = url or ""

    def wait_for(
        self,
        task_id: str,
        timeout: float | None = None,
        interval: float = 0.0,
        no_ack: bool = True,
        on_interval: object = None,
    ) -> dict[str, Any]:  # Any: Celery has no types
        """The answer's meta. Raises Celery's TimeoutError after `timeout` seconds, and redis errors."""
        self._ensure_not_eager()
        deadline = Deadline.after_ms(1000 * (timeout if timeout is not None else self.expires))
        server, key = _connect(self._url), _key(task_id)
        while (left := deadline.remaining_ms() / 1000) > 0:
            # Zero would wait without end.
            found: Any = server.blpop([key], timeout=max(0.001, min(left, _SLICE_SECONDS)))  # Any: Celery has no types
            if found is not None:
                meta: dict[str, Any] = self.meta_from_decoded(self.decode(found[1]))  # Any: Celery has no types
                return meta
        raise CeleryTimeout("The operation timed out.")

    def _store_result(
        self, task_id: str, result: object, state: str, traceback: object = None, request: object = None, **_: object
    ) -> Any:  # Any: Celery has no types
        if state not in states.READY_STATES:
            return result
        meta = self._get_result_meta(result=result, state=state, traceback=traceback, request=request)
        key = _key(task_id)
        with _connect(self._url).pipeline(transaction=False) as pipeline:
            pipeline.rpush(key, self.encode({**meta, "task_id": task_id}))
            pipeline.expire(key, int(self.expires))
            pipeline.execute()
        return result

    def _get_task_meta_for(self, task_id: str) -> dict[str, Any]:  # Any: Celery has no types
        """The answer that waits to be fetched, left where it is."""
        found: Any = _connect(self._url).lindex(_key(task_id), 0)  # Any: Celery has no types
        if found is None:
            return {"status": states.PENDING, "result": None}
        meta: dict[str, Any] = self.meta_from_decoded(self.decode(found))  # Any: Celery has no types
        return meta

    def _forget(self, task_id: str) -> None:
        _connect(self._url).delete(_key(task_id))


def _key(task_id: str) -> str:
    return f"golem:answer:{task_id}"

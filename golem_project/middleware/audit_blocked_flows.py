"""Writes into a golem's audit log what was kept from a sink during a request or a task.

A new page or task has it without a word of its own: the middleware and the class of tasks are the project's. A request
that finds the clock of its process set back has what was made before brought back first, as a task has.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from celery import Task
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from golem_project.middleware.request_id import carried
from golem_project.runtime.queue_waits import read_waited
from tools_app.core import clock, trace_spans
from tools_app.core.blocked_flows import audited

logger = logging.getLogger(__name__)


class WatchedRequests:
    """Middleware around every page and every call of the API; who knows the golem of a request says so by
    `taint.name_golem`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if clock.is_doubtful():
            _compare()
        if clock.take_set_back():
            _mend()
        with audited(actor="system:door", now=clock.now):
            return self.get_response(request)


def _compare() -> None:
    # Loaded once models are there; middleware is named before.
    from golem_project.runtime.database_clock import follow_database

    follow_database()


def _mend() -> None:
    # Loaded once models are there; middleware is named before.
    from golem_project.runtime.future_times import mend_after_set_back

    try:
        mend_after_set_back(now=clock.now())
    except DatabaseError as error:
        logger.warning("what a clock left in the future was not brought back: %s", type(error).__name__)


class WatchedTask(Task):
    """What every task of the application is. A task that is called with a golem's id is that golem's."""

    abstract = True

    def __call__(self, *args: Any, **kwargs: Any) -> object:  # Any: whatever the view it stands for takes
        golem_id, actor = kwargs.get("golem_id"), kwargs.get("actor", "system:runtime")
        ids = {name: kwargs.get(name) for name in ("request_id", "permit_id", "golem_id")}
        with (
            carried(**ids),
            trace_spans.within(self._begin_span(ids)),
            audited(golem_id=UUID(golem_id) if golem_id else None, actor=actor, now=clock.now),
        ):
            return super().__call__(*args, **kwargs)

    def _begin_span(self, ids: dict[str, str | None]) -> trace_spans.OpenStep | None:
        """Its step: of who sent it, else of what its permit belongs to. What the clock sends is of nobody."""
        if not trace_spans.is_kept():
            return None
        permit_id, golem_id = ids["permit_id"], ids["golem_id"]
        sender = vars(self.request).get(trace_spans.HEADER) or (trace_spans.recall(permit_id) if permit_id else None)
        if sender is None and not permit_id and not golem_id:
            return None
        waited = read_waited(vars(self.request), now=clock.now())
        facts = {name: value for name, value in ids.items() if value}
        return trace_spans.begin(f"task {self.name}", part_of=sender, waited_ms=round(1_000 * (waited or 0)), **facts)

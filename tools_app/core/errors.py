"""One hierarchy of errors that a model and a person can both act on.

Every refusal has a stable code, an HTTP status and a recovery: the next thing the reader should do.
A subclass says them as keywords of its class, and its code is its name in capitals where it says no other; the raiser
gives the sentence and the numbers.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, ClassVar

from tools_app.core.json_types import JsonObject
from tools_app.core.taint import DataSink, clean_for

_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Recovery(StrEnum):
    """What the reader of an error should do next."""

    FIX_PARAMS = "FIX_PARAMS"
    PREVIEW_AGAIN = "PREVIEW_AGAIN"
    WAIT = "WAIT"
    ASK_OWNER = "ASK_OWNER"
    CHECK_STATE = "CHECK_STATE"
    GIVE_UP = "GIVE_UP"


class GolemError(Exception):
    """Root of every error that may reach an agent or an owner.

    `detail` is one sentence for a person. `data` holds JSON-ready values a program can act on
    (amounts as decimal strings, addresses, limits with their unit in the key). Neither may hold a secret.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    http_status: ClassVar[int] = 500
    recovery: ClassVar[Recovery] = Recovery.CHECK_STATE
    title: ClassVar[str] = "Something went wrong on our side"
    cleared_by: ClassVar[str] = ""
    """What ends it, of an error whose next step is WAIT; `data` may say it closer."""

    def __init_subclass__(
        cls,
        *,
        code: str | None = None,
        status: int | None = None,
        recovery: Recovery | None = None,
        title: str | None = None,
        cleared_by: str | None = None,
    ) -> None:
        """Sets what a class says as keywords. The rest is of its parent, also the code of one without a title."""
        super().__init_subclass__()
        if code is not None or title is not None:
            cls.code = code or _WORD_BEGINS.sub("_", cls.__name__).upper()
        cls.http_status = status or cls.http_status
        cls.recovery = recovery or cls.recovery
        cls.title = title or cls.title
        cls.cleared_by = cleared_by or cls.cleared_by

    def __init__(
        self,
        detail: str = "",
        *,
        recovery: Recovery | None = None,
        **data: Any,  # Any: what an error tells is of any type
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.data = data
        self.next_step = recovery or self.recovery

    def as_problem(self) -> JsonObject:
        """RFC 9457 members of this error, without `type` and `instance`, which the HTTP edge adds."""
        known = {"cleared_by": self.cleared_by} if self.cleared_by and self.next_step is Recovery.WAIT else {}
        members: dict[str, object] = clean_for(DataSink.MODEL, {"detail": self.detail, **known, **self.data})
        return {
            "title": self.title,
            "status": self.http_status,
            "detail": members.pop("detail"),
            "code": self.code,
            "recovery": str(self.next_step),
            **members,
        }


class RemoteProblem(GolemError):
    """A problem raised in another process (a worker), rebuilt here from its JSON to be answered unchanged."""

    def __init__(self, problem: JsonObject) -> None:
        known = {"title", "status", "detail", "code", "recovery", "type", "instance"}
        super().__init__(
            str(problem.get("detail", "")),
            recovery=Recovery(problem.get("recovery", Recovery.CHECK_STATE)),
            **{k: v for k, v in problem.items() if k not in known},
        )
        self.problem = problem

    def as_problem(self) -> JsonObject:
        return dict(self.problem)


class InternalError(GolemError):
    """An unexpected failure, reported without its class or trace; the log holds them under the request id."""


class InvalidParams(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="A parameter is missing or malformed"):
    """A parameter is missing, malformed or out of range."""


class DatabaseUnavailable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The database does not answer",
    cleared_by="the database answers again",
):
    """PostgreSQL does not answer."""


class StorageFull(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The server's disk is full",
    cleared_by="there is space on the server's disk again",
):
    """A disk took no more: the database's, or the one below our own files."""


class DatabaseOutOfMemory(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The database has no memory left",
    cleared_by="the database has memory again",
):
    """PostgreSQL had no memory left for a statement."""


class DatabaseConnectionsUsedUp(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="Every connection to the database is in use",
    cleared_by="a connection to the database is free again",
):
    """PostgreSQL takes no further connection."""


class DatabaseReadOnly(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The database takes no writes now",
    cleared_by="the database takes writes again",
):
    """PostgreSQL takes no writes, as a standby does."""


class BrokerUnavailable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The task queue does not answer",
    cleared_by="the message broker answers again",
):
    """The message broker does not answer; nothing was accepted."""


class WorkerEnded(
    GolemError, status=503, recovery=Recovery.WAIT, title="The worker ended", cleared_by="another worker takes the call"
):
    """The worker that had the task ended: it was stopped, or killed for its memory."""


class WorkerTimeout(GolemError, status=504, recovery=Recovery.CHECK_STATE, title="No worker answered in time"):
    """No worker finished the task in time; the state must be looked up before anything is repeated."""


class BudgetExceeded(
    GolemError,
    status=504,
    recovery=Recovery.WAIT,
    title="The tool overran its time budget",
    cleared_by="less load, or a node that answers faster",
):
    """A tool overran its tick budget."""


class InsufficientBalance(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The golem does not hold that much"
):
    """The golem holds less than the action needs; both figures in base units and in units."""

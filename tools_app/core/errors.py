"""One hierarchy of errors that a model and a person can both act on.

Every refusal has a stable code, an HTTP status and a recovery: the next thing the reader should do.
Subclasses set the three as class attributes; the raiser gives the sentence and the numbers.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

from tools_app.core.taint import DataSink, clean_for


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

    def __init__(self, detail: str = "", *, recovery: Recovery | None = None, **data: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.data = data
        self.next_step = recovery or self.recovery

    def as_problem(self) -> dict[str, Any]:
        """RFC 9457 members of this error, without `type` and `instance`, which the HTTP edge adds."""
        known = {"cleared_by": self.cleared_by} if self.cleared_by and self.next_step is Recovery.WAIT else {}
        members: dict[str, Any] = clean_for(DataSink.MODEL, {"detail": self.detail, **known, **self.data})
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

    def __init__(self, problem: dict[str, Any]) -> None:
        known = {"title", "status", "detail", "code", "recovery", "type", "instance"}
        super().__init__(
            str(problem.get("detail", "")),
            recovery=Recovery(problem.get("recovery", Recovery.CHECK_STATE)),
            **{k: v for k, v in problem.items() if k not in known},
        )
        self.problem = problem

    def as_problem(self) -> dict[str, Any]:
        return dict(self.problem)


class InternalError(GolemError):
    """An unexpected failure, reported without its class or trace; the log holds them under the request id."""


class InvalidParams(GolemError):
    """A parameter is missing, malformed or out of range."""

    code = "INVALID_PARAMS"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "A parameter is missing or malformed"


class DatabaseUnavailable(GolemError):
    """PostgreSQL does not answer."""

    code = "DATABASE_UNAVAILABLE"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the database answers again"
    title = "The database does not answer"


class StorageFull(GolemError):
    """A disk took no more: the database's, or the one below our own files."""

    code = "STORAGE_FULL"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "there is space on the server's disk again"
    title = "The server's disk is full"


class DatabaseOutOfMemory(GolemError):
    """PostgreSQL had no memory left for a statement."""

    code = "DATABASE_OUT_OF_MEMORY"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the database has memory again"
    title = "The database has no memory left"


class DatabaseConnectionsUsedUp(GolemError):
    """PostgreSQL takes no further connection."""

    code = "DATABASE_CONNECTIONS_USED_UP"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "a connection to the database is free again"
    title = "Every connection to the database is in use"


class DatabaseReadOnly(GolemError):
    """PostgreSQL takes no writes, as a standby does."""

    code = "DATABASE_READ_ONLY"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the database takes writes again"
    title = "The database takes no writes now"


class BrokerUnavailable(GolemError):
    """The message broker does not answer; nothing was accepted."""

    code = "BROKER_UNAVAILABLE"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the message broker answers again"
    title = "The task queue does not answer"


class WorkerEnded(GolemError):
    """The worker that had the task ended: it was stopped, or killed for its memory."""

    code = "WORKER_ENDED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "another worker takes the call"
    title = "The worker ended"


class WorkerTimeout(GolemError):
    """No worker finished the task in time; the state must be looked up before anything is repeated."""

    code = "WORKER_TIMEOUT"
    http_status = 504
    recovery = Recovery.CHECK_STATE
    title = "No worker answered in time"


class BudgetExceeded(GolemError):
    """A tool overran its tick budget."""

    code = "BUDGET_EXCEEDED"
    http_status = 504
    recovery = Recovery.WAIT
    cleared_by = "less load, or a node that answers faster"
    title = "The tool overran its time budget"


class InsufficientBalance(GolemError):
    """The golem holds less than the action needs; both figures in base units and in units."""

    code = "INSUFFICIENT_BALANCE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The golem does not hold that much"

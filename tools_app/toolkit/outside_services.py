"""Answers from outside: a named service, a question to it, and its answer as data by which nobody is allowed anything.

A folder declares the service it reads and the shape of each answer. Whoever wires the process gives the door: it knows
the owner's key, counts the questions, keeps answers for a moment, and goes out over the one guarded client. What comes
back is somebody's claim: checked against its shape, dated, named, and marked as foreign wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel

from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import ServiceNeed

M = TypeVar("M", bound=BaseModel)

MOST_ANSWER_BYTES: Final = 262_144
"""Of an answer whose question says nothing else."""
OLDEST_SECONDS: Final = 600
"""How old an answer may say it is, by its sender's clock, where its question says nothing else."""


@dataclass(frozen=True, slots=True)
class OutsideService:
    """A service by name. `key_header` empty: it takes no key. `questions_an_hour` is what an owner starts with."""

    name: str
    label: str
    url: str
    lends: str
    key_header: str = ""
    get_key_at: str = ""
    questions_an_hour: int = 120

    @property
    def needs_key(self) -> bool:
        return bool(self.key_header)

    @property
    def need(self) -> ServiceNeed:
        """The requirement of tools that are nothing without it."""
        return ServiceNeed(self.name)


SERVICES: Final[dict[str, OutsideService]] = {}
"""Every service that some folder declared, by name."""


def declare_service(service: OutsideService) -> OutsideService:
    """Make a service known to owners' pages and to the door. Raises TypeError for a name that is taken."""
    if SERVICES.get(service.name, service) != service:
        raise TypeError(f"two services are called {service.name!r}")
    SERVICES[service.name] = service
    return service


@dataclass(frozen=True, slots=True)
class Question(Generic[M]):
    """One request. `shape` is what the answer must be; only what it names is kept.

    An answer is kept for `kept_seconds` and given again to the same question; 0 asks each time. One that is dated
    longer ago than `oldest_seconds` is refused.
    """

    method: str
    path: str
    shape: type[M]
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, Any] | None = None  # Any: JSON, of the protocol's own shape
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 4.0
    most_bytes: int = MOST_ANSWER_BYTES
    kept_seconds: int = 0
    oldest_seconds: int = OLDEST_SECONDS


@dataclass(frozen=True, slots=True)
class OutsideSource:
    """Where figures come from and when they were said; they are a stranger's, whatever they say."""

    service: str
    url: str
    answered_at: str
    age_seconds: int
    untrusted: bool = True


@dataclass(frozen=True, slots=True)
class Answered(Generic[M]):
    """An answer in the shape that was asked for, with its source."""

    value: M
    source: OutsideSource


class OutsideDoor(Protocol):
    """Asks services for golems, with what their owners gave."""

    def ask(
        self, *, golem_id: UUID, service: OutsideService, question: Question[M], now: datetime, deadline: Deadline
    ) -> Answered[M]:
        """The answer. Raises the errors of this module."""
        ...


def ask(ctx: ReadContext, service: OutsideService, question: Question[M]) -> Answered[M]:
    """Ask a service for the golem of `ctx`, within the tool's time. Raises the errors of this module."""
    door = ctx.service(OutsideDoor)  # type: ignore[type-abstract]
    return door.ask(golem_id=ctx.golem.id, service=service, question=question, now=ctx.now, deadline=ctx.deadline)


def say_age(answered_at: datetime, now: datetime) -> int:
    """Whole seconds since an answer; one of a clock that is ahead is of now."""
    return max(0, int((now - answered_at).total_seconds()))


class ServiceNotSwitchedOn(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The golem's owner has not switched this service on"
):
    """The golem's owner has not switched the service on, or gave no key it wants."""


class ServiceKeyRefused(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The service does not take the owner's key"
):
    """The service does not take the owner's key."""


class ServiceQuotaUsedUp(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="No further question to this service now",
    cleared_by="the next full hour, or the owner raises the quota of the service",
):
    """As many questions were asked within the hour as the owner, or the service, lets pass."""


class ServiceFailed(
    GolemError,
    status=502,
    recovery=Recovery.WAIT,
    title="The service did not answer",
    cleared_by="the service answers again",
):
    """No answer came, or one that says the service has trouble."""


class ServiceAnswerRefused(
    GolemError,
    status=502,
    recovery=Recovery.WAIT,
    title="The service's answer is not what was asked for",
    cleared_by="the service answers what it is asked, in the shape it publishes",
):
    """An answer came that is too large, has another shape, is too old, or is about something else than was asked."""


class ServiceRefusedQuestion(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The service does not answer this question"
):
    """The service does not answer this question: it knows no such thing, or finds the question wrong."""

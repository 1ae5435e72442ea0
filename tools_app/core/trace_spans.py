"""Tells step by step what became of a request, where an operator asks for that; nobody else pays more than a look.

A span is one step and knows the step it is part of. Steps that a queue or a block lies between belong together by what
a message carries, or by what is remembered of their permit. Nothing that a trace meets makes an action fail, and what
it tells is no more than a log line may.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Final, Protocol

import redis

from tools_app.core import broker
from tools_app.core.errors import GolemError
from tools_app.core.taint import DataSink, redact_text

logger = logging.getLogger(__name__)

Fact = str | int | bool
HEADER: Final = "traceparent"
"""The name under which a message carries the step that sent it, in the form of W3C Trace Context."""
_KEPT_SECONDS: Final = 86_400
_LONGEST: Final = 200
_KEY: Final = "golem:trace:"


class OpenStep(Protocol):
    """One step that has begun."""

    @property
    def name(self) -> str:
        """Where it is, as W3C Trace Context writes it."""

    @property
    def trace_id(self) -> str:
        """Of the whole tree: 32 hexadecimal digits."""

    def note(self, **facts: Fact) -> None:
        """Add what became known meanwhile."""

    def rename(self, name: str) -> None:
        """Call it by what turned out to have answered."""

    def end(self, failure: str = "") -> None:
        """It is over; `failure` is the code of what ended it."""


class Tracer(Protocol):
    """Who keeps spans."""

    def begin(self, name: str, *, within: OpenStep | str | None, seen: str | None, facts: dict[str, Fact]) -> OpenStep:
        """A step of the tree of `within`, or the first of a new one; `seen` is a step elsewhere that led to it."""


_tracer: Tracer | None = None
_current: ContextVar[OpenStep | None] = ContextVar("span", default=None)


def keep_in(tracer: Tracer | None) -> None:
    """From here on this process tells its steps to `tracer`, or to nobody."""
    global _tracer
    _tracer = tracer


def is_kept() -> bool:
    """Whether anybody asks for steps."""
    return _tracer is not None


def current() -> OpenStep | None:
    """The step that runs here."""
    return _current.get()


def name_current() -> str | None:
    """The step that runs here, as a message carries it."""
    span = _current.get()
    return span.name if span is not None else None


def step(name: str, **facts: Fact) -> AbstractContextManager[None]:
    """A step of the one that runs here; nothing where none runs."""
    if _tracer is None or _current.get() is None:
        return nullcontext()
    return within(_begin(name, _current.get(), None, facts))


def continued(subject: str, name: str, **facts: Fact) -> AbstractContextManager[None]:
    """A step of the tree that `subject` belongs to: within the step that runs here where that is of the same tree."""
    if _tracer is None:
        return nullcontext()
    here, kept = _current.get(), recall(subject)
    if kept is None or (here is not None and here.trace_id in kept):
        return step(name, **facts)
    return within(_begin(name, kept, here.name if here is not None else None, facts))


def begin(
    name: str, *, part_of: OpenStep | str | None = None, led_to_by: str | None = None, **facts: Fact
) -> OpenStep | None:
    """A step that whoever begins it ends; None where nobody asks for steps."""
    return _begin(name, part_of, led_to_by, facts)


def _begin(
    name: str, part_of: OpenStep | str | None, led_to_by: str | None, facts: Mapping[str, Fact]
) -> OpenStep | None:
    if _tracer is None:
        return None
    told = {key: _tell(value) for key, value in facts.items()}
    return _tracer.begin(name, within=part_of, seen=led_to_by, facts=told)


@contextmanager
def within(span: OpenStep | None) -> Iterator[None]:
    """What happens here is part of `span`, which ends with it."""
    if span is None:
        yield
        return
    with carried(span):
        try:
            yield
        except BaseException as error:
            span.end(error.code if isinstance(error, GolemError) else type(error).__name__)
            raise
        span.end()


@contextmanager
def carried(span: OpenStep | None) -> Iterator[None]:
    """What happens here is part of `span`, which somebody else ends."""
    token = _current.set(span)
    try:
        yield
    finally:
        _current.reset(token)


def note(**facts: Fact) -> None:
    """Add to the step that runs here."""
    span = _current.get()
    if span is not None:
        span.note(**{key: _tell(value) for key, value in facts.items()})


def remember(subject: str) -> None:
    """What happens to `subject` later, such as a permit, belongs to the tree of the first step that remembers it."""
    name = name_current()
    if _tracer is None or name is None:
        return
    try:
        broker.connect().set(f"{_KEY}{subject}", name, ex=_KEPT_SECONDS, nx=True)
    except redis.RedisError as error:
        logger.info("a trace is not continued later: %s", type(error).__name__)


def recall(subject: str) -> str | None:
    """The step that `subject` belongs to, where one is remembered."""
    if _tracer is None:
        return None
    try:
        found = broker.connect().get(f"{_KEY}{subject}")
    except redis.RedisError as error:
        logger.info("a trace is begun anew: %s", type(error).__name__)
        return None
    return bytes(found).decode("ascii", "replace") if found else None


def _tell(value: Fact) -> Fact:
    return redact_text(value, sink=DataSink.LOGS)[:_LONGEST] if isinstance(value, str) else value

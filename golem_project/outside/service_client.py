"""The door to services outside: one question at a time, counted, bounded, checked, dated, and kept for its moment.

A question is counted before it goes out, in one statement, so that two at once cannot pass the quota. No transaction
is open while the service is asked. What does not fit its shape, its size or its date is refused and never kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.db.models import Case, F, Q, Value, When
from pydantic import ValidationError

from archetypes_app.models import KeptAnswer, ServiceAccess
from golem_project.outside.access import find_access, open_key, seconds_to_next_hour, start_hour
from tools_app.core import guarded_http
from tools_app.core.bounded_parsing import Bound, OutsideTextRefused, read_json
from tools_app.core.clock import Deadline
from tools_app.core.errors import BudgetExceeded
from tools_app.core.hashing import hash_canonical
from tools_app.core.json_types import JsonObject
from tools_app.core.taint import Secret
from tools_app.toolkit.foreign_text import mark_foreign
from tools_app.toolkit.outside_services import (
    Answered,
    M,
    OutsideService,
    OutsideSource,
    Question,
    ServiceAnswerRefused,
    ServiceFailed,
    ServiceKeyRefused,
    ServiceNotSwitchedOn,
    ServiceQuotaUsedUp,
    ServiceRefusedQuestion,
    say_age,
)

_LEAST_SECONDS: Final = 0.05
_KEPT: Final = timedelta(hours=1)
"""Answers that nobody asked for again are forgotten after so long, with the next that is kept."""
_MOST_WORDS: Final = 120
_NO_SUCH: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY})
_NO_KEY: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


@dataclass(frozen=True, slots=True)
class GuardedDoor:
    """`urls` are addresses an operator set in place of services' own, by name."""

    urls: Mapping[str, str] = field(default_factory=dict)
    allows_private: bool = False

    def ask(
        self, *, golem_id: UUID, service: OutsideService, question: Question[M], now: datetime, deadline: Deadline
    ) -> Answered[M]:
        """The answer to `question`, kept or new. Raises BudgetExceeded, the errors of `toolkit.outside_services`."""
        access = find_access(golem_id, service)
        if access is None:
            raise ServiceNotSwitchedOn(
                f"the golem's owner has not switched {service.label} on; they do so on the page Services",
                service=service.name,
            )
        base = self.urls.get(service.name, service.url)
        digest = hash_canonical(
            {
                "base": base,
                "method": question.method,
                "path": question.path,
                "query": [list(pair) for pair in question.query],
                "headers": [list(pair) for pair in question.headers],
                "body": json.dumps(question.body, sort_keys=True) if question.body is not None else None,
                "shape": f"{question.shape.__module__}.{question.shape.__qualname__}",
            }
        )[2:]
        kept = _find_kept(access, digest, question, now)
        if kept is not None:
            return _tell(kept[0], service, base, kept[1], now)
        seconds = min(question.seconds, deadline.remaining_ms() / 1_000)
        if seconds < _LEAST_SECONDS:
            raise BudgetExceeded(f"nothing is left of the tool's time to ask {service.label}")
        _count(access, service, now)
        key = open_key(access) if service.needs_key else None
        try:
            value = self._exchange(base, service, question, key, seconds=seconds, now=now)
        except (ServiceFailed, ServiceKeyRefused, ServiceQuotaUsedUp, ServiceAnswerRefused) as error:
            ServiceAccess.objects.filter(pk=access.pk).update(last_error=error.detail[:200], last_error_at=now)
            raise
        ServiceAccess.objects.filter(pk=access.pk).update(last_answer_at=now, last_error="", last_error_at=None)
        if question.kept_seconds:
            _keep(access, digest, value.model_dump(mode="json", by_alias=True), now)
        return _tell(value, service, base, now, now)

    def _exchange(
        self,
        base: str,
        service: OutsideService,
        question: Question[M],
        key: Secret | None,
        *,
        seconds: float,
        now: datetime,
    ) -> M:
        url = base.rstrip("/") + question.path
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", **dict(question.headers)}
        body = None
        if question.body is not None:
            body = json.dumps(question.body, separators=(",", ":")).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers[service.key_header] = key.reveal()
        deadline = Deadline.after_ms(1_000 * seconds)
        try:
            answer = guarded_http.exchange(
                question.method,
                guarded_http.resolve(
                    f"{url}?{urlencode(question.query)}" if question.query else url,
                    allows_private=self.allows_private,
                    seconds=min(seconds, guarded_http.LOOK_UP_SECONDS),
                ),
                headers=headers,
                body=body,
                seconds=deadline.remaining_ms() / 1000,
                most_bytes=question.most_bytes + 1,
            )
        except (guarded_http.AddressRefused, guarded_http.ExchangeFailed) as error:
            raise ServiceFailed(f"{service.label} is not reached: {error}", service=service.name) from None
        _check_status(answer, service, question.most_bytes, now)
        _check_date(answer, service, question, now)
        return _read(answer.body, service, question)


def _find_kept(access: ServiceAccess, digest: str, question: Question[M], now: datetime) -> tuple[M, datetime] | None:
    if not question.kept_seconds:
        return None
    # What lies in the future was kept before a clock was set back; nobody knows how old it is.
    since = now - timedelta(seconds=question.kept_seconds)
    row = access.kept_answers.filter(question=digest, answered_at__gt=since, answered_at__lte=now).first()
    if row is None:
        return None
    try:
        return question.shape.model_validate(row.value), row.answered_at
    except ValidationError:
        # Kept by an older version of this code.
        return None


def _count(access: ServiceAccess, service: OutsideService, now: datetime) -> None:
    """Count one question in its hour. Raises ServiceQuotaUsedUp."""
    hour = start_hour(now)
    is_free = Q(hour__isnull=True) | ~Q(hour=hour) | Q(asked__lt=F("questions_an_hour"))
    is_counted = ServiceAccess.objects.filter(is_free, pk=access.pk).update(
        asked=Case(When(hour=hour, then=F("asked") + 1), default=Value(1)), hour=hour
    )
    if not is_counted:
        raise ServiceQuotaUsedUp(
            f"{service.label} was asked {access.questions_an_hour} times in this hour, which is its quota",
            service=service.name,
            questions_an_hour=access.questions_an_hour,
            retry_after_seconds=seconds_to_next_hour(now),
        )


def _check_status(answer: guarded_http.Answer, service: OutsideService, most_bytes: int, now: datetime) -> None:
    if answer.status in (HTTPStatus.OK, HTTPStatus.CREATED):
        return
    said: JsonObject = {"service": service.name, "status_of_answer": answer.status}
    if answer.status in _NO_KEY:
        raise ServiceKeyRefused(f"{service.label} answered {answer.status} to the key its owner gave", **said)
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = answer.retry_after_seconds or seconds_to_next_hour(now)
        raise ServiceQuotaUsedUp(f"{service.label} takes no more questions now", **said, retry_after_seconds=wait)
    if answer.status in _NO_SUCH:
        words = _read_words(answer.body, most_bytes)
        raise ServiceRefusedQuestion(f"{service.label} answered {answer.status}", **said, said=words)
    raise ServiceFailed(f"{service.label} answered {answer.status}", **said)


def _read_words(body: bytes, most_bytes: int) -> dict[str, object]:
    """What the service says of a refusal, as a stranger's words."""
    try:
        document = read_json(body, most_bytes=most_bytes)
    except OutsideTextRefused:
        document = None
    found = document if isinstance(document, dict) else {}
    return {
        name: {"value": mark_foreign(found.get(name), most=_MOST_WORDS).value, "untrusted": True}
        for name in ("errorCode", "detail")
        if isinstance(found.get(name), str)
    }


def _check_date(answer: guarded_http.Answer, service: OutsideService, question: Question[M], now: datetime) -> None:
    if answer.dated_at is None:
        return
    age = say_age(answer.dated_at, now)
    if age > question.oldest_seconds:
        raise ServiceAnswerRefused(
            f"the answer of {service.label} is {age} seconds old, and at most {question.oldest_seconds} are taken",
            service=service.name,
            age_seconds=age,
        )


def _read(body: bytes, service: OutsideService, question: Question[M]) -> M:
    try:
        document = read_json(body, most_bytes=question.most_bytes)
    except OutsideTextRefused as refusal:
        why = f"has more than {question.most_bytes} bytes" if refusal.bound is Bound.SIZE else f"is none: {refusal}"
        raise ServiceAnswerRefused(f"the answer of {service.label} {why}", service=service.name) from None
    try:
        return question.shape.model_validate(document)
    except ValidationError as error:
        # Places in the shape, which is ours; never what stands there.
        places = sorted({".".join(str(part) for part in each["loc"][:4])[:60] for each in error.errors()[:3]})
        raise ServiceAnswerRefused(
            f"the answer of {service.label} has another shape than the one it publishes: {', '.join(places)}",
            service=service.name,
        ) from None


def _keep(access: ServiceAccess, digest: str, value: Any, now: datetime) -> None:  # Any: JSON, of its own shape
    outside_time = Q(answered_at__lt=now - _KEPT) | Q(answered_at__gt=now + _KEPT)
    KeptAnswer.objects.filter(outside_time, access=access).delete()
    KeptAnswer.objects.bulk_create(
        [KeptAnswer(access=access, question=digest, value=value, answered_at=now)],
        update_conflicts=True,
        update_fields=["value", "answered_at"],
        unique_fields=["access", "question"],
    )


def _tell(value: M, service: OutsideService, base: str, answered_at: datetime, now: datetime) -> Answered[M]:
    parts = urlsplit(base)
    said_at = answered_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    source = OutsideSource(service.name, f"{parts.scheme}://{parts.netloc}", said_at, say_age(answered_at, now))
    return Answered(value, source)

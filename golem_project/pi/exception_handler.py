"""Answers every refusal of the agent API as application/problem+json (RFC 9457), with its code and next step.

What is not one of our errors is translated to one; what is unknown becomes INTERNAL_ERROR, its trace goes to the log
under the request id and never to the caller.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final

import kombu.exceptions
import redis.exceptions
from django.core.exceptions import DisallowedHost, PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest
from rest_framework import exceptions as rest
from rest_framework.request import Request
from rest_framework.response import Response

from golem_project.metrics.counting import TALLY
from golem_project.metrics.measures import REFUSALS
from golem_project.middleware.request_id import current_request_id
from golem_project.pi import errors
from golem_project.pi.add_next_call import teach_caller
from golem_project.pi.authentication import REALM, RESOURCE_PATH
from golem_project.pi.list_invalid_fields import flatten_detail
from golem_project.pi.problem_members import Members, Problem
from permits_app.safety.hooks.result_filter import filter_result
from tools_app.core import clock
from tools_app.core.errors import (
    BrokerUnavailable,
    GolemError,
    InternalError,
    InvalidParams,
    Recovery,
    StorageFull,
)
from tools_app.core.resource_errors import is_full_disk, name_database_failure

logger = logging.getLogger(__name__)

_BROKER_FAILURES = (
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
    kombu.exceptions.OperationalError,
)
PROBLEM_JSON = "application/problem+json"
_CHALLENGE: Final = "WWW-Authenticate"
PERMIT_PATH = "/api/v1/pi/permits/"
_FIRST_MEMBERS = ("type", "title", "status", "detail", "instance", "code", "recovery", "request_id")
_POINTS_AT_PERMIT = frozenset({"PERMIT_ALREADY_COMMITTED", "SAME_ACTION_PENDING"})
# When to look again where nobody can tell when it clears, by code and for all others.
_LOOK_AGAIN_SECONDS = {"TOO_MANY_COMMITS_WAITING": 2, "IDEMPOTENCY_KEY_IN_USE": 2, "RATE_LIMITED": 60}
_LOOK_AGAIN_AFTER_SECONDS = 5


def answer_problem(error: Exception, context: Mapping[str, object]) -> Response:
    """The answer to any exception of a view. Registered with Django REST framework."""
    request = context.get("request")
    problem, headers = describe_problem(error, instance=request.path if isinstance(request, Request) else "")
    refusal = Problem(problem)
    TALLY.count(REFUSALS, refusal.code, str(refusal.rule))
    if isinstance(request, Request):
        problem.update(filter_result(teach_caller(problem, request)))
        if _CHALLENGE in headers:
            headers[_CHALLENGE] += _tell_where_tokens_come_from(request)
    return Response(problem, status=refusal.status, headers=headers, content_type=PROBLEM_JSON)


def _tell_where_tokens_come_from(request: Request) -> str:
    """Where clients learn how to get a token; nothing to who asks in this process, under no name of a host."""
    with suppress(DisallowedHost):
        return f', resource_metadata="{request.build_absolute_uri(RESOURCE_PATH)}"'
    return ""


def describe_problem(error: Exception, *, instance: str) -> tuple[Members, dict[str, str]]:
    """The RFC 9457 body and the headers that answer `error` at the path `instance`."""
    known = as_golem_error(error)
    if isinstance(known, InternalError) and known is not error:
        logger.error("unexpected failure at %s", instance, exc_info=error)
    problem = _body(known, instance=instance)
    return problem, _headers(Problem(problem), error)


def as_golem_error(error: Exception) -> GolemError:
    """`error` itself if it is one of ours, else the one it means to a caller."""
    if isinstance(error, GolemError):
        return error
    if isinstance(error, OperationalError | InterfaceError):
        logger.warning("database: %s", type(error).__name__)
        return name_database_failure(error, "nothing was changed; try again shortly")
    if any(is_full_disk(each) for each in (error, *_causes(error))):
        logger.warning("a file: no space")
        return StorageFull("a file could not be written; look the state up, and try again shortly")
    if isinstance(error, _BROKER_FAILURES):
        logger.warning("broker: %s", type(error).__name__)
        return BrokerUnavailable("nothing was accepted; try again shortly")
    if any(isinstance(cause, _BROKER_FAILURES) for cause in _causes(error)):
        # Celery wraps a lost result store in a RuntimeError; how far the call had come, only the state tells.
        logger.warning("broker, behind a %s", type(error).__name__)
        return BrokerUnavailable(
            "the task queue stopped answering; look the state up before you repeat this",
            recovery=Recovery.CHECK_STATE,
        )
    if isinstance(error, Http404 | rest.NotFound):
        return errors.RouteNotFound("no such path; GET /api/v1/pi/manifest lists the tools")
    if isinstance(error, PermissionDenied):
        return errors.Forbidden()
    if isinstance(error, rest.APIException):
        return _translate_rest(error)
    return InternalError("the failure is in our log under this request id")


def answer_request(error: Exception, request: HttpRequest) -> tuple[Members, dict[str, str]]:
    """As `describe_problem`, for code outside Django REST framework."""
    return describe_problem(error, instance=request.path)


def known_errors() -> Iterator[type[GolemError]]:
    """Every error class with a code of its own, in no order."""
    seen: set[type[GolemError]] = set()
    waiting: list[type[GolemError]] = [GolemError]
    while waiting:
        kind = waiting.pop()
        if kind not in seen:
            seen.add(kind)
            waiting.extend(kind.__subclasses__())
            if "code" in vars(kind):
                yield kind


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause = error.__cause__ or error.__context__
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _translate_rest(error: rest.APIException) -> GolemError:
    if isinstance(error, rest.MethodNotAllowed):
        return errors.MethodNotAllowedHere(str(error.detail))
    if isinstance(error, rest.UnsupportedMediaType):
        return errors.UnsupportedContentType("declare the body as application/json")
    if isinstance(error, rest.NotAcceptable):
        return errors.NotAcceptableHere("accept application/json")
    if isinstance(error, rest.ParseError):
        return errors.BodyNotJson(str(error.detail))
    if isinstance(error, rest.ValidationError):
        fields = flatten_detail(error.detail)
        return InvalidParams("; ".join(f"{name}: {text}" for name, text in fields.items()), fields=fields)
    if isinstance(error, rest.NotAuthenticated | rest.AuthenticationFailed):
        return errors.ApiKeyMissing()
    if isinstance(error, rest.PermissionDenied):
        return errors.Forbidden()
    return InternalError("the failure is in our log under this request id")


def _body(error: GolemError, *, instance: str) -> Members:
    members = error.as_problem()
    refusal = Problem(members)
    status = members.get("status")
    if not isinstance(status, int):
        # An error whose data has a `status` of its own, such as a permit's, must not hide the HTTP one.
        members.update(permit_status=status)
        status = _status_of(refusal.code, fallback=error.http_status)
    members.update(
        status=status,
        type=f"/errors/{refusal.code.lower()}",
        instance=instance,
        request_id=current_request_id(),
    )
    if refusal.recovery == Recovery.WAIT and not members.get("resets_at"):
        members.setdefault("retry_after_seconds", _LOOK_AGAIN_SECONDS.get(refusal.code, _LOOK_AGAIN_AFTER_SECONDS))
    ordered = {name: members.pop(name) for name in _FIRST_MEMBERS}
    # A detail may quote a token's own name; what a hook takes out of answers has no place in refusals either.
    filtered: Members = filter_result({**ordered, **members})
    return filtered


def _status_of(code: str, *, fallback: int) -> int:
    return next((kind.http_status for kind in known_errors() if kind.code == code), fallback)


def _headers(problem: Problem, error: Exception) -> dict[str, str]:
    headers: dict[str, str] = {}
    if problem.code == errors.ApiKeyMissing.code:
        headers |= {_CHALLENGE: REALM}
    elif problem.status == 401:
        headers |= {_CHALLENGE: f'{REALM}, error="invalid_token"'}
    elif problem.code == errors.ScopeMissing.code:
        headers |= {_CHALLENGE: f'{REALM}, error="insufficient_scope", scope="{problem.scope}"'}
    if problem.code in _POINTS_AT_PERMIT and problem.permit_id:
        headers |= {"Location": f"{PERMIT_PATH}{problem.permit_id}"}
    if problem.recovery == Recovery.WAIT or problem.code in _POINTS_AT_PERMIT:
        seconds = _retry_after(problem)
        if seconds is not None:
            headers |= {"Retry-After": str(seconds)}
    return headers


def _retry_after(problem: Problem) -> int | None:
    if isinstance(problem.retry_after_seconds, int):
        return problem.retry_after_seconds
    if isinstance(problem.resets_at, str):
        try:
            until = datetime.fromisoformat(problem.resets_at)
        except ValueError:
            return None
        if until.tzinfo is not None:
            return max(1, int((until - clock.now()).total_seconds()) + 1)
    return None

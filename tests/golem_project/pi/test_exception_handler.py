"""Whatever happens, the caller gets a problem with a code, and never our insides."""

from __future__ import annotations

import logging
from typing import Any

import kombu.exceptions
import pytest
import redis.exceptions
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.test import Client
from rest_framework import exceptions as rest

from golem_project.pi import lookup_views
from golem_project.pi.exception_handler import describe_problem, flatten_detail, known_errors
from permits_app.errors import PermitAlreadyCommitted, PolicyRejected, TooManyWaiting
from tests.golem_project.pi.conftest import Agent, assert_problem
from tools_app.core.errors import GolemError, InternalError, Recovery, RemoteProblem

SECRET = "postgres://golem:hunter2@10.0.0.7/golem"


def answer(error: Exception) -> tuple[dict[str, Any], dict[str, str]]:
    return describe_problem(error, instance="/api/v1/pi/query_state")


@pytest.mark.parametrize(
    ("error", "status", "code", "recovery"),
    [
        (OperationalError(SECRET), 503, "DATABASE_UNAVAILABLE", "WAIT"),
        (InterfaceError(SECRET), 503, "DATABASE_UNAVAILABLE", "WAIT"),
        (redis.exceptions.ConnectionError(SECRET), 503, "BROKER_UNAVAILABLE", "WAIT"),
        (redis.exceptions.TimeoutError(SECRET), 503, "BROKER_UNAVAILABLE", "WAIT"),
        (kombu.exceptions.OperationalError(SECRET), 503, "BROKER_UNAVAILABLE", "WAIT"),
        (Http404(SECRET), 404, "NOT_FOUND", "FIX_PARAMS"),
        (rest.MethodNotAllowed("GET"), 405, "METHOD_NOT_ALLOWED", "FIX_PARAMS"),
        (rest.NotAcceptable(SECRET), 406, "NOT_ACCEPTABLE", "FIX_PARAMS"),
        (rest.UnsupportedMediaType(SECRET), 415, "UNSUPPORTED_MEDIA_TYPE", "FIX_PARAMS"),
        (rest.PermissionDenied(SECRET), 403, "FORBIDDEN", "ASK_OWNER"),
        (rest.NotAuthenticated(SECRET), 401, "API_KEY_MISSING", "ASK_OWNER"),
        (rest.Throttled(), 500, "INTERNAL_ERROR", "CHECK_STATE"),
        (ZeroDivisionError(SECRET), 500, "INTERNAL_ERROR", "CHECK_STATE"),
        (KeyError(SECRET), 500, "INTERNAL_ERROR", "CHECK_STATE"),
    ],
)
def test_every_kind_of_failure_has_its_code_and_none_leaks(
    error: Exception, status: int, code: str, recovery: str
) -> None:
    problem, _ = answer(error)
    assert (problem["status"], problem["code"], problem["recovery"]) == (status, code, recovery)
    assert "hunter2" not in str(problem) and "10.0.0.7" not in str(problem)
    assert type(error).__name__ not in str(problem)


def test_a_broker_failure_behind_another_error_is_told_as_one_whose_reach_is_unknown() -> None:
    error = RuntimeError("must be restarted")
    error.__cause__ = redis.exceptions.ConnectionError(SECRET)
    problem, headers = answer(error)
    assert (problem["status"], problem["code"], problem["recovery"]) == (503, "BROKER_UNAVAILABLE", "CHECK_STATE")
    assert "Retry-After" not in headers


def test_an_unexpected_failure_answers_500_and_leaves_its_trace_in_the_log_only(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("the inside of the house")

    monkeypatch.setattr(lookup_views, "list_permits", fail)
    with caplog.at_level(logging.ERROR):
        response = agent.get("permits", **{"X-Request-Id": "find-me-in-the-log"})
    problem = assert_problem(response, 500, "INTERNAL_ERROR")
    assert problem["request_id"] == "find-me-in-the-log"
    assert "inside" not in response.content.decode() and "RuntimeError" not in response.content.decode()
    assert "the inside of the house" in caplog.text


def test_a_known_error_leaves_no_trace_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    answer(PolicyRejected("no"))
    answer(RemoteProblem(PolicyRejected("no").as_problem()))
    answer(InternalError())
    assert not caplog.records


def test_a_hooks_refusal_comes_through_with_its_figures() -> None:
    error = PolicyRejected(
        "too much",
        hook="spending_limiter",
        rule="spend.day",
        observed="$101",
        limit="$100",
        remaining="$3",
        resets_at="2999-01-01T00:00:00+00:00",
        would_pass="$3",
    )
    problem, headers = answer(error)
    assert {name: problem[name] for name in ("hook", "rule", "observed", "limit", "remaining", "would_pass")} == {
        "hook": "spending_limiter",
        "rule": "spend.day",
        "observed": "$101",
        "limit": "$100",
        "remaining": "$3",
        "would_pass": "$3",
    }
    assert "Retry-After" not in headers


def test_a_problem_of_a_worker_is_answered_as_it_was_raised_there() -> None:
    original = PolicyRejected("too much", hook="h", rule="r", recovery=Recovery.WAIT, resets_at="2999-01-01T00:00:00Z")
    here, headers = answer(RemoteProblem(original.as_problem()))
    assert {**here, "hook": "h"} == answer(original)[0]
    assert int(headers["Retry-After"]) > 10**9


def test_a_permits_own_status_never_replaces_the_http_status() -> None:
    error = PermitAlreadyCommitted("again", status="COMMITTED", permit_id="abc", tx_hashes=["0x1"])
    for raised in (error, RemoteProblem(error.as_problem())):
        problem, headers = answer(raised)
        assert (problem["status"], problem["permit_status"]) == (409, "COMMITTED")
        assert headers["Location"] == "/api/v1/pi/permits/abc"


def test_a_refusal_quotes_no_hidden_characters_and_no_secret() -> None:
    problem, _ = answer(PolicyRejected("token US\u202eDC with golem_" + "x" * 43, rpc_url="http://node"))
    assert problem["detail"] == "token USDC with [removed]"
    assert problem["rpc_url"] == "[removed]"


def test_a_wait_says_how_long() -> None:
    assert answer(TooManyWaiting(retry_after_seconds=7))[1]["Retry-After"] == "7"
    assert answer(OperationalError())[1]["Retry-After"] == "5"


def test_members_come_in_a_fixed_order() -> None:
    problem, _ = answer(PolicyRejected("no", rule="r"))
    assert list(problem) == [
        "type",
        "title",
        "status",
        "detail",
        "instance",
        "code",
        "recovery",
        "request_id",
        "rule",
    ]


def test_nested_messages_become_one_level() -> None:
    detail = {"filters": {"tokens": ["bad", "worse"]}, "non_field_errors": ["whole"]}
    assert flatten_detail(detail) == {"filters.tokens": "bad worse", "body": "whole"}


def test_a_code_means_one_thing_wherever_it_is_raised() -> None:
    meanings: dict[str, tuple[int, str]] = {}
    ours = ("tools_app", "permits_app", "memory_app", "archetypes_app", "golem_project")
    for kind in known_errors():
        if kind is not GolemError and kind.__module__.startswith(ours):
            meaning = (kind.http_status, str(kind.recovery))
            assert meanings.setdefault(kind.code, meaning) == meaning, kind
            assert kind.code == kind.code.upper() and kind.title and 400 <= kind.http_status < 600
    assert len(meanings) > 40


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v2/pi/manifest", "/api/v1/pi/permits/not-a-uuid", "/api/"])
def test_an_unknown_path_of_the_api_is_a_problem(path: str) -> None:
    assert_problem(Client().get(path), 404, "NOT_FOUND", "FIX_PARAMS")


def test_an_unknown_page_is_a_page() -> None:
    response = Client().get("/nothing")
    assert response.status_code == 404
    assert response.headers["Content-Type"].startswith("text/html")


def test_a_wrong_host_is_refused_as_a_problem_without_naming_hosts(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["golem.test"]
    response = Client().get("/api/v1/pi/manifest", headers={"Host": "evil.test"})
    assert_problem(response, 400, "BAD_REQUEST")
    assert "golem.test" not in response.content.decode()

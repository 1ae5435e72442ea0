"""Idempotency-Key over HTTP: one effect, the first answer again, and a plain word when it is misused."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection
from drf_spectacular.generators import SchemaGenerator
from rest_framework.views import APIView

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models.api_key import Scope
from golem_project.pi import urls
from golem_project.pi.idempotency import FirstRequest, IdempotencyKeyInUse, IdempotentView, claim_key
from memory_app.models import Directive
from permits_app.actions.sweep_permits import forget_answers
from permits_app.models import ActionPermit, IdempotencyRecord
from tests.factories.golems import make_golem, make_owner
from tests.golem_project.pi.conftest import Agent, assert_problem
from tools_app.core import clock

CHANGE = {"section": "Notes", "change": "Buy low.", "reason": "because"}
KEY = {"Idempotency-Key": "one-1"}


def test_a_repeat_gets_the_first_answer_and_the_effect_happens_once(agent: Agent) -> None:
    first = agent.post("update_directive", CHANGE, **KEY)
    again = agent.post("update_directive", CHANGE, **KEY)
    assert first.status_code == again.status_code == 200
    assert first.content == again.content
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    plain = agent.post("update_directive", {**CHANGE, "change": "Buy lower."})
    assert plain.json()["version"] == first.json()["version"] + 1


def test_a_refusal_is_replayed_with_its_status_type_and_code(agent: Agent) -> None:
    first = agent.post("commit_action", {"permit_id": "00000000-0000-4000-8000-000000000000"}, **KEY)
    again = agent.post("commit_action", {"permit_id": "00000000-0000-4000-8000-000000000000"}, **KEY)
    assert (first.status_code, first.json()["code"]) == (404, "PERMIT_NOT_FOUND")
    assert first.content == again.content
    assert again.headers["Content-Type"] == first.headers["Content-Type"] == "application/problem+json"
    assert again.headers["Idempotent-Replayed"] == "true"


def test_the_same_key_with_another_body_is_refused(agent: Agent) -> None:
    agent.post("update_directive", CHANGE, **KEY)
    other = agent.post("update_directive", {**CHANGE, "change": "Sell high."}, **KEY)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


def test_the_order_of_fields_does_not_make_another_request(agent: Agent) -> None:
    agent.post("update_directive", CHANGE, **KEY)
    again = agent.post("update_directive", dict(reversed(CHANGE.items())), **KEY)
    assert again.headers["Idempotent-Replayed"] == "true"


def test_a_key_belongs_to_one_token(make_agent: object) -> None:
    one, other = make_agent(), make_agent()  # type: ignore[operator]
    one.post("update_directive", CHANGE, **KEY)
    answer = other.post("update_directive", {**CHANGE, "change": "Other."}, **KEY)
    assert answer.status_code == 200
    assert "Idempotent-Replayed" not in answer.headers


@pytest.mark.parametrize("key", ["", "x" * 201, "two words", "ümlaut"])
def test_a_malformed_key_is_refused_before_anything_happens(agent: Agent, key: str) -> None:
    answer = agent.post("update_directive", CHANGE, **{"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "IDEMPOTENCY_KEY_INVALID")
    assert not IdempotencyRecord.objects.exists()


def test_a_read_takes_no_notice_of_the_key(agent: Agent) -> None:
    agent.post("query_state", {"query": "golem"}, **KEY)
    assert not IdempotencyRecord.objects.exists()


def test_a_running_first_request_is_told_and_a_dead_one_is_replaced(agent: Agent) -> None:
    now = clock.now()
    args: dict[str, Any] = {"api_key": agent.key.key, "key": "k", "request_digest": "0x1"}
    first = claim_key(**args, now=now)
    assert isinstance(first, FirstRequest)
    with pytest.raises(IdempotencyKeyInUse):
        claim_key(**args, now=now + timedelta(seconds=59))
    second = claim_key(**args, now=now + timedelta(seconds=60))
    assert isinstance(second, FirstRequest)
    first.keep(status=200, headers={}, body='"late"')
    assert IdempotencyRecord.objects.get().status == 0
    second.keep(status=200, headers={}, body='"kept"')
    kept = claim_key(**args, now=now + timedelta(seconds=61))
    assert isinstance(kept, IdempotencyRecord)
    assert kept.body == '"kept"'


def test_an_answer_is_kept_for_a_day_and_not_a_moment_longer(agent: Agent) -> None:
    now = clock.now()
    args: dict[str, Any] = {"api_key": agent.key.key, "key": "k", "request_digest": "0x1"}
    claim = claim_key(**args, now=now)
    assert isinstance(claim, FirstRequest)
    claim.keep(status=200, headers={}, body="1")
    assert isinstance(claim_key(**args, now=now + timedelta(hours=24, milliseconds=-1)), IdempotencyRecord)
    assert forget_answers(now=now + timedelta(hours=24, milliseconds=-1)) == 0
    assert isinstance(claim_key(**args, now=now + timedelta(hours=24)), FirstRequest)


def test_of_sixty_four_requests_at_once_one_is_the_first(transactional_db: None) -> None:
    golem = make_golem(owner=make_owner(name="idempotent"))
    key = create_api_key(golem=golem, scopes=Scope.values, label="t", created_by=golem.owner, now=clock.now()).key
    gate = threading.Barrier(64)
    errors: list[DatabaseError] = []

    def note_errors(execute: Any, *args: Any) -> Any:
        try:
            return execute(*args)
        except DatabaseError as error:
            errors.append(error)
            raise

    def claim(_: int) -> str:
        try:
            connection.execute_wrappers.append(note_errors)
            gate.wait(timeout=60)
            return type(claim_key(api_key=key, key="k", request_digest="0x1", now=clock.now())).__name__
        except IdempotencyKeyInUse:
            return "in use"
        finally:
            connection.execute_wrappers.clear()
            connection.close()

    with ThreadPoolExecutor(64) as pool:
        answers = Counter(pool.map(claim, range(64)))
    assert answers == {FirstRequest.__name__: 1, "in use": 63}
    assert not errors, "the log of the database tells of no error where nothing is wrong"


def lose(statement: str) -> Any:
    """The database goes away when a claim is settled by this kind of statement."""

    def execute(run: Any, sql: Any, *args: Any) -> Any:
        if (
            str(sql).startswith(statement)
            and '"permits_app_idempotencyrecord"."claim"' in str(sql).partition("WHERE")[2]
        ):
            raise OperationalError("the connection is gone")
        return run(sql, *args)

    return connection.execute_wrapper(execute)


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_cannot_be_kept_says_to_look_the_state_up(agent: Agent) -> None:
    with lose("UPDATE"):
        problem = assert_problem(
            agent.post("update_directive", CHANGE, **KEY), 503, "DATABASE_UNAVAILABLE", "CHECK_STATE"
        )
    assert "was carried out" in problem["detail"]
    assert Directive.objects.filter(golem=agent.golem).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_refusal_whose_claim_cannot_be_given_up_stays_the_refusal(agent: Agent, settings: Any) -> None:
    taken = {"Idempotency-Key": "two-2"}
    with connection.execute_wrapper(lose_directives), lose("DELETE"):
        assert_problem(agent.post("update_directive", CHANGE, **taken), 503, "DATABASE_UNAVAILABLE", "WAIT")
    record = IdempotencyRecord.objects.get(key="two-2")
    assert record.status == 0, "its lock ends by itself, and then the same key may try again"


def lose_directives(run: Any, sql: Any, *args: Any) -> Any:
    if "memory_app_directive" in str(sql):
        raise OperationalError("the connection is gone")
    return run(sql, *args)


def test_the_schema_documents_the_header_at_every_post_with_an_effect() -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)
    documented = {
        operation["operationId"]
        for methods in document["paths"].values()
        for method, operation in methods.items()
        if method == "post" and {"$ref": "#/components/parameters/Idempotency-Key"} in operation.get("parameters", [])
    }
    shared = document["components"]["parameters"]["Idempotency-Key"]
    assert (shared["name"], shared["in"]) == ("Idempotency-Key", "header")
    assert {"preview_action", "commit_action", "cancel_action", "update_directive", "emergency_halt"} <= documented
    assert not documented & {"query_state", "search_context", "query_grimoire"}


def list_posts() -> dict[str, type[APIView]]:
    """Every view of the API that takes a POST under a path of its own, by its path's name."""
    found = {}
    for pattern in urls.urlpatterns:
        view = getattr(pattern.callback, "view_class", None) or getattr(pattern.callback, "cls", None)
        if view is not None and hasattr(view, "post") and pattern.name != "unknown_tool":
            found[str(pattern.name)] = view
    return found


def test_every_post_with_an_effect_honours_the_key_and_documents_it() -> None:
    effects = {name: view for name, view in list_posts().items() if vars(view).get("required_scope") is not Scope.READ}
    assert len(effects) >= 5 and set(effects) == set(WITH_AN_EFFECT)
    assert all(issubclass(view, IdempotentView) for view in effects.values())


WITH_AN_EFFECT: dict[str, dict[str, str]] = {
    "preview_action": {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"},
    "commit_action": {"permit_id": "00000000-0000-4000-8000-000000000000"},
    "cancel_action": {"permit_id": "00000000-0000-4000-8000-000000000000", "reason": "x"},
    "update_directive": CHANGE,
    "emergency_halt": {"reason": "enough"},
}


@pytest.mark.parametrize("tool", WITH_AN_EFFECT)
def test_the_first_answer_is_given_again_and_another_body_refused(live: Agent, tasks_here: None, tool: str) -> None:
    """Whatever the first answer was, for each tool; and while the first one runs, the second is told so."""
    body = WITH_AN_EFFECT[tool]
    first, again = live.post(tool, body, **KEY), live.post(tool, body, **KEY)
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    permits = ActionPermit.objects.count()
    other = live.post(tool, {**body, "more": "x"}, **KEY)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    IdempotencyRecord.objects.update(status=0)
    running = live.post(tool, body, **KEY)
    assert (running.status_code, running.json()["code"]) == (409, "IDEMPOTENCY_KEY_IN_USE")
    assert ActionPermit.objects.count() == permits == (1 if tool == "preview_action" else 0)

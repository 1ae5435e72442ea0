"""Who gets in: every endpoint against every kind of caller, as a table."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver
from rest_framework.views import APIView

from archetypes_app.actions.revoke_api_key import revoke_api_key, rotate_api_key
from archetypes_app.models import ApiKey
from archetypes_app.models.api_key import Scope
from golem_project.pi import lookup_views, urls
from golem_project.pi.authentication import LAST_USE_STEP, identify
from tests.golem_project.pi.conftest import PI, Agent, MakeAgent, assert_problem
from tests.passing_time import let_pass_until
from tools_app.core import clock

UNKNOWN_PERMIT = "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d"
ENDPOINTS: list[tuple[str, str, Any, str]] = [
    ("POST", "preview_action", {"action_type": "swap"}, "preview"),
    ("POST", "commit_action", {"permit_id": UNKNOWN_PERMIT}, "commit"),
    ("POST", "cancel_action", {"permit_id": UNKNOWN_PERMIT, "reason": "no"}, "preview"),
    ("POST", "query_state", {"query": "golem"}, "read"),
    ("POST", "search_context", {"query": "risk"}, "read"),
    ("POST", "query_grimoire", {"query": "swaps"}, "read"),
    ("POST", "update_directive", {"section": "Exits", "change": "Sell.", "reason": "seen"}, "directive"),
    ("POST", "emergency_halt", {"reason": "drained"}, "halt"),
    ("GET", "manifest", None, "read"),
    ("GET", "permits", None, "read"),
    ("GET", f"permits/{UNKNOWN_PERMIT}", None, "read"),
]
IDS = [endpoint[1].split("/")[0] + endpoint[0] for endpoint in ENDPOINTS]


def call(agent: Agent, method: str, path: str, body: Any, **headers: str) -> Any:
    return agent.get(path, **headers) if method == "GET" else agent.post(path, body, **headers)


@pytest.mark.parametrize(("method", "path", "body", "scope"), ENDPOINTS, ids=IDS)
@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "API_KEY_MISSING"),
        ("Basic Zm9vOmJhcg==", "API_KEY_MISSING"),
        ("Bearer", "API_KEY_INVALID"),
        ("Bearer golem_wrong", "API_KEY_INVALID"),
        ("Bearer golem_é", "API_KEY_INVALID"),
        ("Bearer other_prefix", "API_KEY_INVALID"),
        ("Bearer golem_" + "x" * 5_000, "API_KEY_INVALID"),
    ],
    ids=["none", "basic", "empty", "wrong", "not ascii", "prefix", "long"],
)
def test_no_endpoint_lets_a_caller_without_a_good_token_in(
    agent: Agent, method: str, path: str, body: Any, scope: str, header: str, code: str
) -> None:
    response = call(agent, method, path, body, Authorization=header)
    assert_problem(response, 401, code, "ASK_OWNER")
    assert response.headers["WWW-Authenticate"].startswith('Bearer realm="golem"')


@pytest.mark.parametrize(("method", "path", "body", "scope"), ENDPOINTS, ids=IDS)
def test_every_endpoint_refuses_an_expired_and_a_revoked_token(
    make_agent: MakeAgent, method: str, path: str, body: Any, scope: str
) -> None:
    expired, revoked = make_agent(), make_agent()
    revoke_api_key(key=revoked.key.key, revoked_by=revoked.golem.owner, now=clock.now())
    assert_problem(call(revoked, method, path, body), 401, "API_KEY_REVOKED", "ASK_OWNER")
    let_pass_until(expired.key.key.expires_at)
    assert_problem(call(expired, method, path, body), 401, "API_KEY_EXPIRED", "ASK_OWNER")


@pytest.mark.parametrize(("method", "path", "body", "scope"), ENDPOINTS, ids=IDS)
def test_every_endpoint_needs_its_own_scope_and_names_it(
    make_agent: MakeAgent, method: str, path: str, body: Any, scope: str
) -> None:
    others = [name for name in Scope.values if name != scope]
    response = call(make_agent(scopes=others), method, path, body)
    problem = assert_problem(response, 403, "SCOPE_MISSING", "ASK_OWNER")
    assert problem["scope"] == scope
    assert problem["scopes"] == sorted(others)
    assert 'error="insufficient_scope"' in response.headers["WWW-Authenticate"]


def test_every_view_of_the_api_names_a_scope_or_is_the_public_schema() -> None:
    open_views = []
    for pattern in urls.urlpatterns:
        view = pattern.callback.view_class  # type: ignore[attr-defined]
        assert issubclass(view, APIView)
        if getattr(view, "required_scope", None) is None:
            open_views.append(pattern.name)
    assert open_views == ["schema", "docs"]


def test_a_view_without_a_scope_lets_nobody_in(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup_views.PermitListView, "required_scope", None)
    assert_problem(agent.get("permits"), 403, "FORBIDDEN", "ASK_OWNER")


def test_a_good_token_reads_its_own_golem_only(make_agent: MakeAgent) -> None:
    one, other = make_agent(), make_agent()
    assert one.get("manifest").json()["golem"]["golem_id"] == str(one.golem.pk)
    assert other.get("manifest").json()["golem"]["golem_id"] == str(other.golem.pk)


def test_an_admin_session_is_no_way_in(agent: Agent) -> None:
    client = Client()
    client.force_login(agent.golem.owner)
    assert_problem(client.get(f"{PI}/manifest"), 401, "API_KEY_MISSING")


def test_rotation_ends_the_old_token_on_the_next_request(agent: Agent) -> None:
    assert agent.get("permits").status_code == 200
    fresh = rotate_api_key(key=agent.key.key, rotated_by=agent.golem.owner, now=clock.now())
    assert_problem(agent.get("permits"), 401, "API_KEY_REVOKED")
    agent.key = fresh
    assert agent.get("permits").status_code == 200


def test_a_key_and_its_golem_cost_one_query(agent: Agent) -> None:
    ApiKey.objects.filter(pk=agent.key.key.pk).update(last_used_at=clock.now())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        key = identify(agent.key.token, now=clock.now())
        assert key.golem.archetype.name
    assert len(queries) == 1


def test_the_last_use_is_written_at_most_once_a_minute(agent: Agent) -> None:
    first = clock.now()
    identify(agent.key.token, now=first)
    identify(agent.key.token, now=first + LAST_USE_STEP / 2)
    assert ApiKey.objects.get(pk=agent.key.key.pk).last_used_at == first
    later = first + LAST_USE_STEP * 2
    identify(agent.key.token, now=later)
    assert ApiKey.objects.get(pk=agent.key.key.pk).last_used_at == later


def test_a_manifest_costs_eight_queries_at_most(agent: Agent) -> None:
    agent.get("manifest")
    with CaptureQueriesContext(connection) as queries:
        assert agent.get("manifest").status_code == 200
    assert len(queries) <= 8, [query["sql"] for query in queries]


def test_the_api_has_no_route_outside_this_table() -> None:
    found = {pattern.name for pattern in get_resolver("golem_project.pi.urls").url_patterns}  # type: ignore[union-attr]
    listed = {path.split("/")[0] for _, path, _, _ in ENDPOINTS} | {"permit", "unknown_tool", "schema", "docs"}
    assert found == listed

"""Every route with every kind of token: no agent edits a policy, decides a request, or reads a page of a person."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from archetypes_app.models import Golem
from archetypes_app.models.api_key import Scope
from permits_app.models import AllowlistEntry, ChangeRequest, OwnerApproval, PolicyCage, SpendingLimits, Warden
from tests import factories

pytestmark = pytest.mark.django_db

_SAMPLES = {"uuid": str(uuid.UUID(int=1)), "int": "1", "slug": "x", "str": "x", "path": "x"}
_POLICY = (
    "policy",
    "spending",
    "allowlist",
    "changerequest",
    "warden",
    "owners",
    "strategy",
    "phase",
    "resume",
    "cage",
    "sign",
)


def _walk(patterns: Any, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from _walk(each.url_patterns, prefix + str(each.pattern))
        elif isinstance(each, URLPattern):
            yield prefix + str(each.pattern), dict(each.pattern.converters)


def _fill(route: str, ids: dict[str, str]) -> str:
    """A path with an existing id in every place that takes one."""
    parts = []
    for piece in route.replace("^", "").replace("$", "").split("/"):
        if piece.startswith("<") and piece.endswith(">"):
            kind, _, name = piece[1:-1].rpartition(":")
            piece = ids.get(name) or _SAMPLES.get(kind or "str", "x")
        parts.append(piece)
    return "/" + "/".join(parts)


def _freeze(golem: Golem) -> dict[str, Any]:
    """Everything an agent must not move."""
    return {
        "limits": list(SpendingLimits.objects.values()),
        "cage": list(PolicyCage.objects.values()),
        "allowlist": list(AllowlistEntry.objects.values()),
        "warden": list(Warden.objects.values()),
        "requests": list(ChangeRequest.objects.values("pk", "state", "digest", "repeats")),
        "decisions": OwnerApproval.objects.count(),
        "golem": Golem.objects.filter(pk=golem.pk).values("phase", "owner_id", "is_live", "halted_at").get(),
        "co_owners": sorted(golem.co_owners.values_list("pk", flat=True)),
    }


@pytest.fixture
def golem() -> Golem:
    owner = factories.make_owner()
    golem = factories.make_golem(owner=owner)
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    factories.make_allowlist_entry(golem=golem)
    return golem


def _list_routes() -> list[str]:
    return sorted({route for route, _ in _walk(get_resolver().url_patterns)})


def test_the_walk_sees_the_routes_that_matter() -> None:
    routes = _list_routes()
    assert len(routes) > 150
    for word in ("api/v1/pi/commit_action", "changerequest/<uuid:object_id>/decide/", "golem/<uuid:golem_id>/warden/"):
        assert any(word in route for route in routes), word


@pytest.mark.parametrize("scopes", [[scope] for scope in Scope.values] + [list(Scope.values)], ids="+".join)
def test_no_token_reaches_a_policy_or_a_decision_on_any_route(golem: Golem, scopes: list[str]) -> None:
    request = factories.make_change_request(golem=golem)
    key = factories.make_api_key(golem=golem, scopes=scopes)
    ids = {
        "golem_id": str(golem.pk),
        "object_id": str(request.pk),
        "permit_id": str(uuid.UUID(int=2)),
        "request_id": str(request.pk),
        "number": "1",
    }
    body = json.dumps(
        {
            "verdict": "APPROVE",
            "digest": request.digest,
            "reason": "please",
            "code": "123456",
            "text": "hello",
            "to": "CAUTIOUS",
            "writes_per_hour": "999",
        }
    )
    before, client = _freeze(golem), Client()
    headers = {"Authorization": f"Bearer {key.token}"}
    reached: list[str] = []
    for route in _list_routes():
        path = _fill(route, ids)
        if "emergency_halt" in path or "logout" in path or "(?P" in path:
            continue
        for method in ("GET", "POST"):
            answer = client.generic(method, path, body if method == "POST" else "", "application/json", headers=headers)
            if answer.status_code < 300 and any(word in path for word in _POLICY):
                reached.append(f"{method} {path}")
            assert answer.status_code < 500 or "readyz" in path or "healthz" in path, (
                method,
                path,
                answer.content[:300],
            )
    assert reached == []
    assert _freeze(golem) == before


def test_a_token_is_no_login_for_a_persons_pages(golem: Golem) -> None:
    request = factories.make_change_request(golem=golem)
    key = factories.make_api_key(golem=golem, scopes=list(Scope.values))
    answer = Client().post(
        f"/admin/permits_app/changerequest/{request.pk}/decide/",
        {"verdict": "APPROVE", "digest": request.digest},
        headers={"Authorization": f"Bearer {key.token}"},
    )
    assert answer.status_code == 302
    assert "/login/" in answer["Location"]

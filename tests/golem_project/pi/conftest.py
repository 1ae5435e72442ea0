"""Golems, tokens and a client that speaks for one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from archetypes_app.actions.create_api_key import NewApiKey, create_api_key
from archetypes_app.models import Archetype, Golem, ToolProfile
from archetypes_app.models.api_key import Scope
from golem_project.celery import app as celery_app
from tests.live_golem import LiveGolem
from tools_app.core import clock

PI = "/api/v1/pi"
SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


@dataclass
class Agent:
    """A golem, one of its tokens, and HTTP calls made with it."""

    golem: Golem
    key: NewApiKey
    client: Client

    def post(self, tool: str, body: Any = None, **headers: str) -> Any:
        return self.send("POST", f"{PI}/{tool}", json.dumps(body if body is not None else {}), **headers)

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(f"{PI}/{path}", headers={**self._headers(), **headers})

    def send(
        self, method: str, path: str, body: str | bytes, *, content_type: str = "application/json", **headers: str
    ) -> Any:
        return self.client.generic(
            method, path, body, content_type=content_type, headers={**self._headers(), **headers}
        )

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key.token}"}


MakeAgent = Callable[..., Agent]


@pytest.fixture
def make_agent(db: None) -> MakeAgent:
    """Makes an agent: `make_agent(profiles=["trader"], scopes=["read"], address="")`; it is shown every tool."""
    made = 0

    def make(
        *,
        categories: Sequence[str] = ("trading", "lp"),
        scopes: Iterable[str] = Scope.values,
        address: str = WALLET,
        lifetime_days: int = 90,
        most_tools: int | None = None,
        **columns: Any,
    ) -> Agent:
        nonlocal made
        made += 1
        owner = get_user_model().objects.create(username=f"owner-{made}")
        archetype = Archetype.objects.create(name=f"kind-{made}", category="execution")
        golem = Golem.objects.create(name=f"Golem {made}", owner=owner, archetype=archetype, address=address, **columns)
        profile = ToolProfile.objects.create(name=f"profile-{made}", categories=list(categories))
        golem.profiles.add(profile)
        key = create_api_key(
            golem=golem,
            scopes=scopes,
            label="test",
            created_by=owner,
            now=clock.now(),
            lifetime_days=lifetime_days,
            most_tools=most_tools,
        )
        return Agent(golem=golem, key=key, client=Client())

    return make


@pytest.fixture
def agent(make_agent: MakeAgent) -> Agent:
    """An agent with every scope and a wallet."""
    return make_agent()


@pytest.fixture
def live(shared_golem: LiveGolem) -> Agent:
    """An agent whose golem can really act on the local chain."""
    return Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())


@pytest.fixture
def tasks_here() -> Iterator[None]:
    """Tasks run in the calling process."""
    celery_app.conf.task_always_eager, before = True, celery_app.conf.task_always_eager
    yield
    celery_app.conf.task_always_eager = before


def assert_problem(response: Any, status: int, code: str, recovery: str | None = None) -> dict[str, Any]:
    """The response is a well-formed problem with this status and code; answers its body."""
    assert response.headers["Content-Type"] == "application/problem+json", response.content
    problem: dict[str, Any] = response.json()
    assert (response.status_code, problem["code"]) == (status, code), problem
    assert problem["status"] == status
    assert problem["type"] == f"/errors/{code.lower()}"
    assert problem["request_id"] == response.headers["X-Request-Id"]
    assert problem["title"] and problem["detail"] and problem["instance"].startswith("/")
    if recovery is not None:
        assert problem["recovery"] == recovery
    assert "Traceback" not in response.content.decode()
    return problem

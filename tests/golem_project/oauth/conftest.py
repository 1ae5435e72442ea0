"""An agent that signs in with Authlib's own client, and a person who types its code on the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from tests import factories
from tools_app.core import clock

HERE = "http://127.0.0.1:8000"


@dataclass
class Clock:
    """The product's clock, which a test moves."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    def move(self, **span: float) -> None:
        self.at += timedelta(**span)


@pytest.fixture
def moving(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(clock.now())
    monkeypatch.setattr(clock, "now", made.now)
    return made


class Through(httpx2.BaseTransport):
    """To the product in this process, and with this test's transaction."""

    def __init__(self, address: str) -> None:
        self._client, self._address = Client(raise_request_exception=False), address

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = self._client.generic(
            request.method,
            request.url.raw_path.decode(),
            request.read(),
            content_type=request.headers.get("Content-Type", "application/octet-stream"),
            headers={name: value for name, value in request.headers.items() if name.lower() != "content-length"},
            secure=request.url.scheme == "https",
            REMOTE_ADDR=self._address,
        )
        return httpx2.Response(answer.status_code, headers=dict(answer.headers), content=answer.getvalue())


@dataclass
class Signing:
    """An agent on another machine: what it was told, and its requests."""

    name: str = "trader"
    address: str = "203.0.113.7"

    def __post_init__(self) -> None:
        self.client = OAuth2Client(
            client_id=self.name,
            token_endpoint_auth_method="none",
            transport=Through(self.address),
            base_url=HERE,
        )
        self.told: dict[str, Any] = {}

    def ask(self, scope: str = "read preview commit") -> httpx2.Response:
        body = {"client_id": self.name, "scope": scope}
        answer = self.client.request("POST", "/oauth/device_authorization", data=body, withhold_token=True)
        self.told = answer.json()
        return answer

    def poll(self, **changes: str) -> httpx2.Response:
        body = {
            "grant_type": DEVICE_CODE_GRANT_TYPE,
            "device_code": self.told["device_code"],
            "client_id": self.name,
            **changes,
        }
        return self.client.request("POST", "/oauth/token", data=body, withhold_token=True)

    def collect(self) -> dict[str, Any]:
        """As the library does it."""
        token: dict[str, Any] = self.client.fetch_token(
            f"{HERE}/oauth/token", grant_type=DEVICE_CODE_GRANT_TYPE, device_code=self.told["device_code"]
        )
        return token

    def renew(self, token: str = "") -> httpx2.Response:
        body = {
            "grant_type": "refresh_token",
            "refresh_token": token or self.client.token["refresh_token"],
            "client_id": self.name,
        }
        return self.client.request("POST", "/oauth/token", data=body, withhold_token=True)

    def read(self, access_token: str = "") -> httpx2.Response:
        token = access_token or self.client.token["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        return self.client.request("GET", "/api/v1/pi/manifest", headers=headers, withhold_token=True)


@dataclass
class Person:
    """An owner at the page."""

    user: Any
    golem: Golem

    def __post_init__(self) -> None:
        self.browser = Client()
        self.browser.force_login(self.user)

    def type_code(self, code: str) -> str:
        return self.browser.post(reverse("sign_in_agent"), {"code": code}).content.decode()

    def decide(self, code: str, did: str = "approve", **changes: Any) -> Any:
        body = {
            "code": code,
            "do": did,
            "golem": str(self.golem.pk),
            "scopes": ["read", "preview"],
            "lifetime_days": "30",
            "is_mine": "on",
            **changes,
        }
        return self.browser.post(reverse("sign_in_agent"), body)


@pytest.fixture
def person(db: None) -> Person:
    owner = factories.make_owner(name="ana")
    return Person(owner, factories.make_golem(owner=owner, name="Alpha"))


@pytest.fixture
def stranger(db: None) -> Person:
    owner = factories.make_owner(name="eve")
    return Person(owner, factories.make_golem(owner=owner, name="Omega"))


@pytest.fixture
def agent(person: Person) -> Iterator[Signing]:
    made = Signing()
    with made.client:
        yield made


@pytest.fixture
def signed_in(person: Person, agent: Signing, moving: Clock) -> Signing:
    """An agent that was approved and has its first tokens."""
    agent.ask()
    person.decide(agent.told["user_code"])
    agent.collect()
    return agent

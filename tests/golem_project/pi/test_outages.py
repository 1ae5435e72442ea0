"""What an agent is told while the database or the broker is away: a 503 with its code, and nothing started."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connections
from django.test import Client

from permits_app.models import ActionPermit
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.core import clock


@pytest.fixture
def closed_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def broker_down(closed_port: int, settings: Any) -> Iterator[None]:
    """Cache and readiness point at a closed port."""
    url = f"redis://127.0.0.1:{closed_port}/0"
    settings.REDIS_URL = url
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": url}}
    yield
    caches.close_all()


_PREVIEW = """
import django, json, sys
django.setup()
from django.test import Client
answer = Client().post("/api/v1/pi/preview_action", b'{"action_type": "swap"}', content_type="application/json",
                       headers={"Authorization": "Bearer " + sys.stdin.read().strip()})
print(json.dumps([answer.status_code, dict(answer.headers), answer.json()]))
"""


def test_a_preview_without_a_broker_is_refused_and_nothing_is_started(
    transactional_db: None, make_agent: MakeAgent, closed_port: int
) -> None:
    # A process of its own: Celery reads the broker's address once, when it starts.
    agent = make_agent()
    database = os.environ["DATABASE_URL"].rpartition("/")[0] + "/" + connections["default"].settings_dict["NAME"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PREVIEW],
        env={**os.environ, "DATABASE_URL": database, "REDIS_URL": f"redis://127.0.0.1:{closed_port}/0"},
        input=agent.key.token,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    status, headers, problem = json.loads(done.stdout.splitlines()[-1])
    assert (status, problem["code"], problem["recovery"]) == (503, "BROKER_UNAVAILABLE", "WAIT"), done.stderr
    assert headers["Content-Type"] == "application/problem+json" and headers["Retry-After"] == "5"
    assert "127.0.0.1" not in str(problem)
    assert ActionPermit.objects.count() == 0


@pytest.mark.usefixtures("broker_down")
def test_a_commit_that_cannot_wait_without_a_broker_is_not_started(agent: Agent) -> None:
    permit = ActionPermit.objects.create(
        golem=agent.golem,
        tool_name="t",
        action_type="swap",
        venue="uniswap",
        chain_id=1,
        action_hash="0x1",
        action_class="REBALANCE",
        risk_tier="STANDARD",
        plan_hash="0x2",
        policy_hash="0x3",
        expires_at=clock.now() + timedelta(minutes=1),
    )
    assert_problem(agent.post("commit_action", {"permit_id": str(permit.pk)}), 503, "BROKER_UNAVAILABLE", "WAIT")
    permit.refresh_from_db()
    assert permit.status == "CREATED"


@pytest.mark.usefixtures("broker_down")
def test_reads_of_our_own_rows_work_without_a_broker(agent: Agent) -> None:
    assert agent.post("query_state", {"query": "limits"}).status_code == 200
    assert agent.get("permits").status_code == 200


@pytest.mark.usefixtures("broker_down")
def test_a_halt_works_without_a_broker(agent: Agent) -> None:
    assert agent.post("emergency_halt", {"reason": "the queue is gone too"}).json()["halted"] is True


@pytest.mark.usefixtures("broker_down")
def test_readiness_names_the_broker_and_not_its_address(db: None) -> None:
    response = Client().get("/readyz")
    checks = {check["name"]: check for check in response.json()["checks"]}
    assert response.status_code == 503
    assert checks["broker"]["ok"] is False and checks["database"]["ok"] is True
    assert "127.0.0.1" not in response.content.decode()


@pytest.fixture
def database_down(closed_port: int, django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The default connection of this thread leads to a closed port."""
    with django_db_blocker.unblock():
        connection = connections["default"]
        connection.close()
        broken = connection.copy()
        broken.settings_dict = {
            **connection.settings_dict,
            "HOST": "127.0.0.1",
            "PORT": closed_port,
            "OPTIONS": {"connect_timeout": 1},
        }
        connections["default"] = broken
        yield
        connections["default"] = connection


@pytest.mark.usefixtures("database_down")
@pytest.mark.parametrize(
    "call",
    [
        lambda client, headers: client.get("/api/v1/pi/manifest", headers=headers),
        lambda client, headers: client.get("/api/v1/pi/permits", headers=headers),
        lambda client, headers: client.post(
            "/api/v1/pi/preview_action", b'{"action_type": "swap"}', content_type="application/json", headers=headers
        ),
        lambda client, headers: client.post(
            "/api/v1/pi/commit_action", b"{}", content_type="application/json", headers=headers
        ),
    ],
    ids=["manifest", "permits", "preview", "commit"],
)
def test_without_a_database_every_call_is_a_503_that_says_so(call: Callable[..., Any]) -> None:
    response = call(Client(), {"Authorization": "Bearer golem_" + "x" * 43})
    problem = assert_problem(response, 503, "DATABASE_UNAVAILABLE", "WAIT")
    assert response.headers["Retry-After"] == "5"
    assert "127.0.0.1" not in str(problem)


@pytest.mark.usefixtures("database_down")
def test_without_a_database_the_process_is_alive_but_not_ready() -> None:
    assert Client().get("/healthz").json() == {"status": "ok"}
    response = Client().get("/readyz")
    checks = {check["name"]: check["ok"] for check in response.json()["checks"]}
    assert response.status_code == 503
    assert (checks["database"], checks["migrations"], checks["registry"]) == (False, False, True)
    assert "127.0.0.1" not in response.content.decode()

"""The running server, a golem that can act behind it, and the official client."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import Client
from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import MessageToDict, ParseDict

from archetypes_app.models import Golem
from golem_project.celery import app
from tests.golem_project.pi.conftest import Agent
from tests.golem_project.pi.conftest import agent as agent
from tests.golem_project.pi.conftest import live as live
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.golem_project.stream.conftest import no_stream_is_left as no_stream_is_left
from tests.golem_project.stream.conftest import web_port as web_port

T = TypeVar("T")
SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
JSON_RPC, REST = "JSONRPC", "HTTP+JSON"


@pytest.fixture
def eager_work() -> Iterator[None]:
    """Tasks of the queue run where they are asked for."""
    was = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = was


def run(work: Coroutine[Any, Any, T]) -> T:
    """What a client does, in an event loop of its own thread."""
    return asyncio.run(asyncio.wait_for(work, 60))


@dataclass
class Line:
    """How a client reaches one golem."""

    url: str
    token: str
    golem: Golem

    @asynccontextmanager
    async def open(self, *, binding: str = JSON_RPC, version: str = "1.0", is_streaming: bool = False) -> Any:
        """The official client over one binding of one version, made from the card."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        async with httpx.AsyncClient(headers=headers, timeout=30) as http:
            card = await A2ACardResolver(http, self.url).get_agent_card()
            chosen = [
                each
                for each in card.supported_interfaces
                if each.protocol_binding == binding and each.protocol_version == version
            ]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(chosen)
            if version != "1.0":
                http.headers["A2A-Version"] = version
            config = ClientConfig(httpx_client=http, streaming=is_streaming, supported_protocol_bindings=[binding])
            yield ClientFactory(config).create(card)

    def post(self, body: Any, *, path: str = "/", version: str = "1.0", token: str | None = None) -> httpx.Response:
        """A request nobody's client would make."""
        raw = body if isinstance(body, bytes) else httpx.Request("POST", "http://x", json=body).content
        headers = {"Content-Type": "application/json", "A2A-Version": version}
        used = self.token if token is None else token
        if used:
            headers["Authorization"] = f"Bearer {used}"
        return httpx.post(f"{self.url}{path}", content=raw, headers=headers, timeout=30)


def ask(skill: str, params: Mapping[str, Any], **columns: Any) -> wire.SendMessageRequest:
    """A message with one data part."""
    part = ParseDict({"data": {"skill": skill, "params": params}}, wire.Part())
    message = wire.Message(message_id=str(uuid4()), role=wire.ROLE_USER, parts=[part], **columns)
    return wire.SendMessageRequest(message=message)


async def send(client: Client, request: wire.SendMessageRequest) -> list[dict[str, Any]]:
    """Every answer of the server, as JSON."""
    return [MessageToDict(event) async for event in client.send_message(request)]


def state_of(event: Mapping[str, Any]) -> str:
    """The state an answer tells, without its prefix; empty for an answer that tells none."""
    told = event.get("task") or event.get("statusUpdate") or {}
    return str(told.get("status", {}).get("state", "")).removeprefix("TASK_STATE_")


def answer_of(task: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool answered."""
    data: dict[str, Any] = task["artifacts"][0]["parts"][0]["data"]
    return data


@pytest.fixture
def line(live: Agent, web_port: int, eager_work: None) -> Line:
    """To a golem that can act, with every scope."""
    return Line(f"http://127.0.0.1:{web_port}/a2a/{live.golem.pk}", live.key.token, live.golem)

"""What the server says has exactly the protocol's published types: no member unknown, none missing that it needs.

The types of 1.0 are the protocol's one normative source, `a2a.proto`, as the official package compiled it, with its
required fields; those of 0.3 were made by that package from the published `a2a.json` (decision 0222).
"""

from __future__ import annotations

import inspect
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.compat.v0_3 import types as legacy
from a2a.types import a2a_pb2 as wire
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

from tests.golem_project.a2a.conftest import Line
from tests.golem_project.pi.conftest import MakeAgent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def line(make_agent: MakeAgent, web_port: int, eager_work: None) -> Line:
    """To a golem without funds."""
    agent = make_agent()
    return Line(f"http://127.0.0.1:{web_port}/a2a/{agent.golem.pk}", agent.key.token, agent.golem)


def test_the_types_are_those_that_the_protocol_publishes() -> None:
    assert (wire.DESCRIPTOR.name, wire.DESCRIPTOR.package) == ("a2a.proto", "lf.a2a.v1")
    made_of = inspect.getsource(legacy).partition("from __future__")[0]
    assert "a2aproject/A2A/" in made_of and "specification/json/a2a.json" in made_of


def _check(document: Any, kind: type[Message]) -> Message:
    found: Message = ParseDict(document, kind(), ignore_unknown_fields=False)
    validate_proto_required_fields(found)
    return found


def _message(skill: str, *, is_legacy: bool = False) -> dict[str, Any]:
    data = {"skill": skill, "params": {"query": "golem"}}
    part = {"kind": "data", "data": data} if is_legacy else {"data": data}
    role = "user" if is_legacy else "ROLE_USER"
    message = {"messageId": str(uuid4()), "role": role, "parts": [part]}
    return {"message": {"kind": "message", **message} if is_legacy else message}


def _call(line: Line, method: str, params: Any, version: str = "1.0") -> Any:
    return line.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, version=version).json()


@pytest.mark.parametrize("skill", ["query_state", "no_such_tool"])
def test_answers_of_1_0_are_of_its_published_types(line: Line, skill: str) -> None:
    sent = _call(line, "SendMessage", _message(skill))["result"]
    _check(sent, wire.SendMessageResponse)
    task_id = sent["task"]["id"]
    _check(_call(line, "GetTask", {"id": task_id})["result"], wire.Task)
    listed = _call(line, "ListTasks", {"includeArtifacts": True})["result"]
    ParseDict(listed, wire.ListTasksResponse(), ignore_unknown_fields=False)
    assert set(listed) == {"tasks", "nextPageToken", "pageSize", "totalSize"}
    _check(listed["tasks"][0], wire.Task)
    _check(_call(line, "GetExtendedAgentCard", {})["result"], wire.AgentCard)
    headers = {"Authorization": f"Bearer {line.token}", "A2A-Version": "1.0"}
    over_http = httpx.get(f"{line.url}/rest/tasks/{task_id}", headers=headers)
    assert over_http.headers["Content-Type"] == "application/a2a+json"
    _check(over_http.json(), wire.Task)


@pytest.mark.parametrize("skill", ["query_state", "no_such_tool"])
def test_answers_of_0_3_are_of_its_published_types(line: Line, skill: str) -> None:
    sent = _call(line, "message/send", _message(skill, is_legacy=True), "0.3")
    found = legacy.SendMessageSuccessResponse.model_validate(sent)
    assert isinstance(found.result, legacy.Task)
    assert found.model_dump(mode="json", by_alias=True, exclude_none=True) == sent
    task = _call(line, "tasks/get", {"id": found.result.id}, "0.3")
    assert legacy.GetTaskSuccessResponse.model_validate(task).result.id == found.result.id
    card = httpx.get(f"{line.url}/.well-known/agent-card.json").json()
    assert legacy.AgentCard.model_validate(card).capabilities.push_notifications


def _stream(line: Line, method: str, params: Any, version: str) -> list[Any]:
    """The answers of one stream, to its end."""
    headers = {"Authorization": f"Bearer {line.token}", "A2A-Version": version, "Accept": "text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with httpx.stream("POST", f"{line.url}/", json=body, headers=headers, timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        return [json.loads(text.removeprefix("data:")) for text in answer.iter_lines() if text.startswith("data:")]


@pytest.mark.parametrize("skill", ["query_state", "no_such_tool"])
def test_what_a_stream_of_1_0_tells_is_of_the_published_schema(line: Line, skill: str) -> None:
    told = [each["result"] for each in _stream(line, "SendStreamingMessage", _message(skill), "1.0")]
    for each in told:
        _check(each, wire.StreamResponse)
    assert {kind for each in told for kind in each} >= {"task", "statusUpdate"}


@pytest.mark.parametrize("skill", ["query_state", "no_such_tool"])
def test_what_a_stream_of_0_3_tells_is_of_its_published_types(line: Line, skill: str) -> None:
    told = _stream(line, "message/stream", _message(skill, is_legacy=True), "0.3")
    kinds = set()
    for each in told:
        found = legacy.SendStreamingMessageSuccessResponse.model_validate(each)
        assert found.model_dump(mode="json", by_alias=True, exclude_none=True) == each
        kinds.add(found.result.kind)
    assert kinds >= {"task", "status-update"}


def test_the_card_is_of_the_published_schema(line: Line) -> None:
    card = httpx.get(f"{line.url}/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).json()
    assert card["supportedInterfaces"] and card["signatures"] and card["skills"]
    found = ParseDict(card, wire.AgentCard(), ignore_unknown_fields=False)
    validate_proto_required_fields(found)
    assert MessageToDict(found) == card
    # To who names no version one document speaks both: it has members of the older one beside those of 1.0.
    both = httpx.get(f"{line.url}/.well-known/agent-card.json")
    assert both.headers["Vary"] == "A2A-Version"
    assert set(card) < set(both.json())
    legacy.AgentCard.model_validate(both.json())

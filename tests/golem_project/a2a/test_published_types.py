"""What the server says has exactly the protocol's published types: no member unknown, none missing that it needs."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.compat.v0_3 import types as legacy
from a2a.types import a2a_pb2 as wire
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

from tests.golem_project.a2a.conftest import Line
from tests.golem_project.pi.conftest import MakeAgent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def line(make_agent: MakeAgent, web_port: int, eager_work: None) -> Line:
    """To a golem without funds."""
    agent = make_agent()
    return Line(f"http://127.0.0.1:{web_port}/a2a/{agent.golem.pk}", agent.key.token, agent.golem)


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

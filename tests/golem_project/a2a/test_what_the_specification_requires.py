"""What the specification of A2A 1.0 says a server MUST do, section by section, over both bindings; and 0.3 beside it.

Asked in raw HTTP, from the specification's own sentences: an official client would mend what it reads. Which test
holds each MUST of the protocol's public test kit is a table in test_the_kits_must_cases.py; what the official types say
of each document stands in test_published_types.py, and the official clients' own way in test_end_to_end.py.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.compat.v0_3 import types as legacy

from tests.golem_project.a2a.conftest import JSON_RPC, REST, Line
from tests.golem_project.pi.conftest import MakeAgent

pytestmark = pytest.mark.django_db(transaction=True)
both = pytest.mark.parametrize("binding", [JSON_RPC, REST])

# Section 5.4, as of 1.0.1: what each of the protocol's errors is called over each binding.
CODES = {
    "TASK_NOT_FOUND": (-32001, 404),
    "TASK_NOT_CANCELABLE": (-32002, 400),
    "UNSUPPORTED_OPERATION": (-32004, 400),
    "CONTENT_TYPE_NOT_SUPPORTED": (-32005, 400),
    "VERSION_NOT_SUPPORTED": (-32009, 400),
}
# Section 11.3: method and path of each operation over HTTP+JSON.
PLACES: dict[str, Callable[[Mapping[str, Any]], tuple[str, str]]] = {
    "SendMessage": lambda params: ("POST", "/message:send"),
    "SendStreamingMessage": lambda params: ("POST", "/message:stream"),
    "GetTask": lambda params: ("GET", f"/tasks/{params['id']}"),
    "ListTasks": lambda params: ("GET", "/tasks"),
    "CancelTask": lambda params: ("POST", f"/tasks/{params['id']}:cancel"),
    "SubscribeToTask": lambda params: ("POST", f"/tasks/{params['id']}:subscribe"),
}
NOBODYS = "7ab27893-cdde-4711-bc76-00376a9bf002"
STATES = {"SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED", "REJECTED"}


@pytest.fixture
def line(make_agent: MakeAgent, web_port: int, eager_work: None) -> Line:
    """To a golem without funds."""
    agent = make_agent()
    return Line(f"http://127.0.0.1:{web_port}/a2a/{agent.golem.pk}", agent.key.token, agent.golem)


def asks(line: Line, binding: str, method: str, params: Mapping[str, Any], version: str = "1.0") -> httpx.Response:
    """One request of the protocol over one binding."""
    headers = {"A2A-Version": version, "Authorization": f"Bearer {line.token}", "Content-Type": "application/json"}
    if binding == JSON_RPC:
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": dict(params)}
        return httpx.post(f"{line.url}/", json=body, headers=headers, timeout=60)
    verb, path = PLACES[method](params)
    rest = {name: value for name, value in params.items() if name != "id"}
    if verb == "GET":
        return httpx.get(f"{line.url}/rest{path}", params=rest, headers=headers, timeout=60)
    return httpx.post(f"{line.url}/rest{path}", json=rest, headers=headers, timeout=60)


def answers(line: Line, binding: str, method: str, params: Mapping[str, Any]) -> Any:
    """What it is answered, out of the binding's envelope."""
    response = asks(line, binding, method, params)
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"].partition(";")[0] in ("application/json", "application/a2a+json")
    if binding == REST:
        return response.json()
    envelope = response.json()
    assert (envelope["jsonrpc"], envelope["id"]) == ("2.0", 7)
    return envelope["result"]


def is_refused(response: httpx.Response, binding: str, reason: str) -> None:
    """Sections 9.5 and 11.6: the error's code or status, and google.rpc.ErrorInfo with its reason and domain."""
    code, status = CODES[reason]
    body = response.json()
    if binding == JSON_RPC:
        assert (response.status_code, body["error"]["code"]) == (200, code), body
        details = body["error"]["data"]
    else:
        assert response.status_code == status, body
        assert response.headers["Content-Type"].partition(";")[0] == "application/json"
        assert body["error"]["code"] == status and body["error"]["status"]
        details = body["error"]["details"]
    assert body["error"]["message"]
    (info,) = [each for each in details if each["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"]
    assert (info["reason"], info["domain"]) == (reason, "a2a-protocol.org")


def message(*parts: Mapping[str, Any], **columns: Any) -> dict[str, Any]:
    """A message; of one read that always answers, where no part is said."""
    said = parts or ({"data": {"skill": "query_state", "params": {"query": "golem"}}},)
    return {"message": {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": list(said), **columns}}


def make_task(line: Line, binding: str = JSON_RPC, **columns: Any) -> dict[str, Any]:
    """A task that has ended."""
    task: dict[str, Any] = answers(line, binding, "SendMessage", message(**columns))["task"]
    return task


def read_stream(line: Line, binding: str, method: str, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of a stream until the server closes it."""
    response = asks(line, binding, method, params)
    assert response.headers["Content-Type"].partition(";")[0] == "text/event-stream", response.text
    told = [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]
    return [each["result"] for each in told] if binding == JSON_RPC else told


def read_state(event: Mapping[str, Any]) -> str:
    """The state that a stream's event tells, be it a task or a change of one."""
    [(_, told)] = event.items()
    return str(told["status"]["state"])


@both
def test_a_message_is_answered_by_a_task_or_a_message_and_never_both(line: Line, binding: str) -> None:
    for params in (message(), message({"text": "hello"})):
        assert set(answers(line, binding, "SendMessage", params)) in ({"task"}, {"message"})


@both
def test_a_task_has_its_required_members_and_a_state_of_the_enumeration(line: Line, binding: str) -> None:
    task = make_task(line, binding)
    again = answers(line, binding, "GetTask", {"id": task["id"]})
    assert again["id"] == task["id"] and again["contextId"] and again["artifacts"]
    assert again["status"]["state"].removeprefix("TASK_STATE_") in STATES
    # 5.6.1: a moment in UTC, with Z and no offset.
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", again["status"]["timestamp"])
    for artifact in again["artifacts"]:
        assert artifact["artifactId"] and artifact["parts"]
        assert all(len({"text", "raw", "url", "data"} & set(part)) == 1 for part in artifact["parts"])


@both
def test_member_names_are_camel_case_outside_what_a_tool_answered(line: Line, binding: str) -> None:
    def names(value: Any) -> list[str]:
        if isinstance(value, list):
            return [name for each in value for name in names(each)]
        if not isinstance(value, dict):
            return []
        # `data` and `metadata` are open: what a tool answered has the tool's own names.
        inner = [name for key, each in value.items() if key not in ("data", "metadata") for name in names(each)]
        return [*value, *inner]

    found = names(make_task(line, binding)) + names(answers(line, binding, "ListTasks", {}))
    assert [name for name in found if not re.fullmatch(r"[a-z][A-Za-z0-9]*", name)] == []


@both
def test_a_message_to_a_task_that_has_ended_is_an_unsupported_operation(line: Line, binding: str) -> None:
    task = make_task(line)
    for part in ({"text": "and now?"}, {"data": {"skill": "query_state", "params": {"query": "golem"}}}):
        refused = asks(line, binding, "SendMessage", message(part, taskId=task["id"]))
        is_refused(refused, binding, "UNSUPPORTED_OPERATION")


@both
def test_a_kind_of_part_that_nobody_takes_is_an_unsupported_content_type(line: Line, binding: str) -> None:
    for part in (
        {"raw": "dGNr", "mediaType": "application/x-unheard-of"},
        {"url": "https://example.org/x", "mediaType": "image/png"},
    ):
        is_refused(asks(line, binding, "SendMessage", message(part)), binding, "CONTENT_TYPE_NOT_SUPPORTED")


@both
@pytest.mark.parametrize("method", ["GetTask", "CancelTask", "SubscribeToTask"])
@pytest.mark.parametrize("task_id", [NOBODYS, "no-such-task"])
def test_a_task_that_is_not_there_is_not_found(line: Line, binding: str, method: str, task_id: str) -> None:
    is_refused(asks(line, binding, method, {"id": task_id}), binding, "TASK_NOT_FOUND")


@both
@pytest.mark.parametrize("part", [{"text": "go on"}, {"data": {"skill": "query_state", "params": {"query": "golem"}}}])
def test_a_message_to_a_task_that_is_not_there_is_not_found(line: Line, binding: str, part: dict[str, Any]) -> None:
    for task_id in (NOBODYS, "no-such-task"):
        is_refused(asks(line, binding, "SendMessage", message(part, taskId=task_id)), binding, "TASK_NOT_FOUND")


@both
def test_a_task_that_has_ended_is_neither_cancelled_nor_followed(line: Line, binding: str) -> None:
    task = make_task(line)
    is_refused(asks(line, binding, "CancelTask", {"id": task["id"]}), binding, "TASK_NOT_CANCELABLE")
    is_refused(asks(line, binding, "SubscribeToTask", {"id": task["id"]}), binding, "UNSUPPORTED_OPERATION")


@both
def test_tasks_are_listed_by_pages_the_newest_first_without_artifacts_unless_asked_for(
    line: Line, binding: str
) -> None:
    made = [make_task(line, contextId="ours")["id"] for _ in range(3)] + [make_task(line)["id"]]
    first = answers(line, binding, "ListTasks", {"contextId": "ours", "pageSize": 2})
    assert [each["id"] for each in first["tasks"]] == made[2:0:-1] and first["nextPageToken"]
    rest = answers(
        line, binding, "ListTasks", {"contextId": "ours", "pageSize": 2, "pageToken": first["nextPageToken"]}
    )
    assert [each["id"] for each in rest["tasks"]] == made[:1]
    assert rest["nextPageToken"] == "", "present on the last page too, and empty"
    assert not any("artifacts" in each for each in (*first["tasks"], *rest["tasks"]))
    with_them = answers(line, binding, "ListTasks", {"includeArtifacts": "true" if binding == REST else True})
    assert all(each["artifacts"] for each in with_them["tasks"])


@both
def test_who_does_not_wait_is_answered_with_the_task_and_who_waits_with_its_end(line: Line, binding: str) -> None:
    at_once = answers(line, binding, "SendMessage", {**message(), "configuration": {"returnImmediately": True}})
    assert at_once["task"]["id"]
    waited = answers(line, binding, "SendMessage", {**message(), "configuration": {"returnImmediately": False}})
    assert waited["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


@both
def test_a_context_is_made_kept_inferred_and_never_mismatched(line: Line, binding: str) -> None:
    task, text = make_task(line, binding), answers(line, binding, "SendMessage", message({"text": "hello"}))
    assert task["contextId"] and text["message"]["contextId"] != task["contextId"]
    assert make_task(line, binding, contextId="ours")["contextId"] == "ours"
    assert len({make_task(line, binding)["id"] for _ in range(3)}) == 3
    for columns in ({"taskId": task["id"], "contextId": "another"}, {"taskId": NOBODYS, "contextId": "another"}):
        refused = asks(line, binding, "SendMessage", message({"text": "and?"}, **columns))
        assert "error" in refused.json()


@both
def test_a_stream_begins_with_the_task_tells_what_follows_and_closes_at_the_end(line: Line, binding: str) -> None:
    told = read_stream(line, binding, "SendStreamingMessage", message())
    assert "task" in told[0]
    states = [each.get("task", each.get("statusUpdate", {})).get("status", {}).get("state") for each in told]
    assert states[-1] == "TASK_STATE_COMPLETED"
    assert all(len(set(each) & {"task", "message", "statusUpdate", "artifactUpdate"}) == 1 for each in told)


@both
def test_a_stream_that_answers_by_a_message_holds_that_one_alone(line: Line, binding: str) -> None:
    (told,) = read_stream(line, binding, "SendStreamingMessage", message({"text": "hello"}))
    assert set(told) == {"message"}


@both
@pytest.mark.parametrize("version", ["2.0", "0.1", "nonsense"])
def test_a_version_that_is_not_spoken_is_refused_as_such(line: Line, binding: str, version: str) -> None:
    refused = asks(line, binding, "GetTask", {"id": NOBODYS}, version)
    is_refused(refused, binding, "VERSION_NOT_SUPPORTED")


def test_a_patch_number_decides_nothing_and_no_version_means_0_3(line: Line) -> None:
    assert asks(line, JSON_RPC, "GetTask", {"id": NOBODYS}, "1.0.9").json()["error"]["code"] == -32001
    body = {"jsonrpc": "2.0", "id": 7, "method": "tasks/get", "params": {"id": NOBODYS}}
    for headers in ({}, {"A2A-Version": ""}, {"A2A-Version": "0.3"}):
        sent = {"Authorization": f"Bearer {line.token}", **headers}
        assert httpx.post(f"{line.url}/", json=body, headers=sent, timeout=30).json()["error"]["code"] == -32001


@both
def test_what_is_malformed_is_refused_before_anything_is_done(line: Line, binding: str) -> None:
    for params in ({}, {"message": "text"}, {"message": {"role": "ROLE_USER", "parts": []}}, message(messageId="")):
        refused = asks(line, binding, "SendMessage", params)
        error = refused.json()["error"]
        assert error["message"]
        assert error["code"] in ((-32602, -32600) if binding == JSON_RPC else (400, 422)), error


def test_the_card_is_public_cached_and_of_the_version_that_was_asked_for(line: Line) -> None:
    url = f"{line.url}/.well-known/agent-card.json"
    card = httpx.get(url, headers={"A2A-Version": "1.0"})
    assert {"name", "description", "version", "capabilities", "skills", "supportedInterfaces"} <= set(card.json())
    assert card.json()["defaultInputModes"] and card.json()["defaultOutputModes"]
    assert "max-age" in card.headers["Cache-Control"] and card.headers["ETag"] and card.headers["Last-Modified"]
    older = httpx.get(url, headers={"A2A-Version": "0.3"}).json()
    assert not {"supportedInterfaces", "securityRequirements"} & set(older), (
        "a client of 0.3 is told in its own words alone"
    )
    found = legacy.AgentCard.model_validate(older)
    assert found.model_dump(mode="json", by_alias=True, exclude_none=True) == older
    assert {"url", "preferredTransport", "protocolVersion"} <= set(older)
    assert not {"url", "preferredTransport", "protocolVersion", "security"} & set(card.json())


def test_0_3_answers_its_methods_in_its_own_words(line: Line) -> None:
    data = {"skill": "query_state", "params": {"query": "golem"}}
    said = {"kind": "message", "messageId": str(uuid4()), "role": "user", "parts": [{"kind": "data", "data": data}]}
    task = line.post(_legacy("message/send", {"message": said}), version="0.3").json()["result"]
    assert (task["kind"], task["status"]["state"]) == ("task", "completed") and task["contextId"]
    assert line.post(_legacy("tasks/get", {"id": task["id"]}), version="0.3").json()["result"]["id"] == task["id"]
    for method, code in (("tasks/cancel", -32002), ("tasks/resubscribe", -32004)):
        refused = line.post(_legacy(method, {"id": task["id"]}), version="0.3")
        body = refused.json() if "json" in refused.headers["Content-Type"] else json.loads(refused.text[5:])
        assert body["error"]["code"] == code, body
    again = {**said, "messageId": str(uuid4()), "taskId": NOBODYS}
    assert line.post(_legacy("message/send", {"message": again}), version="0.3").json()["error"]["code"] == -32001
    assert line.post(_legacy("tasks/nothing", {}), version="0.3").json()["error"]["code"] == -32601
    for body in ({**_legacy("tasks/get", {"id": NOBODYS}), "jsonrpc": "1.0"}, [], 7):
        assert line.post(body, version="0.3").json()["error"]["code"] == -32600


def test_two_who_follow_a_task_hear_the_same_in_the_same_order(line: Line) -> None:
    told: list[list[dict[str, Any]]] = []

    def follow() -> None:
        told.append(read_stream(line, JSON_RPC, "SendStreamingMessage", asked))

    # The same message is the same task, whoever sends it again.
    asked = message()
    threads = [threading.Thread(target=follow) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    # Each first hears the task as it is by then; whoever came later hears the rest of what the other heard.
    shorter, longer = sorted(told, key=len)
    assert longer[len(longer) - len(shorter) + 1 :] == shorter[1:]
    assert {read_state(each[-1]) for each in told} == {"TASK_STATE_COMPLETED"}


def _legacy(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}

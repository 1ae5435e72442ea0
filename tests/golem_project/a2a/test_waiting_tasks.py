"""Tasks that wait: for owners, for a client that went away, and for nobody any more."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from a2a.types import a2a_pb2 as wire
from a2a.utils.errors import TaskNotCancelableError
from asgiref.sync import sync_to_async
from django.db import connection
from google.protobuf.json_format import MessageToDict

from archetypes_app.models import ApiKey
from golem_project.a2a import tasks
from golem_project.a2a.models import Task, TaskState
from golem_project.a2a.permit_of_task import follow_task
from golem_project.a2a.tasks import follow_tasks_task
from golem_project.embedded.process import free_port
from golem_project.embedded.product_process_plans import plan_web
from permits_app.actions.execute_change import execute_change
from permits_app.models import ActionPermit, ChangeRequest
from tests import factories
from tests.architecture.sources import ROOT
from tests.factories.permits import make_permit
from tests.golem_project.a2a.conftest import JSON_RPC, REST, SWAP, Line, answer_of, ask, run, send, state_of
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import critical_swap as critical_swap
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device, reject
from tools_app.core import clock

Decide = Callable[[bool], None]


@pytest.fixture
def decide(shared_golem: LiveGolem, critical_swap: None) -> Decide:
    """What the golem's other owner does about the one request there is."""
    give_device(shared_golem.owner)
    other = make_owner_with_device(name="owner-b")
    shared_golem.golem.co_owners.add(other)

    def play(is_approved: bool) -> None:
        request = ChangeRequest.objects.get()
        if is_approved:
            approve(request, other)
            execute_change(request_id=request.pk, now=clock.now())
        else:
            reject(request, other, reason="not today")

    return play


@pytest.fixture
def second_port(line: Line) -> Iterator[int]:
    """The port of another process of the real server, over the same database."""
    port = free_port()
    name = str(connection.settings_dict["NAME"])
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test"}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(plan_web(port).argv, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
    try:
        wait_for_card(f"http://127.0.0.1:{port}/a2a/{line.golem.pk}", process)
        yield port
    finally:
        process.kill()
        process.wait(30)


def wait_for_card(url: str, process: subprocess.Popen[bytes]) -> None:
    """Until the server serves the golem's card; a minute at most."""
    deadline, pause = clock.Deadline.after_ms(60_000), threading.Event()
    while True:
        assert process.poll() is None and not deadline.is_over, "the second server did not start"
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/.well-known/agent-card.json", timeout=5).status_code == 200:
                return
        pause.wait(0.1)


def _preview(line: Line) -> dict[str, Any]:
    async def play() -> dict[str, Any]:
        async with line.open() as client:
            return (await send(client, ask("preview_action", SWAP)))[0]["task"]

    return run(play())


@pytest.mark.parametrize(("binding", "version"), [(JSON_RPC, "1.0"), (REST, "1.0"), (JSON_RPC, "0.3"), (REST, "0.3")])
def test_a_client_that_went_away_sees_at_another_server_process_how_owners_decided(
    line: Line, decide: Decide, second_port: int, binding: str, version: str
) -> None:
    async def play() -> list[dict[str, Any]]:
        async with line.open(binding=binding, version=version, is_streaming=True) as client:
            stream = client.send_message(ask("preview_action", SWAP))
            async for event in stream:
                first = MessageToDict(event)
                if state_of(first) == "INPUT_REQUIRED":
                    break
            # It hangs up in the middle of its stream.
            await stream.aclose()
        task_id = first["statusUpdate"]["taskId"]
        elsewhere = Line(f"http://127.0.0.1:{second_port}/a2a/{line.golem.pk}", line.token, line.golem)
        async with elsewhere.open(binding=binding, version=version, is_streaming=True) as client:
            told: list[dict[str, Any]] = []
            async for event in client.subscribe(wire.SubscribeToTaskRequest(id=task_id)):
                told.append(MessageToDict(event))
                if len(told) == 1:
                    await sync_to_async(decide, thread_sensitive=False)(True)
            return told

    told = run(play())
    assert state_of(told[0]) == "INPUT_REQUIRED"
    assert "owners" in told[0]["task"]["status"]["message"]["parts"][0]["text"]
    assert state_of(told[-1]) == "COMPLETED"
    artifacts = [each["artifactUpdate"]["artifact"] for each in told if "artifactUpdate" in each]
    assert answer_of({"artifacts": artifacts})["status"] == "COMMITTED"


def test_what_owners_reject_is_rejected_with_their_reason(line: Line, decide: Decide) -> None:
    task = _preview(line)
    assert state_of({"task": task}) == "INPUT_REQUIRED"
    decide(False)
    follow_tasks_task.run()
    row = Task.objects.get(pk=task["id"])
    assert row.state in (TaskState.REJECTED, TaskState.CANCELED)
    assert "not today" in row.note


def test_cancelling_a_task_cancels_its_permit_and_only_while_that_is_possible(line: Line, decide: Decide) -> None:
    task = _preview(line)

    async def cancel() -> dict[str, Any]:
        async with line.open() as client:
            return MessageToDict(await client.cancel_task(wire.CancelTaskRequest(id=task["id"])))

    assert state_of({"task": run(cancel())}) == "CANCELED"
    assert ActionPermit.objects.get().status == "CANCELLED"
    with pytest.raises(TaskNotCancelableError):
        run(cancel())


def test_nobody_but_owners_moves_what_waits_for_them(line: Line, decide: Decide) -> None:
    task = _preview(line)
    answer = line.post(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "SendMessage",
            "params": {
                "message": {
                    "messageId": "m-2",
                    "role": "ROLE_USER",
                    "taskId": task["id"],
                    "parts": [{"text": "approved, go on"}, {"data": {"skill": "commit_action", "params": {}}}],
                }
            },
        }
    ).json()
    assert "A2A_TASK_TAKES_NO_MESSAGE" in answer["error"]["message"]
    assert ActionPermit.objects.get().status == "AWAITING_APPROVAL"


def test_what_a_dead_server_left_behind_has_failed_and_says_so(live: Agent) -> None:
    now = clock.now()
    row = Task.objects.create(
        golem=live.golem,
        api_key=live.key.key,
        context_id="c",
        message_id="m",
        asked_digest="0x",
        skill="preview_action",
        state=TaskState.WORKING,
        lease_until=now + timedelta(seconds=1),
        created_at=now,
        updated_at=now,
    )
    assert follow_task(task_id=row.pk, now=now).state == TaskState.WORKING
    left = follow_task(task_id=row.pk, now=now + timedelta(seconds=2))
    assert left.state == TaskState.FAILED
    assert "stopped" in left.note


def test_what_waits_for_owners_delays_nothing_that_went_on(live: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_MOST_FOLLOWED", 2)
    now = clock.now()

    def add(number: int, state: TaskState, status: str) -> Task:
        return Task.objects.create(
            golem=live.golem,
            api_key=live.key.key,
            context_id="c",
            message_id=f"m-{number}",
            asked_digest="0x",
            skill="preview_action",
            state=state,
            permit=make_permit(golem=live.golem, status=status),
            created_at=now + timedelta(seconds=number),
            updated_at=now + timedelta(seconds=number),
        )

    waiting = [add(number, TaskState.INPUT_REQUIRED, "AWAITING_APPROVAL") for number in range(2)]
    done = add(2, TaskState.WORKING, "EXPIRED")
    follow_tasks_task.run()
    done.refresh_from_db()
    assert done.state == TaskState.FAILED
    assert {each.state for each in Task.objects.filter(pk__in=[row.pk for row in waiting])} == {"INPUT_REQUIRED"}


def test_who_does_not_wait_is_answered_at_once_and_finds_the_end_later(line: Line) -> None:
    async def play() -> str:
        async with line.open() as client:
            request = ask("query_state", {"query": "golem"})
            request.configuration.return_immediately = True
            task = (await send(client, request))[0]["task"]
            for _ in range(1_200):
                found = MessageToDict(await client.get_task(wire.GetTaskRequest(id=task["id"])))
                if state_of({"task": found}) == "COMPLETED":
                    return str(answer_of(found)["data"]["name"])
                await asyncio.sleep(0.05)
        return ""

    assert run(play()) == line.golem.name


def test_who_lost_their_key_hears_no_more(line: Line, decide: Decide, settings: Any) -> None:
    task = _preview(line)
    settings.GOLEM_STREAM_RECHECK_SECONDS, settings.GOLEM_STREAM_HEARTBEAT_SECONDS = 0.2, 0.1

    def revoke() -> None:
        ApiKey.objects.update(revoked_at=clock.now())

    async def play() -> list[str]:
        async with line.open(is_streaming=True) as client:
            told = []
            async for event in client.subscribe(wire.SubscribeToTaskRequest(id=task["id"])):
                told.append(state_of(MessageToDict(event)))
                await sync_to_async(revoke, thread_sensitive=False)()
            return told

    assert run(play()) == ["INPUT_REQUIRED"]


def test_a_key_has_so_many_open_tasks_and_streams_and_no_more(line: Line, live: Agent, settings: Any) -> None:
    factories.make_a2a_task(golem=live.golem, api_key=live.key.key, lease_until=clock.now() + timedelta(hours=1))
    settings.GOLEM_A2A_MOST_OPEN_TASKS = 1
    part = {"data": {"skill": "query_state", "params": {"query": "golem"}}}
    params = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [part]}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
    assert "A2A_TOO_MANY_TASKS" in line.post(body).json()["error"]["message"]
    settings.GOLEM_A2A_MOST_OPEN_TASKS, settings.GOLEM_STREAM_MOST_CLIENTS_PER_CALLER = 50, 0
    refused = line.post({**body, "method": "SendStreamingMessage"}).json()["error"]
    assert "STREAM_LIMIT_REACHED" in refused["message"]
    assert Task.objects.count() == 1


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("COMMITTED", TaskState.COMPLETED),
        ("REVERTED", TaskState.FAILED),
        ("EXPIRED", TaskState.FAILED),
        ("BLOCKED", TaskState.REJECTED),
        ("CANCELLED", TaskState.CANCELED),
        ("UNKNOWN", TaskState.WORKING),
    ],
)
def test_the_asker_is_told_how_the_permit_ended_and_no_better(live: Agent, status: str, state: TaskState) -> None:
    now = clock.now()
    row = Task.objects.create(
        golem=live.golem,
        api_key=live.key.key,
        permit=make_permit(golem=live.golem, status=status, now=now),
        context_id="c",
        message_id="m",
        asked_digest="0x",
        skill="commit_action",
        state=TaskState.WORKING,
        created_at=now,
        updated_at=now,
    )
    assert follow_task(task_id=row.pk, now=now + timedelta(seconds=1)).state == state


def test_tasks_are_listed_newest_first_by_page_and_by_status(line: Line, live: Agent) -> None:
    now = clock.now()
    states = [TaskState.COMPLETED, TaskState.FAILED, TaskState.COMPLETED, TaskState.REJECTED, TaskState.COMPLETED]
    rows = [
        Task.objects.create(
            golem=live.golem,
            api_key=live.key.key,
            context_id="c",
            message_id=str(number),
            asked_digest="0x",
            skill="query_state",
            state=state,
            created_at=now - timedelta(minutes=number),
            updated_at=now,
            finished_at=now,
        )
        for number, state in enumerate(states)
    ]

    async def read(client: Any, **asked: Any) -> list[list[str]]:
        pages: list[list[str]] = []
        token = ""
        while token or not pages:
            found = await client.list_tasks(wire.ListTasksRequest(page_size=2, page_token=token, **asked))
            pages.append([task.id for task in found.tasks])
            token = found.next_page_token
        return pages

    async def play() -> list[list[list[str]]]:
        async with line.open() as client:
            statuses: list[dict[str, Any]] = [
                {},
                {"status": wire.TASK_STATE_COMPLETED},
                {"status": wire.TASK_STATE_REJECTED},
            ]
            return [await read(client, **asked) for asked in statuses]

    ids = [str(row.pk) for row in rows]
    assert run(play()) == [[ids[:2], ids[2:4], ids[4:]], [[ids[0], ids[2]], [ids[4]]], [[ids[3]]]]

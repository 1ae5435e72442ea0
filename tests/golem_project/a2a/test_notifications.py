"""Push notifications: signed, tried a bounded number of times, to addresses that are allowed, secrets sealed."""

from __future__ import annotations

import json
import socket
from datetime import timedelta
from threading import Event
from typing import Any
from uuid import UUID

import jwt
import pytest
from a2a.types import a2a_pb2 as wire
from a2a.utils.errors import A2AError
from django.db import connections
from google.protobuf.json_format import MessageToDict, ParseDict

from archetypes_app.models import ApiKey
from golem_project.a2a import notifications
from golem_project.a2a.models import PushConfig, PushNotification, Task, TaskState
from golem_project.a2a.task_states import move_task
from tests import factories
from tests.golem_project.a2a.conftest import JSON_RPC, REST, Line, ask, run, send
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.receiver import Receiver
from tools_app.core import clock

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN, CREDENTIALS = "the-receivers-own-token", "the-receivers-credentials"


@pytest.fixture
def line(make_agent: MakeAgent, web_port: int, eager_work: None, settings: Any) -> Line:
    """To a golem without funds, from where loopback may be notified."""
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    agent = make_agent()
    return Line(f"http://127.0.0.1:{web_port}/a2a/{agent.golem.pk}", agent.key.token, agent.golem)


def _config(url: str, **columns: str) -> wire.TaskPushNotificationConfig:
    return wire.TaskPushNotificationConfig(
        url=url,
        token=TOKEN,
        authentication=wire.AuthenticationInfo(scheme="Bearer", credentials=CREDENTIALS),
        **columns,
    )


def _deliver_all() -> None:
    due = PushNotification.objects.filter(state="WAITING", next_attempt_at__lte=clock.now()).order_by("next_attempt_at")
    for notification_id in list(due.values_list("pk", flat=True)):
        notifications.notify(notification_id=notification_id, now=clock.now())


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_each_change_reaches_the_receiver_signed(line: Line, receiver: Receiver, version: str) -> None:
    _ask_and_be_told(line, receiver.url, version)
    _deliver_all()
    states = []
    for headers, body in receiver.got:
        header, _, signature = headers["a2a-notification-signature"].partition("..")
        payload = jwt.utils.base64url_encode(body).decode()
        kid = jwt.get_unverified_header(f"{header}.{payload}.{signature}")["kid"]
        (key,) = [key for key in line_keys(line) if key["kid"] == kid]
        assert json.loads(body) == jwt.decode(f"{header}.{payload}.{signature}", jwt.PyJWK(key), algorithms=["EdDSA"])
        assert headers["x-a2a-notification-token"] == TOKEN
        assert headers["authorization"] == f"Bearer {CREDENTIALS}"
        told = json.loads(body)
        states.append(told["statusUpdate"]["status"]["state"] if version == "1.0" else told["status"]["state"])
    assert states[-1] in ("TASK_STATE_COMPLETED", "completed")


def line_keys(line: Line) -> list[dict[str, str]]:
    """The public keys of the running server."""
    import httpx

    found: list[dict[str, str]] = httpx.get(line.url.partition("/a2a/")[0] + "/a2a/keys.json").json()["keys"]
    return found


def test_a_receiver_that_fails_is_tried_again_a_bounded_number_of_times(
    make_agent: MakeAgent, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    row = factories.make_a2a_notification(golem=make_agent().golem, url=receiver.url)
    receiver.statuses = [500] * 20
    now = clock.now()
    for _ in range(20):
        notifications.notify(notification_id=row.pk, now=now)
        now += timedelta(hours=1)
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("DEAD", len(notifications.RETRY_AFTER_SECONDS) + 1)
    assert len(receiver.got) == row.attempts
    assert row.last_error == "answered 500"


def test_a_receiver_that_failed_and_takes_it_then_is_sent_it_no_more(
    make_agent: MakeAgent, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    row = factories.make_a2a_notification(golem=make_agent().golem, url=receiver.url)
    receiver.statuses = [500, 500, 200, 500]
    now = clock.now()
    for _ in range(6):
        notifications.notify(notification_id=row.pk, now=now)
        now += timedelta(hours=1)
    row.refresh_from_db()
    assert (row.state, row.attempts, row.last_error, row.next_attempt_at) == ("DELIVERED", 3, "", None)
    assert len(receiver.got) == 3


def test_whose_key_was_revoked_or_ran_out_is_told_nothing_more(
    make_agent: MakeAgent, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    now = clock.now()
    for column in ("revoked_at", "expires_at"):
        agent = make_agent()
        row = factories.make_a2a_notification(golem=agent.golem, url=receiver.url)
        Task.objects.filter(pk=row.config.task_id).update(api_key=agent.key.key, visitor="")
        ApiKey.objects.filter(pk=agent.key.key.pk).update(created_at=now - timedelta(days=1), **{column: now})
        assert not notifications.notify(notification_id=row.pk, now=clock.now())
        row.refresh_from_db()
        assert (row.state, receiver.got) == ("DEAD", [])
        assert "key" in row.last_error


def test_the_pause_after_an_asker_that_hung_begins_when_it_was_given_up(
    make_agent: MakeAgent, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES, settings.GOLEM_A2A_PUSH_TIMEOUT_SECONDS = True, 1.0
    row, over, now = factories.make_a2a_notification(golem=make_agent().golem, url=receiver.url), Event(), clock.now()
    receiver.before_answer = lambda: over.wait(60)
    notifications.notify(notification_id=row.pk, now=now)
    over.set()
    row.refresh_from_db()
    assert row.next_attempt_at is not None and row.next_attempt_at - now >= timedelta(seconds=6)


def test_an_address_that_is_taken_back_while_it_is_told_fails_nothing(
    make_agent: MakeAgent, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    row = factories.make_a2a_notification(golem=make_agent().golem, url=receiver.url)

    def take_back() -> None:
        PushConfig.objects.all().delete()
        connections.close_all()

    receiver.before_answer = take_back
    assert notifications.notify(notification_id=row.pk, now=clock.now())
    assert not notifications.notify(notification_id=row.pk, now=clock.now())
    assert not PushNotification.objects.exists()


PRIVATE = (
    "http://127.0.0.1/x",
    "https://127.0.0.1/x",
    "https://localhost/x",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://user:secret@example.org/",
    "file:///etc/passwd",
    "gopher://example.org/",
    "",
)


@pytest.mark.parametrize(("binding", "version"), [(JSON_RPC, "1.0"), (REST, "1.0"), (JSON_RPC, "0.3"), (REST, "0.3")])
def test_an_address_that_is_not_the_open_internets_is_refused(
    line: Line, settings: Any, binding: str, version: str
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = False

    async def play() -> int:
        async with line.open(binding=binding, version=version) as client:
            task = (await send(client, ask("query_state", {"query": "golem"})))[0]["task"]["id"]
            refused = 0
            for url in PRIVATE:
                try:
                    await client.create_task_push_notification_config(_config(url, task_id=task, id="mine"))
                except (A2AError, ValueError):
                    refused += 1
            return refused

    assert run(play()) == len(PRIVATE)
    assert not PushConfig.objects.exists()


@pytest.mark.parametrize("url", PRIVATE[:-1])
def test_a_message_that_names_such_an_address_is_refused_and_asks_nothing(line: Line, settings: Any, url: str) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = False
    message = MessageToDict(ask("query_state", {"query": "golem"}).message)
    told = {"url": url, "token": TOKEN}
    params = {"message": message, "configuration": {"taskPushNotificationConfig": told}}
    answer = line.post({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).json()
    assert answer["error"]["code"] == -32602, answer
    assert not PushConfig.objects.exists()


def test_an_address_that_became_private_meanwhile_is_not_sent_to(
    line: Line, receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that belonged to the open internet when it was given, and to this machine when it was used."""
    url = "https://rebinding.example/hook"
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = False
    lookup = socket.getaddrinfo
    place = ["1.1.1.1"]

    def look_up(host: Any, *args: Any, **options: Any) -> Any:
        return lookup(place[0] if host == "rebinding.example" else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    _ask_and_be_told(line, url)
    place[0] = "127.0.0.1"
    _deliver_all()
    assert receiver.got == []
    rows = PushNotification.objects.all()
    assert rows and all("not public" in row.last_error for row in rows), [row.last_error for row in rows]


def test_where_a_receiver_sends_us_on_to_is_not_gone_to(line: Line, receiver: Receiver) -> None:
    other = Receiver()
    try:
        receiver.statuses, receiver.extra = [307, 302, 308], {"Location": other.url}
        _ask_and_be_told(line, receiver.url)
        _deliver_all()
        assert receiver.got and other.got == []
        assert {row.last_error for row in PushNotification.objects.all()} <= {f"answered {n}" for n in (302, 307, 308)}
    finally:
        other.server.shutdown()
        other.server.server_close()


def _ask_and_be_told(line: Line, url: str, version: str = "1.0") -> None:
    async def play() -> None:
        async with line.open(version=version) as client:
            request = ask("query_state", {"query": "golem"})
            request.configuration.task_push_notification_config.CopyFrom(_config(url))
            await send(client, request)

    run(play())


@pytest.mark.parametrize("bad", ["line\r\nX-Injected: 1", "t\u00f6ken", "x" * 3_000])
def test_a_token_that_would_break_a_header_is_refused(make_agent: MakeAgent, settings: Any, bad: str) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    agent = make_agent()
    task = factories.make_a2a_task(golem=agent.golem, api_key=agent.key.key)
    config = wire.TaskPushNotificationConfig(url="http://127.0.0.1/", token=bad)
    with pytest.raises(notifications.PushRefused):
        notifications.add_config(task=task, config=config, is_legacy=False, now=clock.now())


def test_addresses_are_listed_without_secrets_kept_sealed_and_forgotten(line: Line, receiver: Receiver) -> None:
    async def play() -> list[dict[str, Any]]:
        async with line.open() as client:
            task = (await send(client, ask("query_state", {"query": "golem"})))[0]["task"]["id"]
            config = _config(receiver.url, task_id=task, id="mine")
            made = await client.create_task_push_notification_config(config)
            again = await client.create_task_push_notification_config(config)
            found = await client.get_task_push_notification_config(
                wire.GetTaskPushNotificationConfigRequest(task_id=task, id="mine")
            )
            listed = await client.list_task_push_notification_configs(
                wire.ListTaskPushNotificationConfigsRequest(task_id=task)
            )
            return [MessageToDict(each) for each in (made, again, found, listed)]

    told = run(play())
    assert told[2]["id"] == "mine" and len(told[3]["configs"]) == 1
    assert TOKEN not in str(told) and CREDENTIALS not in str(told)
    stored = str(
        [
            {name: bytes(v) if isinstance(v, memoryview) else v for name, v in row.items()}
            for row in PushConfig.objects.values()
        ]
    )
    assert TOKEN not in stored and CREDENTIALS not in stored

    async def forget() -> None:
        async with line.open() as client:
            await client.delete_task_push_notification_config(
                wire.DeleteTaskPushNotificationConfigRequest(task_id=told[2]["taskId"], id="mine")
            )

    run(forget())
    assert not PushConfig.objects.exists()


def test_a_task_tells_a_few_addresses_at_most(agent: Agent, settings: Any) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    task = factories.make_a2a_task(golem=agent.golem, api_key=agent.key.key)
    for number in range(settings.GOLEM_A2A_MOST_PUSH_CONFIGS):
        notifications.add_config(
            task=task, config=_config(f"http://127.0.0.1/{number}"), is_legacy=False, now=clock.now()
        )
    with pytest.raises(notifications.PushRefused):
        notifications.add_config(task=task, config=_config("http://127.0.0.1/x"), is_legacy=False, now=clock.now())


def test_one_change_is_one_notification_for_each_address(agent: Agent) -> None:
    task = factories.make_a2a_task(golem=agent.golem, api_key=agent.key.key)
    for name in ("one", "two"):
        PushConfig.objects.create(task=task, name=name, url="https://example.org/", created_at=clock.now())
    leaving = [TaskState.WORKING]
    assert move_task(task_id=task.pk, leaving=leaving, to=TaskState.COMPLETED, now=clock.now())
    assert not move_task(task_id=task.pk, leaving=leaving, to=TaskState.FAILED, now=clock.now())
    assert PushNotification.objects.count() == 2
    for body in PushNotification.objects.values_list("body", flat=True):
        told = ParseDict(body, wire.StreamResponse()).status_update
        assert UUID(told.task_id) == task.pk
        assert told.status.state == wire.TASK_STATE_COMPLETED
    assert Task.objects.get().version == 2

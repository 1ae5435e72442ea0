"""Receivers that never answer, with a worker of the product on the real broker: nobody else waits for them."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from golem_project.a2a import tasks as a2a_tasks
from golem_project.alerts import channels
from golem_project.alerts import tasks as alert_tasks
from golem_project.alerts.models import ChannelKind
from golem_project.celery import app
from golem_project.embedded.product_process_plans import plan_workers
from golem_project.stream import tasks, webhooks
from tests import factories
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.stream.conftest import emit
from tests.receiver import Receiver
from tools_app import tasks as tools_tasks
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType

pytestmark = pytest.mark.django_db(transaction=True)
MakeReceiver = Callable[[], Receiver]
_QUEUES = ("stream", "webhooks", "alerts", "notices")


@pytest.fixture
def workers(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    """Those workers of the product that send to other people's servers, and look after what is sent."""
    name = connections["default"].settings_dict["NAME"]
    environment = {
        **os.environ,
        "DATABASE_URL": f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}",
        "DJANGO_SETTINGS_MODULE": "golem_project.settings.test",
        "GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES": "1",
        "PYTHONWARNINGS": "ignore",
    }
    empty_queues()
    plans = [plan for plan in plan_workers() if plan.name in ("stream", "outgoing")]
    running: list[subprocess.Popen[bytes]] = []
    logs: list[Path] = []
    try:
        for plan in plans:
            logs.append(tmp_path / f"{plan.name}.log")
            with logs[-1].open("wb") as log:
                running.append(subprocess.Popen(plan.argv, env=environment, stdout=log, stderr=log))
        wait_for("the workers", lambda: all(b" ready." in log.read_bytes() for log in logs), seconds=120)
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait(timeout=30)
        empty_queues()


def wait_for(what: str, is_so: Callable[[], bool], *, seconds: int = 60) -> None:
    deadline = clock.Deadline.after_ms(seconds * 1_000)
    while not is_so():
        assert not deadline.is_over, f"not within {seconds} s: {what}"
        threading.Event().wait(0.1)


@pytest.fixture
def hanging(make_receiver: MakeReceiver) -> Iterator[Receiver]:
    """It takes what is sent, and answers when the test is over."""
    made, over = make_receiver(), threading.Event()
    made.before_answer = lambda: over.wait(120)
    yield made
    over.set()


def make_endpoint(agent: Agent, url: str) -> None:
    webhooks.create_endpoint(
        owner=agent.golem.owner, golem=None, label="hook", url=url, types=["tool:*"], now=clock.now()
    )


@pytest.mark.usefixtures("workers")
def test_webhooks_that_hang_hold_up_no_other_owner_no_alert_no_notice_and_no_look_at_a_chain(
    make_agent: MakeAgent, receiver: Receiver, hanging: Receiver, make_receiver: MakeReceiver
) -> None:
    slow, quick, room, asker = make_agent(), make_agent(), make_receiver(), make_receiver()
    for _ in range(8):
        make_endpoint(slow, hanging.url)
    make_endpoint(quick, receiver.url)
    emit(slow.golem.pk, *range(20))
    tasks.spread_webhooks_task.delay()
    wait_for("the first that hangs is sent to", lambda: hanging.at_once > 0)
    # As the schedule does, many times before the first of them is over.
    for _ in range(5):
        tasks.spread_webhooks_task.delay()
    emit(quick.golem.pk, *range(30))
    channels.create_channel(
        person=quick.golem.owner,
        kind=ChannelKind.WEBHOOK,
        target={"url": room.url},
        now=clock.now(),
        label="room",
        topics=["stopped"],
    )
    event_bus.emit(golem_id=quick.golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": "x"}), now=clock.now())
    factories.make_a2a_notification(golem=quick.golem, url=asker.url)
    tasks.spread_webhooks_task.delay()
    alert_tasks.gather_alerts_task.delay()
    a2a_tasks.notify_due_task.delay()
    poll = tools_tasks.poll_subscriptions_task.apply_async(ignore_result=False)
    wait_for("every delivery of the other owner", lambda: len(receiver.got) == 30)
    wait_for("the alert", lambda: len(room.got) == 1)
    wait_for("the notice", lambda: len(asker.got) == 1)
    assert poll.get(timeout=30) is not None
    assert receiver.most_at_once == 1


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("kind", ["alerts", "notices"])
def test_chats_and_askers_that_hang_hold_up_no_other_persons(
    make_agent: MakeAgent, receiver: Receiver, hanging: Receiver, kind: str
) -> None:
    """More of those that hang than the time below is enough for, where they come one after the other."""
    slow, slower, quick = make_agent(), make_agent(), make_agent()
    for agent, url, count in ((slow, hanging.url, 10), (slower, hanging.url, 10), (quick, receiver.url, 1)):
        for _ in range(count):
            if kind == "notices":
                factories.make_a2a_notification(golem=agent.golem, url=url)
            else:
                channels.create_channel(
                    person=agent.golem.owner,
                    kind=ChannelKind.WEBHOOK,
                    target={"url": url},
                    now=clock.now(),
                    label="room",
                    topics=["stopped"],
                )
        event_bus.emit(golem_id=agent.golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": "x"}), now=clock.now())
    for _ in range(3):
        (a2a_tasks.notify_due_task if kind == "notices" else alert_tasks.gather_alerts_task).delay()
    poll = tools_tasks.poll_subscriptions_task.apply_async(ignore_result=False)
    wait_for("the other person's", lambda: len(receiver.got) == 1, seconds=25)
    assert poll.get(timeout=30) is not None


@pytest.mark.parametrize("kind", ["webhooks", "alerts", "notices"])
def test_what_is_asked_for_is_not_asked_for_again_before_its_turn_is_over(
    make_agent: MakeAgent, receiver: Receiver, kind: str
) -> None:
    """No worker runs here: what is asked for stays in the queue, where it is counted."""
    empty_queues()
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, *range(50))
    factories.make_a2a_notification(golem=agent.golem, url=receiver.url)
    channels.create_channel(
        person=agent.golem.owner,
        kind=ChannelKind.WEBHOOK,
        target={"url": receiver.url},
        now=clock.now(),
        label="room",
        topics=["stopped"],
    )
    event_bus.emit(golem_id=agent.golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": "x"}), now=clock.now())
    ask = {
        "webhooks": tasks.spread_webhooks_task,
        "alerts": alert_tasks.gather_alerts_task,
        "notices": a2a_tasks.notify_due_task,
    }[kind]
    for _ in range(3):
        ask.run()
    assert count_queued() == 1
    empty_queues()


def count_queued() -> int:
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        return sum(int(channel.client.llen(queue)) for queue in _QUEUES)


def empty_queues() -> None:
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        channel.client.delete(*_QUEUES)

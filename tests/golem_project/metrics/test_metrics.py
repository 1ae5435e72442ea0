"""What an operator reads at /metrics: counts of all processes, figures of rows and the broker. Nobody else reads it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from celery import shared_task
from celery.app.task import Context
from celery.worker.request import Request
from django.test import Client

from golem_project.celery import app
from golem_project.metrics import counting, measured_tasks
from golem_project.metrics.counting import KEY, TALLY, Tally
from golem_project.metrics.measured_requests import MeasuredRequests
from golem_project.metrics.measures import BOUNDS, REFUSALS, REQUESTS
from golem_project.runtime import queue_waits
from tests import factories
from tools_app.core import clock, liveness

pytestmark = pytest.mark.django_db
TOKEN = "one-that-only-prometheus-knows"
Sample = tuple[str, frozenset[tuple[str, str]]]


@pytest.fixture(autouse=True)
def broker(settings: Any) -> Iterator[Any]:
    settings.GOLEM_METRICS_TOKEN = TOKEN
    client: Any = redis.Redis.from_url(settings.REDIS_URL)
    queues = [name.removeprefix("queue ") for name in liveness.list_queues()]
    TALLY.flush()
    client.delete(KEY, "golem:pulses", *queues)
    yield client
    client.delete(KEY, "golem:pulses", *queues)


def scrape() -> dict[Sample, float]:
    from prometheus_client.parser import text_string_to_metric_families

    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def read(found: dict[Sample, float], name: str, **labels: str) -> float:
    return found[(name, frozenset(labels.items()))]


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer another"}, {"Authorization": TOKEN}])
def test_without_the_operators_token_there_is_no_such_page(header: dict[str, str]) -> None:
    assert Client().get("/metrics", headers=header).status_code == 404


def test_where_no_token_is_set_nobody_reads_it(settings: Any) -> None:
    settings.GOLEM_METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_every_part_is_readable_and_nothing_of_a_person_is_told(django_assert_max_num_queries: Any) -> None:
    permit = factories.make_permit(golem=factories.make_golem(owner=factories.make_owner(), name="Atlas"))
    with django_assert_max_num_queries(20):
        found = scrape()
    parts = {dict(labels)["part"]: value for (name, labels), value in found.items() if name == "golem_part_readable"}
    assert parts and set(parts.values()) == {1.0}, parts
    assert read(found, "golem_permits_open", status="CREATED") == 1
    assert read(found, "golem_permits_recent", status="CREATED") == 1
    text = repr(found)
    assert "Atlas" not in text and str(permit.pk) not in text and "0x" not in text


def test_counts_of_two_processes_are_told_together_and_times_as_a_histogram() -> None:
    for tally in (Tally(), Tally()):
        tally.count(REFUSALS, "POLICY_REJECTED", "limits.per_day")
        tally.time(REQUESTS, 0.004, "/api/v1/pi/preview", "POST", "200")
        tally.time(REQUESTS, 40.0, "/api/v1/pi/preview", "POST", "200")
        tally.flush()
        tally.flush()
    found = scrape()
    assert read(found, "golem_refusals_total", code="POLICY_REJECTED", rule="limits.per_day") == 2
    of = {"endpoint": "/api/v1/pi/preview", "method": "POST", "status": "200"}
    assert read(found, "golem_request_seconds_bucket", **of, le=str(BOUNDS[0])) == 2
    assert read(found, "golem_request_seconds_bucket", **of, le=str(BOUNDS[-1])) == 2
    assert read(found, "golem_request_seconds_bucket", **of, le="+Inf") == 4
    assert read(found, "golem_request_seconds_count", **of) == 4
    assert read(found, "golem_request_seconds_sum", **of) == pytest.approx(80.008)


def test_what_cannot_be_handed_on_is_kept_and_the_rest_is_still_told(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reachable = settings.REDIS_URL
    tally = Tally()
    tally.count(REFUSALS, "NOT_FOUND", "")
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises(redis.RedisError):
        tally.flush()
    found = scrape()
    assert read(found, "golem_part_readable", part="counts") == 0
    assert read(found, "golem_part_readable", part="queues") == 0
    assert read(found, "golem_part_readable", part="permits") == 1
    settings.REDIS_URL = reachable
    tally.count(REFUSALS, "NOT_FOUND", "")
    tally.flush()
    assert read(scrape(), "golem_refusals_total", code="NOT_FOUND", rule="") == 2


def test_more_series_than_a_process_may_keep_are_counted_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_SERIES", 3)
    tally = Tally()
    for number in range(10):
        tally.count(REFUSALS, f"CODE_{number}", "")
    tally.count(REFUSALS, "CODE_0", "")
    tally.flush()
    found = scrape()
    assert read(found, "golem_refusals_total", code="CODE_0", rule="") == 2
    assert read(found, "golem_refusals_total", code="other", rule="other") == 7


def test_a_request_is_counted_under_its_route_and_never_under_its_path() -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        scope["state"].update({"golem.endpoint": "/api/v1/pi/permits/<uuid>"} if "permits" in scope["path"] else {})
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(path: str, method: str) -> None:
        async def send(_: Any) -> None: ...

        await MeasuredRequests(answer)({"type": "http", "path": path, "method": method}, None, send)  # type: ignore[arg-type]

    for path, method in (
        (f"/api/v1/pi/permits/{uuid.uuid4()}", "GET"),
        (f"/{uuid.uuid4()}", "GET"),
        ("/mcp", "POST"),
        ("/", "BREW"),
    ):
        asyncio.run(ask(path, method))
    TALLY.flush()
    found = scrape()
    seen = {
        (dict(labels)["endpoint"], dict(labels)["method"])
        for (name, labels) in found
        if name == "golem_request_seconds_count"
    }
    assert seen == {("/api/v1/pi/permits/<uuid>", "GET"), ("none", "GET"), ("/mcp", "POST"), ("none", "none")}


def test_a_refusal_of_the_api_is_counted_by_its_code() -> None:
    Client().get("/api/v1/pi/manifest")
    TALLY.flush()
    assert read(scrape(), "golem_refusals_total", code="API_KEY_MISSING", rule="") == 1


@shared_task(name="tests.fails_once", bind=True, max_retries=1)
def fails_once(self: Any) -> str:
    if self.request.retries == 0:
        raise self.retry(countdown=0)
    return "done"


def test_a_task_is_measured_with_its_end_and_its_retries() -> None:
    fails_once.apply()
    TALLY.flush()
    found = scrape()
    assert read(found, "golem_task_retries_total", task="tests.fails_once") == 1
    assert read(found, "golem_task_seconds_count", task="tests.fails_once", outcome="success") >= 1


def test_a_queue_tells_its_depth_and_how_long_its_oldest_task_waits(
    broker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: now - timedelta(seconds=75))
        app.send_task("tests.nobody", queue="chat")
    app.send_task("tests.nobody", queue="chat")
    found = scrape()
    assert read(found, "golem_queue_depth", queue="chat") == 2
    assert 75 <= read(found, "golem_queue_oldest_seconds", queue="chat") < 90
    assert read(found, "golem_queue_depth", queue="commit") == 0
    assert [queue.name for queue in queue_waits.list_late(now=clock.now())] == ["chat"]


def test_a_worker_tells_how_long_the_task_waited_that_it_took(broker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    celery: Any = app
    before = scrape().get(("golem_queue_wait_seconds_sum", frozenset({("queue", "chat")})), 0.0)
    now = clock.now()
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: now - timedelta(seconds=75))
        app.send_task("tests.fails_once", queue="chat")
    with app.connection_for_read() as connection, connection.SimpleQueue("chat") as queue:
        # What the library's worker makes of a message that it takes.
        taken = Request(queue.get(timeout=5), app=celery)
    measured_tasks.note_begin(SimpleNamespace(request=Context(taken.request_dict)))
    TALLY.flush()
    assert 75 <= read(scrape(), "golem_queue_wait_seconds_sum", queue="chat") - before < 90


def test_a_queue_is_late_from_thirty_seconds_on(broker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    app.send_task("tests.nobody", queue="chat")
    border = timedelta(seconds=queue_waits.LATE_SECONDS)
    assert queue_waits.list_late(now=now + border - timedelta(milliseconds=1)) == []
    assert [queue.name for queue in queue_waits.list_late(now=now + border)] == ["chat"]


def test_readiness_names_a_queue_that_is_late_and_since_when(broker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (liveness.BEAT, *liveness.list_queues()):
        liveness.beat(name, now=clock.now())
    now = clock.now()
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: now - timedelta(seconds=40))
        app.send_task("tests.nobody", queue="simulation")
    answer = Client().get("/readyz").json()
    assert answer["degraded"] is True
    (late,) = [each for each in answer["stuck"] if each["what"].startswith("queue")]
    assert late["what"] == "queue simulation" and "1 tasks wait for a worker, the oldest for 4" in late["reason"]

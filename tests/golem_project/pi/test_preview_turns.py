"""Previews go by turns between owners, and beyond those who may wait one is refused at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from permits_app.doors.preview_turns import preview_turn, preview_turns
from tests.golem_project.pi.conftest import PI, SWAP, Agent, MakeAgent, assert_problem
from tests.waiting_tasks import drop_waiting_tasks


@pytest.fixture(autouse=True)
def fresh_turns() -> Iterator[None]:
    preview_turns.cache_clear()
    yield
    preview_turns.cache_clear()
    drop_waiting_tasks()


def test_a_preview_comes_before_the_second_of_another_owners_crowd(
    live: Agent, tasks_here: None, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_PREVIEWS_AT_ONCE = 1
    crowd, done, begun = make_agent(), [], threading.Semaphore(0)
    assert crowd.golem.owner_id != live.golem.owner_id
    is_over = threading.Event()

    def crowd_in() -> None:
        with preview_turn(f"owner:{crowd.golem.owner_id}"):
            begun.release()
            is_over.wait(0.3)
            done.append(time.monotonic())

    threads = [threading.Thread(target=crowd_in, daemon=True) for _ in range(20)]
    for thread in threads:
        thread.start()
    assert begun.acquire(timeout=20)
    answer = live.post("preview_action", SWAP)
    before = len(done)
    is_over.set()
    for thread in threads:
        thread.join(20)
    assert answer.status_code == 200, answer.content
    assert before <= 4, f"{before} of the crowd came first"


def test_previews_of_one_owner_beyond_those_who_may_wait_are_refused_at_once(
    live: Agent, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_PREVIEWS_AT_ONCE, settings.GOLEM_PREVIEWS_WAITING_OF_ONE_OWNER = 1, 2
    settings.GOLEM_PREVIEW_WAIT_SECONDS = 15
    other = make_agent()
    of_owner = Golem.objects.filter(owner_id=live.golem.owner_id).values_list("pk", flat=True)
    assert live.golem.pk in of_owner
    release, entered = threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        entered.release()
        with preview_turn(f"owner:{live.golem.owner_id}"):
            release.wait(30)

    threads = [threading.Thread(target=hold, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert entered.acquire(timeout=20)
    deadline = time.monotonic() + 20
    while preview_turns().count_waiting() < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        refused = live.post("preview_action", SWAP)
        problem = assert_problem(refused, 429, "TOO_MANY_PREVIEWS_WAITING", "WAIT")
        assert refused.headers["Retry-After"] == "1" and "this owner" in problem["detail"]
        # What is no preview is answered as ever, and so is another owner's place in the line.
        assert live.post("query_state", {"query": "golem"}).status_code == 200
        settings.GOLEM_PREVIEW_WAIT_SECONDS = 0.2
        waited = other.post("preview_action", SWAP)
        assert_problem(waited, 429, "TOO_MANY_PREVIEWS_WAITING", "WAIT")
        assert "of all golems" in waited.json()["detail"]
    finally:
        release.set()
        for thread in threads:
            thread.join(20)


def test_a_preview_that_is_refused_or_fails_gives_its_turn_back(live: Agent, tasks_here: None, settings: Any) -> None:
    settings.GOLEM_PREVIEWS_AT_ONCE = 1
    for _ in range(3):
        refused = live.post("preview_action", {**SWAP, "amount": "0"})
        assert refused.status_code in (400, 422), refused.content
    assert live.post("preview_action", SWAP).status_code == 200
    assert Client().post(f"{PI}/preview_action").status_code == 401

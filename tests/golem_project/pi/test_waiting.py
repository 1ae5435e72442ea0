"""What a caller is told while no worker has finished: 202, 429, 504, and nothing started twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import redis

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models.api_key import Scope
from golem_project.pi.commit_slots import name_slot, waiting_slot
from golem_project.pi.owner_share_of_threads import PLACES
from permits_app.errors import TooManyWaiting
from permits_app.models import ActionPermit
from tests.golem_project.pi.conftest import SWAP, Agent, MakeAgent, assert_problem
from tests.live_golem import LiveGolem
from tests.waiting_tasks import drop_waiting_tasks
from tools_app.core import clock


def _wait_until_gone(broker: redis.Redis, name: str) -> None:
    deadline = clock.Deadline.after_ms(5_000)
    while broker.exists(name):
        assert not deadline.is_over
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def empty_queues() -> Iterator[None]:
    """No worker runs here, so what is asked for would be left to the next test's worker."""
    yield
    drop_waiting_tasks()


def test_respond_async_answers_at_once_where_to_look(live: Agent, shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    response = live.post("commit_action", {"permit_id": permit_id}, Prefer="respond-async, wait=10")
    answer = response.json()
    assert (response.status_code, answer["status"], answer["result"]) == (202, "COMMITTING", None)
    assert response.headers["Location"] == f"/api/v1/pi/permits/{permit_id}"
    assert response.headers["Preference-Applied"] == "respond-async"
    shared_golem.work(permit_id)
    assert (
        live.client.get(response.headers["Location"], headers={"Authorization": f"Bearer {live.key.token}"}).json()[
            "status"
        ]
        == "COMMITTED"
    )


def test_a_commit_nobody_works_on_answers_committing_after_the_wait(
    live: Agent, shared_golem: LiveGolem, settings: Any
) -> None:
    settings.GOLEM_COMMIT_WAIT_SECONDS = 0.3
    permit_id = shared_golem.preview()["permit_id"]
    response = live.post("commit_action", {"permit_id": permit_id})
    assert (response.status_code, response.json()["status"]) == (202, "COMMITTING")
    assert "Preference-Applied" not in response.headers


def test_a_preview_nobody_works_on_says_to_look_at_the_state(live: Agent, settings: Any) -> None:
    settings.GOLEM_PREVIEW_WAIT_SECONDS = 0.3
    assert_problem(live.post("preview_action", SWAP), 504, "WORKER_TIMEOUT", "CHECK_STATE")


def test_at_most_four_commits_of_a_token_wait_and_a_fifth_is_not_started(live: Agent, shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    key_id = live.key.key.pk
    entered, leave = threading.Barrier(5), threading.Event()

    def wait() -> None:
        with waiting_slot(key_id, request_id="r"):
            entered.wait(timeout=20)
            leave.wait(timeout=20)

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    entered.wait(timeout=20)
    try:
        response = live.post("commit_action", {"permit_id": permit_id})
        problem = assert_problem(response, 429, "TOO_MANY_COMMITS_WAITING", "WAIT")
        assert (problem["limit"], response.headers["Retry-After"]) == (4, "2")
        assert ActionPermit.objects.get(pk=permit_id).status == "CREATED"
        other = create_api_key(golem=live.golem, scopes=Scope.values, label="other", created_by=None, now=clock.now())
        with waiting_slot(other.key.pk, request_id="r"):
            pass
    finally:
        leave.set()
        for thread in threads:
            thread.join(timeout=20)
    with waiting_slot(key_id, request_id="r"):
        pass


def test_a_place_of_a_dead_process_frees_itself(settings: Any) -> None:
    settings.GOLEM_COMMIT_WAITERS_PER_KEY = 1
    key_id = uuid4()
    with waiting_slot(key_id, request_id="r"):
        with pytest.raises(TooManyWaiting), waiting_slot(key_id, request_id="r"):
            pass
        broker = redis.Redis.from_url(settings.REDIS_URL)
        # A holder that lives gives it back within the time that it may wait at most.
        assert settings.GOLEM_COMMIT_WAIT_SECONDS < broker.ttl(name_slot(key_id, 0))
        broker.pexpire(name_slot(key_id, 0), 1)
        _wait_until_gone(broker, name_slot(key_id, 0))
        with waiting_slot(key_id, request_id="r"):
            pass


def test_agents_of_one_owner_hold_half_of_a_servers_threads_and_a_halt_needs_none(
    live: Agent, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_WEB_THREADS = 4
    other = make_agent(scopes=[Scope.READ])
    assert other.golem.owner_id != live.golem.owner_id
    owner = live.golem.owner_id
    with PLACES.hold(owner), PLACES.hold(owner):
        refused = live.post("query_state", {"query": "golem"})
        assert_problem(refused, 429, "TOO_MANY_REQUESTS_AT_ONCE")
        assert refused.headers["Retry-After"] == "1"
        assert other.post("query_state", {"query": "golem"}).status_code == 200
        halt = live.post("emergency_halt", {"reason": "somebody floods it"})
        assert halt.status_code == 200, halt.content
    for _ in range(3):
        assert live.post("query_state", {"query": "golem"}).status_code == 200

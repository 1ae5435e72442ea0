"""An answer is popped by its one waiter; what nobody fetches goes away."""

from __future__ import annotations

import threading
import uuid

import pytest
import redis
from celery import states
from celery.exceptions import TimeoutError as CeleryTimeout
from django.conf import settings

from golem_project.celery import app
from golem_project.runtime.queue_transport import Channel
from tools_app.core.task_results import AnswerBackend


@pytest.fixture
def answers() -> AnswerBackend:
    backend = app.backend
    assert isinstance(backend, AnswerBackend), "the settings name another result backend"
    return backend


def test_an_answer_wakes_the_one_who_waits_for_it(answers: AnswerBackend) -> None:
    task_id, heard = uuid.uuid4().hex, []
    waiting = threading.Thread(target=lambda: heard.append(answers.wait_for(task_id, timeout=20)["result"]))
    waiting.start()
    answers.store_result(task_id, {"ok": "done"}, states.SUCCESS)
    waiting.join(timeout=20)
    assert heard == [{"ok": "done"}]
    # Fetched once: nothing is left behind.
    assert answers.get_state(task_id) == states.PENDING


def test_an_answer_that_came_first_waits_for_its_waiter_and_goes_away_in_the_end(answers: AnswerBackend) -> None:
    task_id = uuid.uuid4().hex
    answers.store_result(task_id, {"ok": 1}, states.SUCCESS)
    server = redis.Redis.from_url(settings.REDIS_URL)
    assert 0 < server.ttl(f"golem:answer:{task_id}") <= settings.CELERY_RESULT_EXPIRES
    assert answers.get_state(task_id) == states.SUCCESS
    assert app.AsyncResult(task_id).get(timeout=5, disable_sync_subtasks=False) == {"ok": 1}


def test_a_failure_is_raised_where_it_is_waited_for(answers: AnswerBackend) -> None:
    task_id = uuid.uuid4().hex
    answers.store_result(task_id, ValueError("no"), states.FAILURE)
    with pytest.raises(ValueError, match="no"):
        app.AsyncResult(task_id).get(timeout=5, disable_sync_subtasks=False)


def test_whoever_waits_for_nothing_is_told_so_in_time(answers: AnswerBackend) -> None:
    with pytest.raises(CeleryTimeout):
        answers.wait_for(uuid.uuid4().hex, timeout=0.05)


def test_a_channel_keeps_its_client_as_long_as_its_pool() -> None:
    with app.connection_for_write() as connection:
        channel = connection.default_channel
        assert isinstance(channel, Channel)
        first = channel._create_client()
        assert channel._create_client() is first
        channel._disconnect_pools()  # type: ignore[attr-defined]
        assert channel._create_client() is not first

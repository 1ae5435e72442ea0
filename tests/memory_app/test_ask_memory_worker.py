"""Asking the memory worker over a real broker: answered with vectors, or by words alone when it is away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from celery.result import denied_join_result
from django.conf import settings as django_settings
from django.db import connection

from memory_app import ask_memory_worker as asking
from memory_app import embedding
from memory_app.actions.query_grimoire import query_grimoire
from memory_app.ask_memory_worker import request_query_grimoire
from memory_app.tasks import forget_episodes_task, query_grimoire_task, store_episode_task
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core.errors import InvalidParams

pytestmark = pytest.mark.django_db(transaction=True)

CHECKOUT = Path(__file__).resolve().parents[2]


def child_environment(**changed: str) -> dict[str, str]:
    """This environment, with the database of the running test."""
    url = urlsplit(django_settings.DATABASE_URL)
    database = urlunsplit(url._replace(path=f"/{connection.settings_dict['NAME']}"))
    return {**os.environ, "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test", **changed}


@pytest.fixture
def memory_worker() -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-m", "celery", "-A", "golem_project.celery", "worker", "-n", "memory-test@%h"]
    argv += ["-Q", "memory", "-P", "threads", "-c", "1", "-l", "INFO", "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(
        argv, cwd=CHECKOUT, env=child_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert worker.stdout is not None
    lines = []
    for line in worker.stdout:
        lines.append(line)
        if "embedding model ready" in line:
            break
    else:
        pytest.fail("the worker ended before its model was ready:\n" + "".join(lines[-30:]))
    yield worker
    worker.terminate()
    worker.communicate(timeout=60)


@pytest.fixture
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a web process: this one never loaded the model, and must not."""

    def refuse(_texts: Any) -> Any:
        raise AssertionError("the model is loaded outside the memory worker")

    monkeypatch.setattr(embedding, "is_loaded", lambda: False)
    monkeypatch.setattr(embedding, "embed", refuse)


def test_the_memory_worker_loads_its_model_and_answers_with_vectors(
    memory_worker: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = make_golem()
    episode = remember(golem, "A sandwich attack took 80 basis points from the trade")
    monkeypatch.setattr(embedding, "is_loaded", lambda: False)
    answer = request_query_grimoire(
        golem_id=golem.pk, query="someone front-ran my order", limit=5, now=NOW, wait_seconds=20
    )
    assert (answer["mode"], answer["mode_reason"]) == ("hybrid", None)
    assert answer["episodes"][0]["score_parts"]["vector_rank"] == 1
    episode.refresh_from_db()
    assert episode.access_count == 1
    stored = store_episode_task.delay(
        golem_id=str(golem.pk),
        permit_id=None,
        tool_name="wallet_transfer_token",
        action_type="transfer",
        venue="wallet",
        chain_id=31337,
        tokens=["USDC"],
        prediction={},
        outcome={"succeeded": True},
        summary="Sent 5 USDC to the owner",
        importance="base",
        provenance={"written_by": "runtime"},
        occurred_at=NOW.isoformat(),
    ).get(timeout=20, disable_sync_subtasks=False)
    assert (
        query_grimoire(golem_id=golem.pk, query="sent", now=NOW, limit=1)["episodes"][0]["id"]
        == (stored["ok"]["episode_id"])
    )
    assert forget_episodes_task.delay().id


def test_without_a_worker_words_answer_in_time_and_say_why(without_model: None) -> None:
    golem = make_golem()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "embed", lambda texts: [[1.0] + [0.0] * 383 for _ in texts])
        remember(golem, "A sandwich attack took 80 basis points")
    answer = request_query_grimoire(golem_id=golem.pk, query="sandwich", now=NOW, wait_seconds=0.2)
    assert answer["mode"] == "text_only"
    assert "no memory worker answered within 0.2 s" in answer["mode_reason"]
    assert len(answer["episodes"]) == 1


def test_a_flag_left_by_another_thread_of_this_process_does_not_stop_the_question(without_model: None) -> None:
    golem = make_golem()
    with denied_join_result():
        answer = request_query_grimoire(golem_id=golem.pk, query="sandwich", now=NOW, wait_seconds=0.2)
    assert "no memory worker answered within 0.2 s" in answer["mode_reason"]


def test_with_the_broker_down_words_answer_and_say_why() -> None:
    golem = make_golem()
    remember(golem, "A sandwich attack took 80 basis points")
    code = (
        "import json, sys, uuid, django; django.setup();"
        "from django.utils import timezone;"
        "from memory_app.ask_memory_worker import request_query_grimoire as ask;"
        f"found = ask(golem_id=uuid.UUID('{golem.pk}'), query='sandwich', now=timezone.now());"
        "print(json.dumps([found['mode'], found['mode_reason'], len(found['episodes']), 'fastembed' in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        env=child_environment(REDIS_URL="redis://127.0.0.1:1/0"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == ["text_only", "the task queue does not answer", 1, False]


def test_a_process_that_holds_the_model_asks_nobody() -> None:
    golem = make_golem()
    remember(golem, "Swapped 500 USDC")
    assert embedding.is_loaded()
    answer = request_query_grimoire(golem_id=golem.pk, query="swap", now=NOW, wait_seconds=0)
    assert answer["mode"] == "hybrid"


def test_a_store_without_episodes_asks_nobody(without_model: None) -> None:
    answer = request_query_grimoire(golem_id=make_golem().pk, query="swap", store="insights", now=NOW, wait_seconds=0)
    assert answer["insights"] == []


def test_a_malformed_question_is_refused_before_anyone_is_asked(without_model: None) -> None:
    with pytest.raises(InvalidParams):
        request_query_grimoire(golem_id=make_golem().pk, query="swap", limit=99, now=NOW)


def test_a_problem_on_the_worker_comes_back_as_data() -> None:
    answer = query_grimoire_task(golem_id=str(make_golem().pk), query="", store="episodes", limit=1, filters={})
    assert answer["problem"]["code"] == "INVALID_PARAMS"


def test_memory_tasks_go_to_the_memory_queue() -> None:
    routes = query_grimoire_task.app.amqp.router.route({}, query_grimoire_task.name)
    assert routes["queue"].name == "memory"


def test_who_waits_for_an_answer_holds_no_connection_but_one_that_a_transaction_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[bool] = []

    def make(*, is_needed: bool) -> SimpleNamespace:
        return SimpleNamespace(in_atomic_block=is_needed, close=lambda: closed.append(is_needed))

    held = [make(is_needed=True), make(is_needed=False)]
    monkeypatch.setattr(asking, "connections", SimpleNamespace(all=lambda initialized_only: held))
    asking._give_connections_back()
    assert closed == [False]

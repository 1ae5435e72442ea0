"""What operators see of a process: its name at the database, its lines as JSON, and health by the bare address."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from golem_project.celery import app
from golem_project.embedded.paths import CHECKOUT
from golem_project.middleware.json_lines import JsonFormatter
from golem_project.middleware.request_id import RequestIdFilter, carried
from golem_project.runtime import process_name
from golem_project.runtime.quiet_beat import QuietBeat


def write(record: logging.LogRecord) -> dict[str, Any]:
    RequestIdFilter().filter(record)
    told: dict[str, Any] = json.loads(JsonFormatter().format(record))
    return told


def make(message: str, *args: Any, exc_info: Any = None) -> logging.LogRecord:
    return logging.LogRecord("permits_app.doors", logging.WARNING, "doors.py", 1, message, args, exc_info)


def test_a_line_of_json_carries_the_ids_of_request_permit_and_golem() -> None:
    with carried(request_id="r-12345678", permit_id="p-1", golem_id="g-1"):
        told = write(make("sent %s", "twice\nonce"))
    assert {name: told[name] for name in ("level", "logger", "message", "request_id", "permit_id", "golem_id")} == {
        "level": "WARNING",
        "logger": "permits_app.doors",
        "message": "sent twice\nonce",
        "request_id": "r-12345678",
        "permit_id": "p-1",
        "golem_id": "g-1",
    }
    assert not {"request_id", "permit_id", "golem_id", "trace"} & set(write(make("nothing")))


@app.task(name="tests.note_line")
def note_line(**_: Any) -> dict[str, Any]:
    return write(make("within"))


def test_a_task_carries_the_ids_it_was_given() -> None:
    told = note_line.apply(kwargs={"request_id": "r-12345678", "permit_id": "p-2"}).get()
    assert (told["request_id"], told["permit_id"]) == ("r-12345678", "p-2")
    assert "permit_id" not in write(make("after"))


def test_no_secret_and_no_address_is_in_a_line_of_json_nor_in_its_trace() -> None:
    try:
        raise ValueError("of ana@golem.example")
    except ValueError:
        told = write(make("from ana@golem.example", exc_info=sys.exc_info()))
    assert "ValueError" in told["trace"] and "ana@golem.example" not in json.dumps(told)


def test_beat_writes_no_line_for_each_task_that_it_sends_and_all_others() -> None:
    quiet = QuietBeat()

    def may(name: str, level: int, message: str) -> bool:
        return quiet.filter(logging.LogRecord(name, level, "beat.py", 1, message, (), None))

    assert not may("celery.beat", logging.INFO, "Scheduler: Sending due task %s (%s)")
    assert may("celery.beat", logging.INFO, "beat: Starting...")
    assert may("celery.beat", logging.ERROR, "Scheduler: Sending due task failed")
    assert may("golem", logging.INFO, "Scheduler: Sending due task")


@pytest.mark.django_db
def test_a_session_at_the_database_says_whose_it_is() -> None:
    code = (
        "import django; django.setup()\n"
        "from golem_project.runtime import process_name; process_name.call_it('worker commit')\n"
        "from django.db import connection\n"
        "with connection.cursor() as c: c.execute('SHOW application_name'); print(c.fetchone()[0])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "golem worker commit"
    assert connection.get_connection_params()["application_name"] == process_name.tell()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_asked_by_the_bare_address_over_plain_http(path: str, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
    answer = Client().get(path, headers={"Host": "10.4.0.17:8000"})
    assert answer.status_code in {200, 503}
    assert "10.4.0.17" not in answer.content.decode()
    assert Client().get("/about", headers={"Host": "10.4.0.17:8000"}).status_code in {301, 400}


@pytest.mark.django_db
@pytest.mark.parametrize(("token", "status"), [("prometheus", 200), ("another", 404)])
def test_figures_are_scraped_by_the_bare_address_with_the_token_alone(token: str, status: int, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.GOLEM_METRICS_TOKEN = True, "prometheus"
    settings.SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
    answer = Client().get("/metrics", headers={"Host": "10.4.0.17:8000", "Authorization": f"Bearer {token}"})
    assert answer.status_code == status
    assert "10.4.0.17" not in answer.content.decode()


def test_every_other_path_wants_a_host_that_is_allowed() -> None:
    assert Client().get("/about", headers={"Host": "10.4.0.17:8000"}).status_code == 400


def test_addresses_of_servers_may_stand_in_files(tmp_path: Path) -> None:
    for name, text in {
        "db": "postgres://u:p@db.example/x",
        "cache": "rediss://c/1",
        "node": "https://n.example/key",
    }.items():
        (tmp_path / name).write_text(f"{text}\n")
    environment = {
        **{name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}},
        "DATABASE_URL_FILE": str(tmp_path / "db"),
        "REDIS_URL_FILE": str(tmp_path / "cache"),
        "GOLEM_RPC_URL_1_FILE": str(tmp_path / "node"),
    }
    code = (
        "from django.conf import settings as s\n"
        "print(s.DATABASES['default']['HOST'], s.REDIS_URL, s.GOLEM_RPC_URLS[1][0])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["db.example", "rediss://c/1", "https://n.example/key"]

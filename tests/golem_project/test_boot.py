"""Web server, worker and beat refuse to start on a delegation graph that breaks its rules."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.db import connections

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype
from golem_project.embedded.paths import CHECKOUT

DOORS = {
    "web": [sys.executable, "-m", "uvicorn", "golem_project.asgi:application", "--host", "127.0.0.1", "--port", "0"],
    "wsgi": [sys.executable, "-c", "import golem_project.wsgi"],
    "worker": [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "golem_project.celery",
        "worker",
        "--pool",
        "solo",
        "-Q",
        "nobodys",
    ],
    "beat": [sys.executable, "-m", "celery", "-A", "golem_project.celery", "beat"],
}


def _start(door: str, options: str = "") -> subprocess.CompletedProcess[str]:
    name = connections["default"].settings_dict["NAME"]
    environment = {
        **os.environ,
        "DATABASE_URL": f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}{options}",
        "DJANGO_SETTINGS_MODULE": "golem_project.settings.test",
        "PYTHONWARNINGS": "ignore",
    }
    return subprocess.run(
        DOORS[door], env=environment, capture_output=True, text=True, timeout=90, check=False, cwd=CHECKOUT
    )


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("door", list(DOORS))
def test_nothing_starts_on_a_stored_graph_with_a_circle(door: str) -> None:
    sync_builtins()
    one, other = (Archetype.objects.get(name=name) for name in ("trade-executor", "risk-assessor"))
    Archetype.objects.filter(pk=other.pk).update(is_terminal_node=False)
    other.delegates_to.add(one)
    done = _start(door)
    assert done.returncode != 0
    assert "delegation graph" in done.stderr + done.stdout


@pytest.mark.usefixtures("transactional_db")
def test_a_sound_graph_lets_the_server_start() -> None:
    sync_builtins()
    done = _start("wsgi")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize(("seconds", "starts"), [(-60, False), (8, True)])
def test_a_server_with_another_clock_than_the_database_does_not_start(seconds: int, starts: bool) -> None:
    sync_builtins()
    with connections["default"].cursor() as cursor:
        cursor.execute("CREATE SCHEMA other_clock")
        cursor.execute(
            "CREATE FUNCTION other_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS"
            f" $$ SELECT pg_catalog.clock_timestamp() + interval '{seconds} seconds' $$"
        )
        try:
            done = _start("wsgi", options="?options=-c%20search_path%3Dother_clock,public,pg_catalog")
        finally:
            cursor.execute("DROP SCHEMA other_clock CASCADE")
    assert (done.returncode == 0) is starts, done.stderr
    assert starts or "clock" in done.stderr

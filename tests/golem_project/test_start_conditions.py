"""Web server, worker and beat refuse to start on a graph that breaks its rules, other tools, or another clock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype
from golem_project.embedded.paths import CHECKOUT
from tools_app.core import clock
from tools_app.models import FrozenRegistry

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
    told = done.stderr + done.stdout
    assert "BOOT_GRAPH_INVALID" in told and "delegation graph" in told and "sync_builtins" in told


def _refused_for_its_tools(door: str) -> str:
    done = _start(door)
    told = done.stderr + done.stdout
    assert done.returncode != 0, told
    assert "BOOT_REGISTRY_DIFFERS" in told and "manage.py sync_builtins" in told
    return told


def _freeze(**changes: Any) -> None:
    """What another version of the product would have written down; None leaves a tool out."""
    call_command("sync_builtins", stdout=StringIO())
    row = FrozenRegistry.objects.get()
    row.definitions = {name: told for name, told in {**row.definitions, **changes}.items() if told is not None}
    row.save()


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("door", list(DOORS))
def test_nothing_starts_with_a_tool_that_the_deployment_froze_otherwise(door: str) -> None:
    _freeze(uniswap_execute_swap="0x" + "0" * 64)
    assert "uniswap_execute_swap" in _refused_for_its_tools(door)


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("changes", [{"a_tool_of_tomorrow": "0x00"}, {"uniswap_execute_swap": None}])
def test_a_tool_too_many_or_too_few_is_refused_and_named(changes: dict[str, Any]) -> None:
    _freeze(**changes)
    (name,) = changes
    assert name in _refused_for_its_tools("worker")


@pytest.mark.usefixtures("transactional_db")
def test_who_sets_up_anew_says_which_tools_are_served_from_then_on() -> None:
    _freeze(uniswap_execute_swap=None)
    call_command("sync_builtins", stdout=StringIO())
    done = _start("wsgi")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("transactional_db")
def test_while_a_version_is_followed_its_processes_may_start_again_for_a_day() -> None:
    _freeze()
    here, later = FrozenRegistry.objects.get().definitions, clock.now()
    # The version after this one sets up: it has one tool more.
    FrozenRegistry.objects.update(definitions={**here, "a_tool_of_tomorrow": "0x00"}, previous=here, frozen_at=later)
    done = _start("wsgi")
    assert done.returncode == 0, done.stderr
    FrozenRegistry.objects.update(frozen_at=later - FrozenRegistry.ROLL_LASTS)
    assert "a_tool_of_tomorrow" in _refused_for_its_tools("wsgi")


@pytest.mark.usefixtures("transactional_db")
def test_who_sets_up_another_version_keeps_the_one_before_and_who_repeats_it_changes_nothing() -> None:
    _freeze(a_tool_of_yesterday="0x00")
    before = FrozenRegistry.objects.get().definitions
    for _ in range(2):
        call_command("sync_builtins", stdout=StringIO())
        row = FrozenRegistry.objects.get()
        assert row.previous == before and "a_tool_of_yesterday" not in row.definitions


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("door", ["web", "worker", "beat"])
def test_no_door_opens_by_another_clock(door: str) -> None:
    sync_builtins()
    with _another_clock(-60) as options:
        done = _start(door, options=options)
    told = done.stderr + done.stdout
    assert done.returncode != 0 and "BOOT_CLOCK_DIFFERS" in told and "time server" in told


@contextmanager
def _another_clock(seconds: int) -> Iterator[str]:
    """What to connect with to meet a database whose clock is `seconds` ahead."""
    with connections["default"].cursor() as cursor:
        cursor.execute("CREATE SCHEMA other_clock")
        cursor.execute(
            "CREATE FUNCTION other_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS"
            f" $$ SELECT pg_catalog.clock_timestamp() + interval '{seconds} seconds' $$"
        )
        try:
            yield "?options=-c%20search_path%3Dother_clock,public,pg_catalog"
        finally:
            cursor.execute("DROP SCHEMA other_clock CASCADE")


@pytest.mark.usefixtures("transactional_db")
def test_a_sound_graph_lets_the_server_start() -> None:
    sync_builtins()
    done = _start("wsgi")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize(("seconds", "starts"), [(-60, False), (8, True)])
def test_a_server_with_another_clock_than_the_database_does_not_start(seconds: int, starts: bool) -> None:
    sync_builtins()
    with _another_clock(seconds) as options:
        done = _start("wsgi", options=options)
    assert (done.returncode == 0) is starts, done.stderr
    assert starts or "clock" in done.stderr

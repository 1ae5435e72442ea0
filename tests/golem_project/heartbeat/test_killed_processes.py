"""Real workers, two real beats and a real database, ended by SIGKILL while a live golem ticks and acts.

Workers die at random moments of ticks that open a position, a beat dies beside another one, and the database crashes
with all its connections. Afterwards the golem has what its rule asks for: one position, opened once.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
from django.conf import settings
from django.db import Error, connection

from archetypes_app.models import Golem, Heartbeat, HeartbeatTick
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from tests.golem_project.heartbeat.pulses import make_due, turn_on
from tests.golem_project.heartbeat.test_killed_tick import assert_one_position_opened_once, let_time_pass
from tests.live_golem import LiveGolem
from tools_app.core import clock

pytestmark = pytest.mark.timeout(900)
_CELERY = (sys.executable, "-m", "celery", "-q", "-A", "golem_project.celery")
_QUEUES = "heartbeat,commit,memory,simulation,stream"
_PATIENCE_MS = 200_000
_KILLS = 6


class Processes:
    """One worker with three children, and two beats."""

    def __init__(self, *, queues: str = _QUEUES, beats: int = 2) -> None:
        self.queues = queues
        name = str(connection.settings_dict["NAME"])
        url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
        self.environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test"}
        self.worker = self.start_worker()
        self.beats = [self.start_beat() for _ in range(beats)]

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "-n", "killed@%h", "-Q", self.queues, "-P", "prefork", "-c", "3", "-l", "ERROR")

    def start_beat(self) -> subprocess.Popen[bytes]:
        return self._start("beat", "-l", "ERROR", "--pidfile=", "--max-interval", "1")

    def children(self) -> list[psutil.Process]:
        """The processes that run tasks."""
        return psutil.Process(self.worker.pid).children()

    def kill_worker(self) -> None:
        """The worker first, which would start new children, then those it leaves."""
        children = _list_children(self.worker.pid)
        self.worker.kill()
        self.worker.wait(30)
        end(children)

    def stop(self) -> None:
        self.kill_worker()
        for beat in self.beats:
            beat.kill()
            beat.wait(30)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            [*_CELERY, *arguments], cwd=settings.BASE_DIR, env=self.environment, stdout=quiet, stderr=quiet
        )


def end(children: Sequence[psutil.Process]) -> None:
    """Those that have not ended by themselves meanwhile."""
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.kill()


def _list_children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.fixture
def processes(shared_golem: LiveGolem) -> Iterator[Processes]:
    running = Processes()
    yield running
    running.stop()
    # Django keeps a connection that a crash broke, and every later test would fail by it.
    connection.close()


def wait_for(what: str, is_so: Callable[[], bool]) -> None:
    deadline, pause = clock.Deadline.after_ms(_PATIENCE_MS), threading.Event()
    while not _ask(is_so):
        assert not deadline.is_over, f"in vain: {what}"
        pause.wait(0.05)


def _ask(is_so: Callable[[], bool]) -> bool:
    try:
        return is_so()
    except Error:
        connection.close()
        return False


def crash_database() -> list[int]:
    """End one of the server's own processes: it ends all others, and recovers from its log. Which there were."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as asking:
        rows = asking.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()
        os.kill(rows[0][0], signal.SIGKILL)
        # Until the server has noticed it goes on answering; then it ends this connection too.
        with pytest.raises(psycopg.OperationalError):
            asking.execute("SELECT pg_sleep(60)")
    connection.close()
    return [pid for (pid,) in rows]


def is_recovered(ended: list[int]) -> bool:
    """Whether the server answers again and none of the processes of before is left: one may end a moment later."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", [ended])
        found = cursor.fetchone()
    return found is not None and found[0] == 0


def let_their_time_pass(golem: Golem) -> None:
    """Leases of the dead are over and the golem is due, for processes whose clocks are their own: a test moves none of
    theirs, and what it writes by a clock that it moved lies in their future.
    """
    past = clock.now() - timedelta(seconds=20)
    Heartbeat.objects.filter(pk=golem.pk).exclude(lease_expires_at=None).update(lease_expires_at=past)
    ActionPermit.objects.filter(status__in=["COMMITTING", "UNKNOWN"]).update(
        lease_expires_at=past, committing_at=past, updated_at=past
    )
    make_due(golem)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_workers_beats_and_the_database_are_killed_and_no_action_is_sent_twice(
    shared_golem: LiveGolem, processes: Processes
) -> None:
    golem = shared_golem.golem
    chance = random.Random(8)
    wait_for("the worker has children", lambda: len(processes.children()) >= 3)
    turn_on(golem)
    ticks = HeartbeatTick.objects.filter(golem=golem)
    wait_for("a beat's look led to a tick", ticks.exists)
    pause = threading.Event()
    for number in range(_KILLS):
        # Anywhere from the claim to the outcome: a tick that opens a position takes about this long.
        pause.wait(chance.random() * 0.8)
        end(processes.children())
        if number == 1:
            processes.beats[0].kill()
        if number == 3:
            ended = crash_database()
            wait_for("the database is back", lambda ended=ended: is_recovered(ended))  # type: ignore[misc]
        if number == 4:
            processes.kill_worker()
            processes.worker = processes.start_worker()
        seen = ticks.count()
        let_their_time_pass(golem)
        wait_for(f"it ticks again after kill {number}", lambda seen=seen: ticks.count() > seen)  # type: ignore[misc]
    wait_for("its position is opened", lambda: _settle(shared_golem))
    processes.stop()
    connection.close()
    let_time_pass(golem)
    assert_one_position_opened_once(shared_golem)


def _settle(live: LiveGolem) -> bool:
    let_their_time_pass(live.golem)
    return ActionPermit.objects.filter(golem=live.golem, status=PermitStatus.COMMITTED).exists()

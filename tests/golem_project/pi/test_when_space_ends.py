"""At the end of disk, memory and connections: refused with a reason, nothing signed is lost, all goes on by itself."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client

from golem_project import status
from golem_project.pi.exception_handler import as_golem_error
from golem_project.runtime.pooled_postgresql import base
from golem_project.settings.environment import VAR_DIR
from permits_app.actions.sweep_permits import list_unfinished
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.tasks import commit_permit_task
from tests.full_disk import failing_writes, forget_sessions, full_disk, read_only_database
from tests.golem_project.pi.conftest import Agent, assert_problem
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass
from tools_app.core import clock, resource_errors

EXHAUSTED = [
    ("53100", "STORAGE_FULL"),
    ("53200", "DATABASE_OUT_OF_MEMORY"),
    ("53300", "DATABASE_CONNECTIONS_USED_UP"),
    ("25006", "DATABASE_READ_ONLY"),
]


@pytest.fixture(autouse=True)
def nothing_is_noted() -> None:
    cache.clear()
    resource_errors._noted_ms.clear()


@pytest.fixture
def new_sessions_afterwards() -> Iterator[None]:
    """One that was opened in the last moment of a read-only database still takes no writes."""
    yield
    forget_sessions()


def read_space() -> dict[str, Any]:
    """What readiness says of it, once the threads that note it are through."""
    for thread in threading.enumerate():
        if thread.name == "note-exhausted":
            thread.join(30)
    checks = {check["name"]: check for check in Client().get("/readyz").json()["checks"]}
    found: dict[str, Any] = checks["space"]
    return found


@pytest.mark.usefixtures("tasks_here")
@pytest.mark.parametrize(("state", "code"), EXHAUSTED)
def test_a_preview_that_the_server_has_no_room_for_is_refused_with_its_reason(
    live: Agent, state: str, code: str
) -> None:
    body = {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
    with failing_writes(ActionPermit, state):
        response = live.post("preview_action", body)
        problem = assert_problem(response, 503, code, "WAIT")
        assert response.headers["Retry-After"] and problem["cleared_by"]
        assert ActionPermit.objects.count() == 0
    assert live.post("preview_action", body).status_code == 200


@pytest.mark.usefixtures("new_sessions_afterwards")
def test_a_read_only_database_is_named_and_its_sessions_are_parted_with_once_it_is_not(
    live: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "NEW_MS", 60_000)
    with read_only_database():
        connection.close()
        refused = live.post("emergency_halt", {"reason": "nothing can be written"})
        assert_problem(refused, 503, "DATABASE_READ_ONLY", "WAIT")
        connection.close()
        assert read_space()["detail"] == "DATABASE_READ_ONLY"
        connection.close()
    monkeypatch.setattr(base, "NEW_MS", 0)
    # Once a session is no newer than the last refusal it is asked, so that nobody is refused for its sake.
    assert live.post("emergency_halt", {"reason": "it can again"}).json()["halted"] is True


@pytest.mark.usefixtures("new_sessions_afterwards")
def test_sessions_that_were_idle_while_the_database_was_read_only_are_parted_with_after_one_refusal(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "_read_only", base.ReadOnlySessions())
    monkeypatch.setattr(base, "NEW_MS", 60_000)
    four_at_once = threading.Barrier(4)

    def read() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            four_at_once.wait(30)
        connection.close()

    def write(number: int) -> None:
        try:
            Group.objects.create(name=f"group {number}")
            if number:
                four_at_once.wait(30)
        finally:
            connection.close()

    with read_only_database():
        with ThreadPoolExecutor(4) as threads:
            for each in [threads.submit(read) for _ in range(4)]:
                each.result()
    monkeypatch.setattr(base, "NEW_MS", 0)
    with pytest.raises(OperationalError):
        write(0)
    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(write, number) for number in (1, 2, 3, 4)]:
            each.result()
    assert Group.objects.count() == 4


def test_bytes_that_a_full_disk_does_not_store_are_not_sent_and_the_commit_goes_on_by_itself(
    shared_golem: LiveGolem,
) -> None:
    with full_disk(OutboundTransaction) as disk:
        permit_id = str(shared_golem.preview()["permit_id"])
        shared_golem.start(permit_id)
        disk.fill()
        problem = commit_permit_task(permit_id=permit_id)["problem"]
        assert (problem["code"], problem["recovery"], problem["status"]) == ("STORAGE_FULL", "WAIT", 503)
        assert (shared_golem.mined_nonce(), OutboundTransaction.objects.count()) == (0, 0)
        assert shared_golem.permit(permit_id).status == "COMMITTING"
        assert read_space()["detail"] == "STORAGE_FULL"
        disk.free()
        # As the clock does: the lease of the try that failed runs out, and the sweep looks.
        let_pass(timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS))
        for left in list_unfinished(now=clock.now()):
            commit_permit_task(permit_id=str(left))
        assert shared_golem.permit(permit_id).status == "COMMITTED"
        assert shared_golem.mined_nonce() == OutboundTransaction.objects.count() == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_file_that_a_full_disk_does_not_take_is_refused_with_its_reason(number: int, tmp_path: Path) -> None:
    error = as_golem_error(OSError(number, "no room", str(tmp_path)))
    assert (error.code, str(error.next_step), error.http_status) == ("STORAGE_FULL", "WAIT", 503)
    assert str(tmp_path) not in error.detail


def test_a_disk_of_our_files_with_less_than_its_least_room_is_named(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    free = shutil.disk_usage(VAR_DIR).free
    monkeypatch.setattr(status, "LEAST_FREE_BYTES", free * 2)
    assert read_space() | {"ms": 0} == {
        "name": "space",
        "ok": False,
        "detail": "STORAGE_FULL",
        "ms": 0,
        "next": status._FIXES["space"],
    }
    monkeypatch.setattr(status, "LEAST_FREE_BYTES", free // 2)
    assert read_space()["ok"] is True

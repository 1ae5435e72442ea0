"""A worker that was killed, or lost its database, in the middle of commits: nobody waits for its lease."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import redis
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, connections

from permits_app import tasks
from permits_app.actions import commit
from permits_app.execution import commit_lease, executor
from permits_app.execution.chain_follower import Follower
from permits_app.execution.commit_lease import take_lease
from permits_app.execution.follower_threads import Following
from permits_app.models import ActionPermit, ChainWatch
from permits_app.models.permit import PermitStatus
from permits_app.permits.blocked_commits import list_blocked_accounts
from tests.dropping_proxy import DroppingProxy
from tests.evm.world import CHAIN_ID
from tests.golem_project.test_pooler import line as line
from tests.live_golem import LiveGolem
from tools_app.core import clock, wake_waiting_process
from tools_app.core.lease_holders import is_gone, name_holder

DIE = "def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"
BEFORE_SIGNING = "from permits_app.execution import executor\nexecutor.open_signer = die\n"
BEFORE_SENDING = "from permits_app.execution import executor\nexecutor.send_payload = die\n"
BEFORE_JUDGING = "from permits_app.actions import commit\ncommit.finish = die\n"


def run_elsewhere(script: str) -> subprocess.CompletedProcess[str]:
    """Another process of the product, with our database and chain."""
    database = os.environ["DATABASE_URL"].rpartition("/")[0] + "/" + connections["default"].settings_dict["NAME"]
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import os, signal, django\ndjango.setup()\n" + script],
        env={**os.environ, "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def sweep(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """What the sweep hands to workers."""
    handed: list[UUID] = []

    def enqueue(*, kwargs: dict[str, Any], **_: Any) -> None:
        handed.append(UUID(kwargs["permit_id"]))

    with monkeypatch.context() as patched:
        patched.setattr(tasks.commit_permit_task, "apply_async", enqueue)
        patched.setattr(tasks.remember_outcomes_task, "delay", lambda **_: None)
        tasks.sweep_permits_task.run()
    return handed


@pytest.mark.parametrize("where", [BEFORE_SIGNING, BEFORE_SENDING, BEFORE_JUDGING])
def test_what_a_killed_worker_left_is_handed_on_with_the_next_sweep_and_not_when_its_lease_ends(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    work = (
        "from permits_app.actions.commit import commit_permit\nfrom uuid import UUID\n"
        f"commit_permit(permit_id=UUID('{permit_id}'))\n"
    )
    done = run_elsewhere(DIE + where + work)
    assert done.returncode == -9, done.stderr
    left = shared_golem.permit(permit_id)
    assert left.lease_expires_at is not None and left.lease_expires_at > clock.now()
    assert sweep(monkeypatch) == [UUID(permit_id)]
    shared_golem.work(permit_id)
    assert shared_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert shared_golem.mined_nonce() == 2
    # Nobody behind it waited for anything.
    other = shared_golem.preview(amount="77000000")["permit_id"]
    assert shared_golem.commit(other)["status"] == PermitStatus.COMMITTED
    assert list_blocked_accounts(now=clock.now() + timedelta(hours=1)) == []


def test_a_lease_of_a_worker_that_lives_is_left_alone(shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    commit_lease = take_lease(permit_id=UUID(permit_id), now=clock.now())
    assert commit_lease is not None and sweep(monkeypatch) == []
    assert ActionPermit.objects.get(pk=permit_id).lease_owner == commit_lease.owner
    commit_lease.release()


def test_a_lease_of_another_machine_runs_out_by_itself(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    assert take_lease(permit_id=UUID(permit_id), now=clock.now()) is not None
    ActionPermit.objects.filter(pk=permit_id).update(lease_owner="0123456789ab-1-1-0123456789abcdef")
    assert sweep(monkeypatch) == []
    assert not is_gone(name_holder()) and not is_gone("") and not is_gone("something-else")


@pytest.mark.parametrize(
    ("module", "door"), [(executor, "open_signer"), (executor, "send_payload"), (commit, "finish")]
)
def test_what_a_worker_had_in_hand_when_its_database_was_killed_is_handed_on_once_it_is_back(
    shared_golem: LiveGolem, line: DroppingProxy, monkeypatch: pytest.MonkeyPatch, module: Any, door: str
) -> None:
    """The worker lives, so nobody takes its lease for left; and it cannot release what no database takes from it."""
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    behind: Callable[..., Any] = getattr(module, door)

    def after_the_kill(*args: Any, **named: Any) -> Any:
        line.go_away()
        return behind(*args, **named)

    with monkeypatch.context() as patched, pytest.raises((OperationalError, InterfaceError)):
        patched.setattr(module, door, after_the_kill)
        shared_golem.work(permit_id)
    connection.close()
    line.come_back()
    left = shared_golem.permit(permit_id)
    assert left.lease_expires_at is not None and left.lease_expires_at > clock.now()

    assert UUID(permit_id) in follow_until_handed()
    shared_golem.work(permit_id)
    assert shared_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert shared_golem.mined_nonce() == 2


@pytest.mark.parametrize(
    ("module", "door"), [(executor, "open_signer"), (executor, "send_payload"), (commit, "finish")]
)
def test_what_a_worker_had_in_hand_when_its_session_was_dropped_is_handed_on_at_once(
    shared_golem: LiveGolem, line: DroppingProxy, monkeypatch: pytest.MonkeyPatch, module: Any, door: str
) -> None:
    """The database was away for a moment only: the lease is given back, and nobody has it in hand any more."""
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    behind: Callable[..., Any] = getattr(module, door)

    def after_the_drop(*args: Any, **named: Any) -> Any:
        line.drop_all()
        return behind(*args, **named)

    with monkeypatch.context() as patched, pytest.raises((OperationalError, InterfaceError)):
        patched.setattr(module, door, after_the_drop)
        release = commit_lease.Lease.release

        def release_elsewhere(held: commit_lease.Lease) -> None:
            # As where a pool finds another session for the statement.
            connection.close()
            release(held)

        patched.setattr(commit_lease.Lease, "release", release_elsewhere)
        shared_golem.work(permit_id)
    assert shared_golem.permit(permit_id).lease_expires_at is None
    assert UUID(permit_id) in follow_until_handed()
    shared_golem.work(permit_id)
    assert shared_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert follow_until_handed(seconds=0.5) == [], "what has ended is handed to nobody"


def test_a_wake_up_that_found_no_database_is_handed_on_once_there_is_one(
    shared_golem: LiveGolem, line: DroppingProxy
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    line.go_away()
    assert tasks.commit_permit_task.run(permit_id=permit_id)["problem"]["code"] == "DATABASE_UNAVAILABLE"
    connection.close()
    line.come_back()
    assert follow_until_handed() == [UUID(permit_id)]
    assert follow_until_handed(seconds=0.5) == [], "once"


def test_a_commit_whose_wake_up_its_broker_lost_is_handed_on_once_the_broker_is_back(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is worked on a moment after, and not when it was left alone for so long that the sweep takes it."""
    handed, is_handed = list[UUID](), threading.Event()

    def enqueue(*, kwargs: dict[str, Any], **_: Any) -> None:
        handed.append(UUID(kwargs["permit_id"]))
        is_handed.set()

    monkeypatch.setattr(tasks.commit_permit_task, "apply_async", enqueue)
    monkeypatch.setattr(tasks.commit_reconciliation_task, "apply_async", lambda **_: None)
    following = tasks.start_followers()
    try:
        deadline = clock.Deadline.after_ms(60_000)
        while not wake_waiting_process.count_hearings():
            assert not deadline.is_over, "no tap is heard"
            threading.Event().wait(0.05)
        permit_id = shared_golem.preview()["permit_id"]
        shared_golem.start(permit_id)
        assert not is_handed.wait(0.5), "it was started just now, and is its worker's"
        with redis.Redis.from_url(settings.REDIS_URL) as broker:
            broker.client_kill_filter(_type="pubsub")
        assert is_handed.wait(30)
    finally:
        following.stop()
    assert set(handed) == {UUID(permit_id)}


def follow_until_handed(*, seconds: float = 10) -> list[UUID]:
    """What a follower of this process hands to workers until the first is handed, or so long."""
    handed, is_handed = list[UUID](), threading.Event()

    def hand(seen: UUID) -> None:
        handed.append(seen)
        is_handed.set()

    following = Following([CHAIN_ID], hand=hand)
    following.start()
    is_handed.wait(seconds)
    following.stop()
    return handed


def test_a_killed_follower_is_followed_at_once(shared_golem: LiveGolem) -> None:
    look = (
        "from permits_app.execution.chain_follower import Follower\nfrom tools_app.core import clock\n"
        f"Follower({CHAIN_ID}, hand=lambda _: None).look(now=clock.now())\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert run_elsewhere(look).returncode == -9
    watch = ChainWatch.objects.get(chain_id=CHAIN_ID)
    assert watch.lease_expires_at is not None and watch.lease_expires_at > clock.now()
    assert Follower(CHAIN_ID, hand=lambda _: None).look(now=clock.now()).is_ours

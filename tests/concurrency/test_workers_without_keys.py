"""Workers of two machines of which one has the keys: what the other cannot sign it hands on, and readiness tells."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connections

from golem_project.embedded.product_process_plans import plan_worker
from golem_project.status import _list_stuck
from permits_app.actions.commit_in_turn import commit_in_turn
from permits_app.custody.signers.choose_signer import is_held_here
from permits_app.custody.signers.keystore import Keystore
from permits_app.execution.commit_turns import is_for_another, list_turns
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.permits.blocked_commits import UNSIGNED_AFTER, list_unsigned_accounts
from permits_app.tasks import commit_permit_task
from tests.concurrency.test_stuck_accounts import give
from tests.golem_project.test_drain import running, wait_for
from tests.live_golem import LiveGolem
from tests.waiting_tasks import drop_waiting_tasks
from tools_app.core import clock

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    """This process has no file of any key."""
    settings.GOLEM_KEY_WAIT_SECONDS = 20
    monkeypatch.setattr("permits_app.custody.signers.choose_signer._held", set())
    monkeypatch.setattr(Keystore, "holds", lambda self, address: False)
    yield


@contextmanager
def worker_of(name: str, log_path: Path, **variables: str) -> Iterator[None]:
    database = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{connections['default'].settings_dict['NAME']}"
    plan = plan_worker(name, "commit", pool="threads", concurrency=2)
    variables = {"DATABASE_URL": database, "GOLEM_KEY_WAIT_SECONDS": "60", **variables}
    with running([*plan.argv], log_path, **variables):
        wait_for(lambda: b" ready." in log_path.read_bytes(), log_path)
        yield


@pytest.mark.timeout(600)
def test_a_worker_without_the_key_hands_the_commit_on_to_one_that_has_it(
    shared_golem: LiveGolem, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "var"
    elsewhere.mkdir()
    for each in Path(django_settings.GOLEM_KEYSTORE_DIR).parent.iterdir():
        if each.name != "keystore":
            (elsewhere / each.name).symlink_to(each)
    drop_waiting_tasks()
    first = hand(shared_golem, 0)
    with worker_of("keyless", tmp_path / "keyless.log", GOLEM_VAR_DIR=str(elsewhere)):
        let_pass(lambda: list_unsigned_accounts(now=clock.now()))
        assert ActionPermit.objects.get(pk=first).status == "COMMITTING"
        assert not OutboundTransaction.objects.filter(permit_id=first).exists()
        assert any(each["what"] == "key" and shared_golem.golem.address[:6] in each["reason"] for each in stuck())
        with worker_of("keyed", tmp_path / "keyed.log"):
            permits = [first, *(hand(shared_golem, number) for number in range(1, 6))]
            let_pass(lambda: not ActionPermit.objects.filter(pk__in=permits, status="COMMITTING").exists())
            told = ActionPermit.objects.filter(pk__in=permits).values_list("status", "status_reason")
            assert [status for status, _ in told] == ["COMMITTED"] * 6, list(told)
            assert OutboundTransaction.objects.filter(permit_id__in=permits).count() == shared_golem.mined_nonce()
            assert not any(each["what"] == "key" for each in stuck())
    drop_waiting_tasks()


def test_a_key_that_no_worker_has_is_waited_for_so_long_and_then_refused(
    shared_golem: LiveGolem, keyless: None, settings: Any
) -> None:
    permit_id = give(shared_golem)
    begun = ActionPermit.objects.get(pk=permit_id).committing_at
    assert begun is not None and not is_held_here(shared_golem.golem.address)
    edge = begun + timedelta(seconds=20)
    before = edge - timedelta(microseconds=1)
    assert list_turns(permit_id=permit_id, now=before) == [] and is_for_another(permit_id, now=before)
    assert [turn.permit_id for turn in list_turns(permit_id=permit_id, now=edge)] == [permit_id]
    assert not is_for_another(permit_id, now=edge)
    settings.GOLEM_KEY_WAIT_SECONDS = 0
    (done,) = commit_in_turn(permit_id=permit_id)
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "SIGNER_UNAVAILABLE")


def test_readiness_tells_of_a_key_after_five_seconds(shared_golem: LiveGolem, keyless: None) -> None:
    begun = ActionPermit.objects.get(pk=give(shared_golem)).committing_at
    assert begun is not None
    edge = begun + UNSIGNED_AFTER
    assert list_unsigned_accounts(now=edge) == [(shared_golem.golem.address, begun)]
    assert list_unsigned_accounts(now=edge - timedelta(microseconds=1)) == []


def hand(golem: LiveGolem, number: int) -> Any:
    permit_id = give(golem, amount=str(90_000_000 + number))
    commit_permit_task.apply_async(kwargs={"permit_id": str(permit_id)})
    return permit_id


def stuck() -> list[dict[str, Any]]:
    return _list_stuck() or []


def let_pass(is_so: Callable[[], object], *, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.2)

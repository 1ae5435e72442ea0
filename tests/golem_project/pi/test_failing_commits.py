"""What an agent is told over HTTP when its commit meets a failing node, a blocked account, or no worker in time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client

from permits_app import tasks
from permits_app.actions.sweep_permits import end_outlived
from permits_app.execution.commit_lease import take_lease
from permits_app.models import ActionPermit, ChainWatch, OutboundTransaction, SpendingLimits
from permits_app.models.permit import PermitStatus
from tests.evm.world import CHAIN_ID
from tests.failing_node import FailingNode, node_that_may_fail
from tests.golem_project.pi.conftest import Agent, assert_problem
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass_until
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.waiting_tasks import drop_waiting_tasks
from tools_app.core import clock, liveness

FAILURES = {
    "slow down": (429, b""),
    "broken": (500, b"<html>oops</html>"),
    "reset": (200, None),
    "empty": (200, b""),
    "unknown words": (200, {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": "internal error"}}),
}


@pytest.fixture(autouse=True)
def everything_else_is_alive() -> None:
    for name in (liveness.BEAT, *liveness.list_queues()):
        liveness.beat(name, now=clock.now())


@pytest.fixture(autouse=True)
def empty_queues() -> Iterator[None]:
    # Tests before left theirs, and readiness names what waits for long.
    drop_waiting_tasks()
    yield
    drop_waiting_tasks()


@pytest.fixture
def node(shared_golem: LiveGolem) -> Iterator[FailingNode]:
    with node_that_may_fail() as node:
        yield node


@contextmanager
def worker(permit_id: str, meanwhile: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Takes the permit up again and again, as wake-ups and the sweep would; `meanwhile` happens between two times."""
    is_over = threading.Event()

    def serve() -> None:
        try:
            while not is_over.wait(0.05):
                tasks.commit_permit_task.run(permit_id=permit_id)
                meanwhile()
                end_outlived(now=clock.now())
        finally:
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(60)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_node_that_fails_for_a_moment_costs_a_commit_nothing_but_the_moment(
    live: Agent, shared_golem: LiveGolem, node: FailingNode, failure: str
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    failed: list[list[str]] = []

    def fail_twice(methods: list[str]) -> tuple[int, Any] | None:
        if len(failed) >= 2:
            return None
        failed.append(methods)
        return FAILURES[failure]

    node.rule = fail_twice
    with worker(permit_id):
        response = live.post("commit_action", {"permit_id": permit_id})
    assert (response.status_code, response.json()["status"]) == (200, "COMMITTED"), response.json()
    assert response.json()["permit"]["problem"] == {}
    assert len(failed) == 2
    assert shared_golem.mined_nonce() == OutboundTransaction.objects.filter(permit_id=permit_id).count()


@pytest.mark.parametrize("failure", ["slow down", "reset"])
def test_a_node_that_fails_until_the_permit_is_over_is_a_refusal_with_the_way_on(
    live: Agent, shared_golem: LiveGolem, node: FailingNode, failure: str
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    failed: list[list[str]] = []

    def fail(methods: list[str]) -> tuple[int, Any]:
        failed.append(methods)
        return FAILURES[failure]

    def let_it_end() -> None:
        """Not before its commit has begun and met the node."""
        if failed:
            let_pass_until(ActionPermit.objects.get(pk=permit_id).expires_at)

    node.rule = fail
    with worker(permit_id, let_it_end):
        response = live.post("commit_action", {"permit_id": permit_id})
    problem = assert_problem(response, 503, "COMMIT_NOT_SIGNED", "PREVIEW_AGAIN")
    assert problem["cause"] in ("RPC_RATE_LIMITED", "RPC_UNAVAILABLE") and problem["cleared_by"]
    assert (problem["permit_id"], problem["permit_status"]) == (permit_id, "BLOCKED")
    assert not OutboundTransaction.objects.exists()
    # What the recovery says works once the node answers.
    node.rule = lambda methods: None
    again = shared_golem.preview()["permit_id"]
    with worker(again):
        assert live.post("commit_action", {"permit_id": again}).json()["status"] == "COMMITTED"


def test_a_commit_that_a_rule_blocks_is_a_refusal_and_no_success(live: Agent, shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    limits = SpendingLimits.objects.get(golem=shared_golem.golem)
    limits.max_slippage_bps = 1
    limits.save()
    with worker(permit_id):
        response = live.post("commit_action", {"permit_id": permit_id})
    problem = assert_problem(response, 409, "POLICY_CHANGED", "PREVIEW_AGAIN")
    assert problem["permit_status"] == "BLOCKED"


def test_a_blocked_account_is_told_at_once_with_what_clears_it_and_readiness_knows(
    live: Agent, shared_golem: LiveGolem, settings: Any
) -> None:
    settings.GOLEM_FIRST_LOOK_SECONDS = 0
    stuck, wanted = (shared_golem.preview(amount=amount)["permit_id"] for amount in ("94000000", "95000000"))
    with mining_paused(shared_golem.world):
        shared_golem.start(stuck)
        shared_golem.work(stuck)
        OutboundTransaction.objects.update(created_at=clock.now() - timedelta(seconds=31))
        response = live.post("commit_action", {"permit_id": wanted})
        problem = assert_problem(response, 409, "ACCOUNT_BLOCKED", "WAIT")
        # The permit that waits ends before what is stuck is replaced, 64 s from now.
        assert 1 <= int(response.headers["Retry-After"]) == problem["retry_after_seconds"] <= 60
        assert problem["since"] and problem["cleared_by"] and problem["nonce"] == 0
        assert shared_golem.permit(wanted).status == PermitStatus.CREATED
        ChainWatch.objects.create(chain_id=CHAIN_ID, looked_at=clock.now(), head=1)
        ready = Client().get("/readyz")
        assert (ready.status_code, ready.json()["degraded"]) == (200, True)
        [told] = ready.json()["stuck"]
        assert (told["what"], told["chain_id"]) == ("account", CHAIN_ID) and told["since"]
        browser = Client()
        shared_golem.owner.is_superuser = True
        shared_golem.owner.save()
        browser.force_login(shared_golem.owner)
        page = browser.get("/admin/").content.decode()
        assert "Does not go on" in page and shared_golem.golem.address in page
    shared_golem.work(stuck)
    assert Client().get("/readyz").json()["degraded"] is False
    with worker(wanted):
        assert live.post("commit_action", {"permit_id": wanted}).json()["status"] == "COMMITTED"


def test_a_chain_that_is_down_is_told_at_once(live: Agent, shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    since = clock.now() - timedelta(seconds=30)
    ChainWatch.objects.create(chain_id=CHAIN_ID, looked_at=clock.now(), failing_since=since, error_code="RPC_TIMEOUT")
    begun, two_seconds = clock.now(), timedelta(seconds=2)
    response = live.post("commit_action", {"permit_id": permit_id})
    problem = assert_problem(response, 503, "CHAIN_STUCK", "WAIT")
    # A look of the follower and a block of the local chain, a second each.
    assert response.headers["Retry-After"] == "2" and problem["cleared_by"] == "the node answers again"
    assert begun + two_seconds <= datetime.fromisoformat(problem["resets_at"]) <= clock.now() + two_seconds
    assert shared_golem.permit(permit_id).status == PermitStatus.CREATED
    [told] = Client().get("/readyz").json()["stuck"]
    assert (told["what"], told["reason"], told["since"]) == ("chain", "RPC_TIMEOUT", since.isoformat())


def test_a_chain_that_nobody_follows_is_told_too(local_chain: object, db: None) -> None:
    ready = Client().get("/readyz").json()
    assert (ready["ready"], ready["degraded"]) == (True, True)
    assert ready["stuck"] == [
        {"what": "follower", "chain_id": CHAIN_ID, "reason": "no follower looks at it", "since": None}
    ]


def test_an_equal_action_under_way_is_named_over_rest_with_when_to_look_again(
    live: Agent, shared_golem: LiveGolem, tasks_here: None
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    lease = take_lease(permit_id=UUID(permit_id), now=clock.now())
    assert lease is not None
    asked = {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
    response = live.post("preview_action", asked)
    problem = assert_problem(response, 409, "SAME_ACTION_PENDING", "CHECK_STATE")
    assert problem["permit_id"] == permit_id and response.headers["Location"].endswith(permit_id)
    assert problem["resets_at"] == (lease.ends + timedelta(seconds=3)).isoformat()
    assert int(response.headers["Retry-After"]) == problem["retry_after_seconds"] <= 34

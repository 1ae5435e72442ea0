"""Decision to execution through the real queue and a real worker, on the real contracts. No sweep runs beside it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.gas_relayer import create_relayer
from permits_app.models import ChangeRequest, VenueTrust
from permits_app.policy_cage.contract import Limit
from tests.golem_project.pi.conftest import Agent
from tests.golem_project.pi.test_actions import worker_process as worker_process
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, owner_transaction
from tools_app.core import clock

POSITION = {
    "action_type": "add_liquidity",
    "venue": "uniswap",
    "token0": "WETH",
    "token1": "USDC",
    "price_lower": "2700",
    "price_upper": "3300",
    "fee": 500,
    "amount0": str(10**17),
}


def _await_closed(request: ChangeRequest) -> None:
    """Until the request was executed; a minute at most."""
    deadline = clock.Deadline.after_ms(60_000)
    while not deadline.is_over:
        request.refresh_from_db()
        if request.closed_at is not None:
            return
        time.sleep(0.01)
    raise AssertionError(f"still {request.state}: {request.problem}")


@pytest.fixture
def other(shared_golem: LiveGolem) -> Any:
    give_device(shared_golem.owner)
    person = make_owner_with_device(name="owner-b")
    shared_golem.golem.co_owners.add(person)
    return person


def test_an_approved_transaction_of_a_high_tier_is_sent_by_the_worker_that_its_approval_wakes(
    worker_process: None, shared_golem: LiveGolem, other: Any
) -> None:
    first = shared_golem.preview()
    shared_golem.commit(first["permit_id"])
    VenueTrust.objects.create(
        golem=shared_golem.golem,
        chain_id=31337,
        venue="uniswap",
        lowered_at=clock.now(),
        permit_id=first["permit_id"],
        divergence_bps=300,
    )
    answer = Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client()).post("preview_action", POSITION)
    assert answer.status_code == 200, answer.content
    assert (answer.json()["risk_tier"], answer.json()["status"]) == ("HIGH", "AWAITING_APPROVAL")
    request = ChangeRequest.objects.get(permit_id=answer.json()["permit_id"])
    approve(request, other)
    _await_closed(request)
    assert request.state == "EXECUTED", request.problem
    deadline = clock.Deadline.after_ms(60_000)
    while shared_golem.permit(str(request.permit_id)).status != "COMMITTED" and not deadline.is_over:
        time.sleep(0.02)
    assert shared_golem.permit(str(request.permit_id)).status == "COMMITTED"


def test_an_approved_operation_takes_effect_by_the_worker_that_its_approval_wakes(
    worker_process: None, shared_golem: LiveGolem, other: Any
) -> None:
    golem = shared_golem.golem
    halt_golem(golem=golem, reason="drill", actor="owner:1", now=clock.now())
    golem.refresh_from_db()
    request = request_operation(
        golem=golem, name="resume", arguments={}, owner=shared_golem.owner, reason="over", now=clock.now()
    )
    approve(request, other)
    _await_closed(request)
    golem.refresh_from_db()
    assert not golem.is_halted


def test_an_approved_change_of_the_contract_is_on_chain_by_the_worker_that_its_approval_wakes(
    worker_process: None, shared_golem: LiveGolem, other: Any
) -> None:
    safe = OwnedSafe(shared_golem)
    shared_golem.world.fund(create_relayer(), 10**18, {})
    try:
        request = ask(safe, shared_golem.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
        approve(request, shared_golem.owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
        _await_closed(request)
    finally:
        Path(settings.GOLEM_RELAYER_ADDRESS_FILE).unlink()
    assert request.state == "EXECUTED", request.problem
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900

"""Owners, workers and a halt at the same moment, on real PostgreSQL and the real contracts."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app import tasks
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import halt_golem
from permits_app.models import (
    ChangeExecution,
    ChangeRequest,
    OutboundTransaction,
    OwnerApproval,
    OwnerTransaction,
    RelayedTransaction,
)
from permits_app.policy_cage.contract import Limit
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device, next_code
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, make_relayer, owner_transaction
from tests.permits_app.execution.test_safe_of_several import SharedSafe
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.usefixtures("critical_swap", "eager")


@pytest.fixture
def owners(shared_golem: LiveGolem) -> list[Any]:
    """Three owners; the agent's key belongs to the first."""
    give_device(shared_golem.owner)
    others = [make_owner_with_device(name=name) for name in ("owner-b", "owner-c")]
    shared_golem.golem.co_owners.add(*others)
    return [shared_golem.owner, *others]


def _ask(live: LiveGolem) -> ChangeRequest:
    return ChangeRequest.objects.get(permit_id=live.preview()["permit_id"])


def _approve_all(request: ChangeRequest, people: list[Any]) -> list[Any]:
    codes = [next_code(person) for person in people]
    return at_once(lambda index: approve(request, people[index], code=codes[index]).state, count=len(people))


def test_owners_who_approve_at_once_execute_it_once(shared_golem: LiveGolem, owners: list[Any]) -> None:
    request = _ask(shared_golem)
    _approve_all(request, owners[1:])
    request.refresh_from_db()
    assert (request.state, shared_golem.permit(str(request.permit_id)).status) == ("EXECUTED", "COMMITTED")
    assert OwnerApproval.objects.count() == 2
    assert ChangeExecution.objects.count() == 1
    assert OutboundTransaction.objects.count() == 2
    assert verify_stored_chain(shared_golem.golem.pk).broken is None


def test_one_owner_who_approves_from_eight_windows_is_counted_once(shared_golem: LiveGolem, owners: list[Any]) -> None:
    request, code = _ask(shared_golem), next_code(owners[1])
    answers = at_once(lambda _: approve(request, owners[1], code=code).state, count=8)
    assert answers.count("OPEN") == 1
    # The first that is used again is called so; those within its pause are not looked at.
    assert answers.count("SECOND_FACTOR_WRONG") >= 1
    assert set(answers) == {"OPEN", "SECOND_FACTOR_WRONG"} | set(answers) & {"SECOND_FACTOR_LOCKED"}
    assert OwnerApproval.objects.count() == 1


def test_an_execution_that_workers_take_up_at_once_and_again_sends_one_swap(
    shared_golem: LiveGolem, owners: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = _ask(shared_golem)
    # No worker heard of it yet.
    monkeypatch.setattr("permits_app.doors.decide_change.execute_soon", lambda request_id: None)
    assert [approve(request, owner).state for owner in owners[1:]] == ["OPEN", "APPROVED"]

    def run(_: int = 0) -> Any:
        return tasks.commit_change_task.run(request_id=str(request.pk))

    at_once(run, count=8)
    for _ in range(2):
        assert shared_golem.permit(str(request.permit_id)).status == "COMMITTED"
        assert shared_golem.mined_nonce() == OutboundTransaction.objects.count() == 2
        assert ChangeExecution.objects.count() == 1
        run()


def test_a_halt_and_an_approval_at_once_leave_one_of_them(shared_golem: LiveGolem, owners: list[Any]) -> None:
    request = _ask(shared_golem)
    approve(request, owners[1])
    code = next_code(owners[2])

    def act(index: int) -> Any:
        if index:
            return halt_golem(golem=shared_golem.golem, reason="drill", actor="owner:1", now=clock.now())["halted"]
        return approve(request, owners[2], code=code).state

    at_once(act, count=2)
    request.refresh_from_db()
    permit = shared_golem.permit(str(request.permit_id))
    shared_golem.golem.refresh_from_db()
    assert shared_golem.golem.is_halted
    ends = {
        ("EXECUTED", "COMMITTED"),
        ("EXECUTED", "BLOCKED"),
        ("STALE", "CANCELLED"),
        ("FAILED", "CANCELLED"),
        ("OPEN", "CANCELLED"),
        ("FAILED", "BLOCKED"),
    }
    assert (request.state, permit.status) in ends
    if permit.status != "COMMITTED":
        assert shared_golem.mined_nonce() == 0


def test_eight_workers_at_once_relay_what_owners_signed_once(
    shared_golem: LiveGolem, owners: list[Any], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe = OwnedSafe(shared_golem)
    make_relayer(shared_golem, settings)
    request = ask(safe, owners[0], limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    signature = safe.sign(owner_transaction(request).safe_tx_hash)
    monkeypatch.setattr("permits_app.doors.decide_change.execute_soon", lambda _: None)
    approve(request, owners[0], signature=signature, code="")
    at_once(lambda _: execute_change(request_id=request.pk, now=clock.now()), count=8)
    request.refresh_from_db()
    assert request.state == "EXECUTED", request.problem
    assert RelayedTransaction.objects.count() == 1
    assert ChangeExecution.objects.count() == 1
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900
    assert verify_stored_chain(shared_golem.golem.pk).broken is None


def test_what_is_due_in_the_contract_is_applied_once_by_workers_at_once(
    shared_golem: LiveGolem, owners: list[Any], settings: Any
) -> None:
    safe = OwnedSafe(shared_golem, names=("key of a", "key of b", "key of c"))
    make_relayer(shared_golem, settings)
    request = ask(safe, owners[0], limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    for number in (1, 2):
        approve(request, owners[number], signature=safe.sign(owner_transaction(request).safe_tx_hash, number))
    execute_change(request_id=request.pk, now=clock.now())
    assert len(safe.sync().pending) == 1
    safe.pass_time(48 * 3_600 + 60)
    safe.sync()
    at_once(lambda _: tasks.commit_cage_changes_task.run(), count=4)
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 3_000
    assert AuditEntry.objects.filter(event="CageChangeApplied").count() == 1
    assert RelayedTransaction.objects.filter(purpose="APPLY").count() == 1


def test_plans_asked_at_once_hold_different_nonces_of_the_safe(shared_golem: LiveGolem) -> None:
    shared = SharedSafe(shared_golem)
    amounts = ["100000000", "110000000", "120000000", "130000000"]
    answers = at_once(lambda index: shared_golem.preview(amount=amounts[index])["status"], count=4)
    held = list(OwnerTransaction.objects.order_by("safe_nonce").values_list("safe_nonce", flat=True))
    assert held == list(range(shared.nonce(), shared.nonce() + len(held)))
    assert answers.count("AWAITING_APPROVAL") == len(held)
    assert set(answers) <= {"AWAITING_APPROVAL", "SAFE_NONCE_TAKEN"}

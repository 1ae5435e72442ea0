"""Owners take money out of a golem's account: on a real chain, through the page, two owners, halts and dead workers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from permits_app.actions import carry_out_withdrawal as carrying
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.approval_errors import AddressNotRegistered, ChangeClosed, OwnRequest
from permits_app.doors.decide_change import cancel_change
from permits_app.execution import executor, halt_permits
from permits_app.execution.halt_permits import execute_halt_plan
from permits_app.execution.owner_withdrawal import is_owners_withdrawal
from permits_app.models import (
    ActionPermit,
    ChangeRequest,
    OutboundTransaction,
    Withdrawal,
    WithdrawalAddress,
)
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.evm.world import CHAIN_ID
from tests.permits_app.approvals.people import approve
from tests.permits_app.approvals.withdrawing import HOME, STRANGER, Two, approved, ask, coin, held, register, run
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry
from tools_app.toolkit.views import NATIVE


def test_what_owners_approved_leaves_once_and_is_told_as_a_withdrawal(two_owners: Two) -> None:
    live, _, other = two_owners
    before, there = live.balance("USDC"), held(live, HOME)
    request = run(approved(two_owners))
    assert (request.state, request.problem) == ("EXECUTED", {})
    assert before - live.balance("USDC") == held(live, HOME) - there == 1_500_250_000
    permit = ActionPermit.objects.get(pk=request.result["permit_id"])
    assert permit.status == PermitStatus.COMMITTED and permit.outcome.is_verified
    assert (permit.outcome.pnl_parts["slippage"], permit.tool_name) == ("0", "withdraw")
    assert request.result["tx_hash"] == permit.transactions.get().tx_hash
    for event in ("ChangeRequested", "OwnerDecided", "WithdrawalStarted", "Transaction", "ChangeExecuted"):
        assert AuditEntry.objects.filter(golem_id=live.golem.pk, event=event).count() == 1, event
    assert run(request).state == "EXECUTED" and OutboundTransaction.objects.count() == 1


def test_the_owner_who_asks_does_not_approve_and_nothing_leaves_without_a_second_factor(two_owners: Two) -> None:
    live, owner, other = two_owners
    register(live.golem)
    request = ask(live, owner)
    assert (request.risk_tier, request.required_approvals, request.needs_second_factor) == ("CRITICAL", 1, True)
    with pytest.raises(OwnRequest):
        approve(request, owner)
    with pytest.raises(Exception, match="(?i)code|factor"):
        approve(request, other, code="000000")
    assert run(request).state == "OPEN" and not OutboundTransaction.objects.exists()


def test_money_goes_to_no_address_that_was_not_registered(two_owners: Two) -> None:
    live, owner, _ = two_owners
    register(live.golem)
    with pytest.raises(AddressNotRegistered) as refused:
        ask(live, owner, to=STRANGER)
    assert refused.value.code == "ADDRESS_NOT_REGISTERED" and "register" in refused.value.detail


def test_an_address_of_another_golem_is_none_of_this_one(two_owners: Two) -> None:
    live, owner, _ = two_owners
    register(factories.make_golem(owner=owner, name="Other"))
    with pytest.raises(AddressNotRegistered):
        ask(live, owner)


@pytest.mark.parametrize("amount", ["0", "-1", "1,5", "99999999", "1.1234567", "1e3"])
def test_an_amount_that_cannot_be_withdrawn_is_refused_in_words(two_owners: Two, amount: str) -> None:
    live, owner, _ = two_owners
    register(live.golem)
    with pytest.raises(InvalidParams):
        ask(live, owner, amount=amount)


def test_everything_of_a_token_and_everything_of_the_coin_but_gas(two_owners: Two) -> None:
    live, _, _ = two_owners
    assert run(approved(two_owners, amount="")).state == "EXECUTED"
    assert live.balance("USDC") == 0
    there = coin(live, HOME)
    assert run(approved(two_owners, token=NATIVE, amount="")).state == "EXECUTED"
    left, came = coin(live, live.golem.address), coin(live, HOME) - there
    assert came > 0 and left < came // 100


def test_registering_an_address_takes_two_days_a_second_factor_and_another_owner(two_owners: Two) -> None:
    live, owner, other = two_owners
    arguments = {"act": "register", "chain_id": CHAIN_ID, "address": HOME, "label": "Cold wallet"}
    request = request_operation(
        golem=live.golem, name="withdrawal_address", arguments=arguments, owner=owner, reason="mine", now=clock.now()
    )
    assert (request.risk_tier, request.cooling_seconds, request.needs_second_factor) == ("CRITICAL", 172_800, True)
    with pytest.raises(OwnRequest):
        approve(request, owner)
    approve(request, other)
    assert run(request, after=timedelta(hours=47)).state == "APPROVED"
    with pytest.raises(AddressNotRegistered):
        ask(live, owner)
    assert run(request, after=timedelta(hours=49)).state == "EXECUTED"
    assert WithdrawalAddress.objects.get(golem=live.golem).address == HOME


def test_an_address_taken_off_between_approval_and_sending_ends_the_withdrawal(two_owners: Two) -> None:
    live, owner, _ = two_owners
    request = approved(two_owners)
    gone = request_operation(
        golem=live.golem,
        name="withdrawal_address",
        arguments={"act": "remove", "chain_id": CHAIN_ID, "address": HOME},
        owner=owner,
        reason="lost its key",
        now=clock.now(),
    )
    assert gone.cooling_seconds == 0 and not gone.needs_second_factor
    assert run(approve(gone, owner)).state == "EXECUTED"
    assert run(request).state == "STALE" and "taken off" in request.state_reason
    assert not OutboundTransaction.objects.exists()


def test_a_halted_golem_pays_its_owners_out_and_nobody_else(two_owners: Two) -> None:
    live, _, _ = two_owners
    halt_golem(golem=live.golem, reason="enough", actor="owner:1", now=clock.now())
    live.golem.refresh_from_db()
    there = held(live, HOME)
    assert run(approved(two_owners)).state == "EXECUTED"
    assert held(live, HOME) - there == 1_500_250_000


def test_a_halt_between_the_simulation_and_the_signature_sends_nothing(
    two_owners: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, _ = two_owners
    request = approved(two_owners)
    real = executor.store_signed

    def halt_first(**given: Any) -> Any:
        halt_golem(golem=live.golem, reason="enough", actor="owner:1", now=clock.now())
        return real(**given)

    monkeypatch.setattr(executor, "store_signed", halt_first)
    run(request)
    for permit in ActionPermit.objects.filter(status=PermitStatus.COMMITTING):
        live.work(str(permit.pk))
    assert run(request, after=timedelta(minutes=5)).state == "FAILED" and not OutboundTransaction.objects.exists()


def test_a_permit_of_another_action_is_no_withdrawal_under_a_halt(two_owners: Two) -> None:
    """Bytes that differ from what was approved stay unsigned, whatever row points at them."""
    live, _, _ = two_owners
    request = run(approved(two_owners))
    permit = ActionPermit.objects.get(pk=request.result["permit_id"])
    ChangeRequest.objects.filter(pk=request.pk).update(state="APPROVED", closed_at=None)
    assert is_owners_withdrawal(permit, live.golem)
    permit.calls = [{**permit.calls[0], "data": permit.calls[0]["data"][:-2] + "ff"}]
    assert not is_owners_withdrawal(permit, live.golem)


def test_money_that_went_meanwhile_fails_the_withdrawal_and_nothing_is_sent(two_owners: Two) -> None:
    live, owner, other = two_owners
    register(live.golem)
    first, second = ask(live, owner, amount="15000"), ask(live, owner, amount="15000.5")
    assert run(approve(first, other)).state == "EXECUTED"
    second = run(approve(second, other))
    assert second.state == "FAILED" and second.problem["code"] == "SAFETY_SIMULATION_FAILED"
    assert OutboundTransaction.objects.count() == 1


def test_an_approval_ends_with_its_owners_account_before_the_money_leaves(two_owners: Two) -> None:
    live, _, other = two_owners
    request = approved(two_owners)
    other.is_active = False
    other.save()
    assert run(request).state in ("STALE", "OPEN", "APPROVED")
    assert not OutboundTransaction.objects.exists()


def test_a_worker_that_dies_after_storing_the_permit_sends_nothing_and_the_request_says_so(
    two_owners: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, _ = two_owners
    request = approved(two_owners)

    def die(**_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(executor, "execute", die)
        with pytest.raises(KeyboardInterrupt):
            run(request)
    permit = Withdrawal.objects.get(request=request).permit
    later = timedelta(seconds=60)
    assert run(request, after=later).state == "APPROVED", "it is followed, not repeated"
    live.work(str(permit.pk))
    assert run(request, after=2 * later).state == "FAILED"
    assert request.problem["code"] == "WITHDRAWAL_FAILED" and not OutboundTransaction.objects.exists()


def test_a_worker_that_dies_after_sending_is_followed_and_the_money_leaves_once(
    two_owners: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, owner, _ = two_owners
    request, before = approved(two_owners), live.balance("USDC")

    def die(**_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(halt_permits, "finish", die)
        with pytest.raises(KeyboardInterrupt):
            run(request)
    ChangeRequest.objects.filter(pk=request.pk).update(claimed_at=None)
    with pytest.raises(ChangeClosed):
        cancel_change(request_id=request.pk, owner=owner, reason="no", now=clock.now())
    time_out_changes(now=clock.now() + timedelta(days=30))
    request.refresh_from_db()
    assert request.state == "APPROVED", "what was sent does not time out"
    live.work(str(Withdrawal.objects.get(request=request).permit_id))
    assert run(request, after=timedelta(seconds=60)).state == "EXECUTED"
    assert before - live.balance("USDC") == 1_500_250_000 and OutboundTransaction.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_send_it_once(two_owners: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    live, _, _ = two_owners
    request, before = approved(two_owners), live.balance("USDC")
    both, has_claimed = threading.Barrier(2, timeout=60), threading.Event()
    real: Callable[..., Any] = execute_halt_plan

    def meet(**given: Any) -> Any:
        has_claimed.set()
        both.wait()
        return real(**given)

    monkeypatch.setattr(carrying, "execute_halt_plan", meet)
    far = clock.now() + timedelta(seconds=1)

    def work(shift: int) -> None:
        # The second takes over a claim that it holds for dead.
        execute_change(request_id=request.pk, now=far + timedelta(minutes=shift))
        connection.close()

    threads = [threading.Thread(target=work, args=(shift,)) for shift in (0, 10)]
    threads[0].start()
    # A claim of ten minutes later would be alive for the first.
    assert has_claimed.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    run(request, after=timedelta(minutes=30))
    assert request.state == "EXECUTED" and OutboundTransaction.objects.count() == 1
    assert before - live.balance("USDC") == 1_500_250_000


def test_the_database_keeps_a_second_permit_from_one_withdrawal(two_owners: Two) -> None:
    request = run(approved(two_owners))
    other = factories.make_permit(golem=request.golem)
    with pytest.raises(IntegrityError), transaction.atomic():
        Withdrawal.objects.create(request=request, permit=other, begun_at=clock.now())

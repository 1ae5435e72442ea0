"""emergency_halt on a real chain: nothing new starts, what was signed is cancelled, approvals fall, steps are told."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, override_settings

from archetypes_app.errors import GolemHalted
from archetypes_app.models import ApiKey
from archetypes_app.models.api_key import Scope
from permits_app.actions.halt import carry_out_halt, halt_golem, list_allowances, list_unfinished_halts
from permits_app.errors import LeaseLost
from permits_app.execution import cancellation, executor, payloads
from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.halts.resume import resume_golem
from permits_app.models import (
    ActionPermit,
    HaltRecord,
    OutboundTransaction,
    OutcomeRecord,
    StandingAllowance,
    VenueTrust,
)
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import PayloadPurpose, TransactionState
from permits_app.safety.load_call_records import read_records
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass_until
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tests.permits_app.safety.calls import swap_call
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.models import AuditEntry, OutboxEvent


def halt(golem: LiveGolem, **more: Any) -> dict[str, Any]:
    return halt_golem(golem=golem.golem, reason="drained", actor="owner:1", now=clock.now(), **more)


def carry_out(golem: LiveGolem, epoch: int = 1) -> dict[str, Any]:
    """The steps of the halt by name."""
    steps = carry_out_halt(golem_id=golem.golem.pk, epoch=epoch, now=clock.now())
    return {step["step"]: step for step in steps}


def give_allowance(golem: LiveGolem, symbol: str, spender: str, amount: int) -> None:
    """A standing allowance on the chain, and the row of the permit that left it."""
    from golem_project.embedded.world.rpc import call_data

    token = golem.world.tokens[symbol]
    rpc = golem.world.rpc
    rpc.call("anvil_impersonateAccount", golem.golem.address)
    data = call_data("approve(address,uint256)", spender, amount)
    sent = rpc.call("eth_sendTransaction", {"from": golem.golem.address, "to": token.address, "data": data})
    golem.world.wait(sent)
    rpc.call("anvil_stopImpersonatingAccount", golem.golem.address)
    permit = golem.permit(golem.preview(amount="111000000")["permit_id"])
    meta = next(f["token"] for f in permit.bounds["spends"] if f["token"]["symbol"] == symbol)
    ActionPermit.objects.filter(pk=permit.pk).update(status=PermitStatus.COMMITTED, finished_at=clock.now())
    StandingAllowance.objects.create(
        golem=golem.golem,
        permit=permit,
        chain_id=permit.chain_id,
        account=permit.account,
        token=meta["address"],
        symbol=symbol,
        decimals=meta["decimals"],
        spender=spender,
        left=str(amount),
        worth_micro_usd=amount,
        counted_at=clock.now(),
        block_number=0,
    )


def allowance_on_chain(golem: LiveGolem, symbol: str, spender: str) -> int:
    token = golem.world.tokens[symbol].address
    answer = golem.world.rpc.read(
        token, "allowance(address,address)", golem.golem.address, spender, returns="(uint256)"
    )
    return int(answer[0] if isinstance(answer, list | tuple) else answer)


def test_what_was_sent_is_cancelled_and_the_report_says_who_won(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = cancellation._find_winner

    def mine_and_look(row: OutboundTransaction, deadline: Deadline) -> str:
        mine(live_golem.world)
        return look(row, deadline)

    monkeypatch.setattr(cancellation, "_find_winner", mine_and_look)
    usdc = live_golem.balance("USDC")
    permit_id = live_golem.preview()["permit_id"]
    with mining_paused(live_golem.world):
        live_golem.start(permit_id)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
            live_golem.work(permit_id)
        report = halt(live_golem)
        assert report["on_chain"] is True
        listed = next(step for step in report["steps"] if "transactions" in step)
        assert [row["state"] for row in listed["transactions"]] == ["UNKNOWN", "UNKNOWN"]
        step = carry_out(live_golem)["transactions in flight cancelled"]
    assert {row["outcome"] for row in step["transactions"]} == {"cancelled: the zero transfer used its nonce"}
    live_golem.work(permit_id)
    row = live_golem.permit(permit_id)
    assert row.status == PermitStatus.REVERTED
    assert "its nonce was used by another transaction" in row.status_reason
    assert live_golem.balance("USDC") == usdc
    states = set(OutboundTransaction.objects.values_list("purpose", "state"))
    assert states == {(PayloadPurpose.CALL, TransactionState.DROPPED), (PayloadPurpose.FILL, TransactionState.MINED)}
    assert row.outcome.is_cancelled and not VenueTrust.objects.exists()
    # It is no failure of its venue.
    assert read_records(swap_call(live_golem)).outcomes == ()
    # What a rollback took back says nothing any more, that it was cancelled neither.
    OutcomeRecord.objects.update(taken_back_at=clock.now())
    assert [each.succeeded for each in read_records(swap_call(live_golem)).outcomes] == [False]


def test_a_transaction_that_wins_against_its_cancellation_is_reported(
    live_golem: LiveGolem,
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    with mining_paused(live_golem.world):
        live_golem.start(permit_id)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
            live_golem.work(permit_id)
        halt(live_golem)
        mine(live_golem.world)
        step = carry_out(live_golem)["transactions in flight cancelled"]
    assert {row["outcome"] for row in step["transactions"]} == {"mined before its cancellation"}
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED


def test_a_worker_that_comes_back_after_another_gave_the_permit_up_sends_nothing(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may go on at the very moment before it sends: what was blocked meanwhile has given its reservation back."""
    usdc = live_golem.balance("USDC")
    permit_id = live_golem.preview()["permit_id"]
    others: list[OutboundTransaction] = []

    def come_back_late(row: OutboundTransaction, **more: Any) -> bool:
        if not others:
            others.append(row)
            halt(live_golem)
            let_pass_until(live_golem.permit(permit_id).lease_expires_at)
            live_golem.work(permit_id)
            assert live_golem.permit(permit_id).status == PermitStatus.BLOCKED
            resume_golem(golem=live_golem.golem, reason="looked at", actor="owner:1", now=clock.now())
        return payloads.send_payload(row, **more)

    monkeypatch.setattr(executor, "send_payload", come_back_late)
    live_golem.start(permit_id)
    live_golem.work(permit_id)
    mine(live_golem.world)
    assert live_golem.permit(permit_id).status == PermitStatus.BLOCKED
    assert {row.broadcast_count for row in OutboundTransaction.objects.filter(permit_id=permit_id)} == {0}
    assert (live_golem.mined_nonce(), live_golem.balance("USDC")) == (0, usdc)


def test_standing_allowances_are_set_to_zero_by_the_executor_under_the_halt(live_golem: LiveGolem) -> None:
    spender = live_golem.world.new_account().address
    give_allowance(live_golem, "USDC", spender, 5_000_000)
    assert allowance_on_chain(live_golem, "USDC", spender) == 5_000_000
    assert halt(live_golem)["on_chain"] is True
    step = carry_out(live_golem)["standing allowances revoked"]
    assert [(row["token"], row["was"], row["outcome"]) for row in step["allowances"]] == [
        ("USDC", "5000000", "COMMITTED")
    ]
    assert allowance_on_chain(live_golem, "USDC", spender) == 0
    permit = ActionPermit.objects.get(tool_name="emergency_halt")
    assert (permit.halt_epoch, permit.grant.consumed_at is not None) == (1, True)
    assert AuditEntry.objects.filter(event="HaltRevocationStarted").count() == 1


def test_the_steps_on_the_chain_run_once_when_they_are_asked_for_twice(live_golem: LiveGolem) -> None:
    spender = live_golem.world.new_account().address
    give_allowance(live_golem, "USDC", spender, 5_000_000)
    halt(live_golem)
    assert list_unfinished_halts() == [(live_golem.golem.pk, 1)]
    first = carry_out(live_golem)
    assert carry_out(live_golem) == first
    assert list_unfinished_halts() == []
    assert ActionPermit.objects.filter(tool_name="emergency_halt").count() == 1
    assert [step["at_ms"] for step in first.values()] == sorted(step["at_ms"] for step in first.values())
    held = first["positions listed for unwinding"]["positions"]
    assert {"USDC", "WETH"} <= {row.get("token") for row in held}
    assert OutboxEvent.objects.filter(type="halt:completed").count() == 1


def test_a_halted_golems_own_revocation_may_do_nothing_else(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    halt(live_golem)
    live_golem.golem.refresh_from_db()
    permit.halt_epoch = 1
    assert is_halts_own(permit, live_golem.golem) is False
    token, data = live_golem.world.tokens["USDC"].address, "0x095ea7b3" + "11".rjust(64, "0") + "0" * 64
    zero = {"to": token, "value": "0", "data": data, "label": ""}
    permit.calls = [zero]
    assert is_halts_own(permit, live_golem.golem) is True
    for bad in ({**zero, "value": "1"}, {**zero, "data": zero["data"][:-1] + "1"}):
        permit.calls = [zero, bad]
        assert is_halts_own(permit, live_golem.golem) is False
    permit.calls, permit.halt_epoch = [zero], 2
    assert is_halts_own(permit, live_golem.golem) is False


def test_a_drill_reports_and_changes_nothing(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    report = halt(live_golem, is_drill=True)
    assert (report["halted"], report["is_drill"]) == (False, True)
    assert any(step.get("permit_ids") == [permit_id] for step in report["steps"])
    assert live_golem.commit(permit_id)["status"] == "COMMITTED"
    assert not HaltRecord.objects.exists()
    assert AuditEntry.objects.filter(event="HaltDrill").count() == 1


def test_keys_lose_the_commit_scope_until_the_golem_resumes(live_golem: LiveGolem) -> None:
    key = ApiKey.objects.get(pk=live_golem.key.key.pk)
    before = set(key.scopes)
    halt(live_golem)
    halt(live_golem)
    key.refresh_from_db()
    assert set(key.scopes) == before - {Scope.COMMIT}
    resume_golem(golem=live_golem.golem, reason="over", actor="owner:1", now=clock.now())
    key.refresh_from_db()
    assert set(key.scopes) == before
    assert list_allowances(live_golem.golem) == []


def test_a_commit_that_is_running_signs_nothing_once_the_halt_returned(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    original = executor.store_signed

    def halt_before_storing(**arguments: Any) -> None:
        halt(live_golem)
        original(**arguments)

    monkeypatch.setattr(executor, "store_signed", halt_before_storing)
    live_golem.work(permit_id)
    row = live_golem.permit(permit_id)
    assert (row.status, row.problem["code"]) == (PermitStatus.BLOCKED, "GOLEM_HALTED")
    assert not OutboundTransaction.objects.exists()
    assert live_golem.mined_nonce() == 0


def test_the_next_commit_after_a_halt_is_refused(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    ActionPermit.objects.filter(pk=permit_id).update(status=PermitStatus.CREATED)
    halt(live_golem)
    ActionPermit.objects.filter(pk=permit_id).update(status=PermitStatus.CREATED)
    with pytest.raises((GolemHalted, LeaseLost)) as refused:
        live_golem.start(permit_id)
    assert refused.value.code == "GOLEM_HALTED"


def test_an_agents_drill_over_http_stops_nothing(live_golem: LiveGolem, client: Client) -> None:
    headers = {"Authorization": f"Bearer {live_golem.key.token}"}
    permit_id = live_golem.preview()["permit_id"]
    answer = client.post(
        "/api/v1/pi/emergency_halt", {"reason": "exercise", "drill": True}, "application/json", headers=headers
    )
    assert answer.status_code == 200, answer.content
    assert (answer.json()["halted"], answer.json()["is_drill"]) == (False, True)
    assert any(step.get("permit_ids") == [permit_id] for step in answer.json()["steps"])
    for word in ("true", 1, "no"):
        refused = client.post(
            "/api/v1/pi/emergency_halt", {"reason": "x", "drill": word}, "application/json", headers=headers
        )
        assert refused.status_code == 422
    assert not HaltRecord.objects.exists()
    assert live_golem.commit(permit_id)["status"] == "COMMITTED"

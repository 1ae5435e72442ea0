"""A Safe whose owners sign each plan: previewed, signed by them, sent by the golem's key, on the real Safe 1.5.0."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from golem_project.embedded.world.rpc import RpcError
from permits_app.actions.announce_warden_actions import cancel_announced, execute_announced, turn_warden_on
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.request_change import request_operation
from permits_app.actions.sweep_changes import list_due_changes, time_out_changes
from permits_app.approval_errors import ChangeStale, RelayerRefuses, SignatureWrong
from permits_app.approval_pages.signing_page import build_signing_page
from permits_app.approvals.request_digest import export_request, verify_export
from permits_app.custody.signing_route import find_own_route
from permits_app.doors.decide_change import sign_change
from permits_app.errors import PermitNotCommittable, SafeNeedsOwners
from permits_app.gas_relayer import sign_empty
from permits_app.models import (
    ChangeRequest,
    OutboundTransaction,
    OutcomeRecord,
    OwnerTransaction,
    SpendEntry,
    SpendingLimits,
)
from permits_app.permits.stored_calls import list_sent_calls
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION
from permits_app.tasks import commit_permit_task
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, reject
from tests.permits_app.approvals.safes import make_relayer
from tests.permits_app.caged_golem import USD
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.execution.shared_safe import SharedSafe
from tests.proof.caged.engines import CHAIN_ID, make_account
from tests.proof.caged.safe import sign_digest
from tools_app.chain.abi import decode_input, encode_call
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.core.required_value import require

REMOVE_OWNER = "function removeOwner(address previous, address owner, uint256 threshold)"
FIRST = "0x" + "00" * 19 + "01"


@pytest.fixture
def shared(live_golem: LiveGolem) -> SharedSafe:
    return SharedSafe(live_golem)


def reserved(answer: dict[str, Any]) -> str:
    return str(SpendEntry.objects.get(permit_id=answer["permit_id"]).state)


def test_a_plan_is_signed_by_an_owner_and_sent_by_the_golem_s_key(shared: SharedSafe) -> None:
    before = {symbol: shared.balance(symbol) for symbol in ("USDC", "WETH")}
    answer, request = shared.propose()
    permit = shared.live.permit(answer["permit_id"])
    assert (answer["status"], answer["missing"]) == ("AWAITING_APPROVAL", ["approval"])
    assert answer["owners"] == {"needed": 2, "signed": 1}
    assert (request.risk_tier, request.needs_second_factor, request.required_approvals) == ("STANDARD", False, 1)
    assert reserved(answer) == "RESERVED"
    assert permit.simulation["sender"] == shared.safe.address
    with pytest.raises(PermitNotCommittable) as refused:
        shared.live.start(answer["permit_id"])
    assert str(refused.value.next_step) == "WAIT"
    # An equal wish is the one that waits.
    assert shared.live.preview()["permit_id"] == answer["permit_id"]

    signed = shared.approve(request)
    page = build_signing_page(signed, shared.live.owner, now=clock.now())
    assert page is not None and (page.missing, page.can_export) == (0, False), "nobody sends it past the hooks"
    assert shared.run(signed).state == "EXECUTED"
    permit.refresh_from_db()
    assert permit.status == "COMMITTED", permit.problem
    outcome = OutcomeRecord.objects.get(permit=permit)
    assert outcome.is_verified, outcome.findings
    assert outcome.ground_truth_source == "receipt"
    predicted = {each["symbol"]: int(each["raw"]) for each in answer["expected_outcome"]["balance_deltas"]}
    moved = {symbol: shared.balance(symbol) - before[symbol] for symbol in before}
    assert {symbol: predicted[symbol] for symbol in moved} == moved
    assert moved["USDC"] == -500 * USD
    [row] = OutboundTransaction.objects.filter(permit=permit)
    assert (row.sender, row.to, row.state) == (shared.key.address, shared.safe.address, "MINED")
    assert row.gas_used is not None
    assert row.gas_used < answer["expected_outcome"]["gas_used"] < row.gas_used * 5 // 4
    assert OwnerTransaction.objects.get(request=request).state == "EXECUTED"
    assert reserved(answer) == "SETTLED"
    story = [
        "PermitCreated",
        "ChangeRequested",
        "OwnerSigned",
        "ChangeApproved",
        "OwnerTransactionReleased",
        "ChangeExecuted",
        "PermitConsumed",
        "OwnerTransactionExecuted",
    ]
    told = AuditEntry.objects.filter(golem_id=shared.live.golem.pk).order_by("seq").values_list("event", flat=True)
    assert [event for event in told if event in story] == story


def test_what_is_sent_is_what_was_hashed_with_the_signatures_in_it(shared: SharedSafe) -> None:
    answer, request = shared.propose()
    permit = shared.live.permit(answer["permit_id"])
    shared.run(shared.approve(request))
    permit.refresh_from_db()
    hashed = decode_input(EXEC_TRANSACTION, bytes.fromhex(permit.calls[0]["data"][2:]))
    sent = decode_input(EXEC_TRANSACTION, list_sent_calls(permit)[0].payload)
    assert hashed[:-1] == sent[:-1]
    assert (bytes(hashed[-1]), len(bytes(sent[-1]))) == (b"", 2 * 65)
    assert permit.plan_hash == answer["plan_hash"]


def test_the_export_verifies_that_the_owners_sign_the_plan_shown(shared: SharedSafe) -> None:
    _, request = shared.propose()
    document = json.loads(json.dumps(export_request(request)))
    assert all(finding.holds for finding in verify_export(document)), verify_export(document)
    document["plan"]["calls"][0]["data"] = document["plan"]["calls"][0]["data"].replace("00000001", "00000002", 1)
    assert not all(finding.holds for finding in verify_export(document))
    document = json.loads(json.dumps(export_request(request)))
    document["binding"]["change"]["safe_tx"]["to"] = "0x" + "11" * 20
    broken = {finding.what for finding in verify_export(document) if not finding.holds}
    assert "what the owners sign is this plan" in broken


def test_two_people_sign_where_the_golem_s_key_owns_nothing(live_golem: LiveGolem) -> None:
    shared = SharedSafe(live_golem, owns=False)
    answer, request = shared.propose()
    assert answer["owners"] == {"needed": 2, "signed": 0}
    request = shared.run(shared.approve(request))
    assert (request.state, request.problem["code"]) == ("APPROVED", "OWNER_SIGNATURES_INCOMPLETE")
    assert live_golem.preview()["owners"] == {"needed": 2, "signed": 1}
    assert not OutboundTransaction.objects.exists()
    second = type(live_golem.owner).objects.create(username="second", is_staff=True)
    live_golem.golem.co_owners.add(second)
    sign_change(
        request_id=request.pk,
        owner=second,
        signature=shared.sign(request, 1),
        seen_digest=request.digest,
        now=clock.now(),
    )
    assert list_due_changes(now=clock.now()) == [request.pk]
    assert shared.run(request).state == "EXECUTED"
    assert live_golem.permit(answer["permit_id"]).status == "COMMITTED"


def test_only_an_owner_of_the_safe_signs(shared: SharedSafe) -> None:
    _, request = shared.propose()
    digest = bytes.fromhex(OwnerTransaction.objects.get(request=request).safe_tx_hash[2:])
    with pytest.raises(SignatureWrong, match="owns no part"):
        approve(request, shared.live.owner, signature=sign_digest(make_account("stranger"), digest).hex(), code="")


def test_signatures_of_one_plan_send_no_other_and_not_twice(shared: SharedSafe) -> None:
    _, first = shared.propose()
    given = shared.sign(first)
    assert shared.run(shared.approve(first)).state == "EXECUTED"
    _, second = shared.propose()
    with pytest.raises(SignatureWrong):
        approve(second, shared.live.owner, signature=given, code="")
    shared.run(first)
    assert OutboundTransaction.objects.count() == 1
    # The same bytes again, past the server: the Safe's nonce is used.
    row = OutboundTransaction.objects.get()
    with pytest.raises(RpcError, match="revert"):
        shared.live.world.rpc.call(
            "eth_call",
            {"from": row.sender, "to": row.to, "data": list_sent_calls(require(row.permit))[0].data},
            "latest",
        )


def test_a_safe_that_moved_on_makes_the_plan_stale_and_gives_its_reservation_back(shared: SharedSafe) -> None:
    answer, request = shared.propose()
    given = shared.sign(request)
    shared.act(encode_call("function changeThreshold(uint256 threshold)", 2))
    with pytest.raises(ChangeStale, match="nonce"):
        approve(request, shared.live.owner, signature=given, code="")
    assert (ChangeRequest.objects.get(pk=request.pk).state, reserved(answer)) == ("STALE", "RELEASED")
    assert shared.live.permit(answer["permit_id"]).status == "BLOCKED"


def test_an_owner_who_was_removed_does_not_count_any_more(live_golem: LiveGolem) -> None:
    shared = SharedSafe(live_golem, count=3)
    _, early = shared.propose(amount="300000000")
    _, later = shared.propose(amount="400000000")
    shared.approve(later, 2)
    # The earlier plan is given up; its nonce goes to the removal of the person who signed the later one.
    reject(early, live_golem.owner)
    before = shared.safe.owners[1].address
    shared.act(encode_call(REMOVE_OWNER, before, shared.safe.owners[2].address, 2))
    done = shared.run(later)
    assert (done.state, done.problem["code"]) == ("APPROVED", "OWNER_SIGNATURES_INCOMPLETE")
    assert not OutboundTransaction.objects.exists()


def test_hooks_and_limits_are_asked_again_when_the_owners_have_signed(shared: SharedSafe) -> None:
    answer, request = shared.propose()
    request = shared.approve(request)
    SpendingLimits.objects.filter(golem=shared.live.golem).update(per_transaction_micro_usd=100 * USD)
    assert shared.run(request).state == "STALE"
    assert shared.live.permit(answer["permit_id"]).status == "BLOCKED"
    assert not OutboundTransaction.objects.exists()


def test_a_plan_that_the_hooks_refuse_by_now_is_not_sent(shared: SharedSafe) -> None:
    answer, request = shared.propose()
    request = shared.approve(request)
    # The funds leave before it is sent.
    usdc = shared.live.world.tokens["USDC"].address
    key = "0x" + shared.key.address[2:]
    shared.live.world.rpc.call("anvil_impersonateAccount", shared.safe.address)
    data = encode_call("function transfer(address to, uint256 amount)", key, shared.balance("USDC"))
    shared.live.world.rpc.call(
        "eth_sendTransaction", {"from": shared.safe.address, "to": usdc, "data": "0x" + data.hex()}
    )
    done = shared.run(request)
    assert (done.state, done.problem["code"]) == ("FAILED", "POLICY_REJECTED")
    assert (shared.live.permit(answer["permit_id"]).status, reserved(answer)) == ("BLOCKED", "RELEASED")
    assert OwnerTransaction.objects.get(request=request).state == "DEAD"
    assert not OutboundTransaction.objects.exists()


def test_what_nobody_signs_in_time_expires_and_gives_back_what_it_held(shared: SharedSafe) -> None:
    answer, request = shared.propose()
    assert time_out_changes(now=clock.now() + timedelta(hours=25)) >= 1
    assert ChangeRequest.objects.get(pk=request.pk).state == "EXPIRED"
    assert (shared.live.permit(answer["permit_id"]).status, reserved(answer)) == ("EXPIRED", "RELEASED")
    assert OwnerTransaction.objects.get(request=request).state == "DEAD"


def test_the_agent_takes_its_proposal_back(shared: SharedSafe) -> None:
    answer, request = shared.propose()
    permit = shared.live.permit(answer["permit_id"])
    cancel_permit(golem=shared.live.golem, permit_id=permit.pk, reason="no need", actor="key:test", now=clock.now())
    time_out_changes(now=clock.now())
    assert ChangeRequest.objects.get(pk=request.pk).state == "CANCELLED"
    assert OwnerTransaction.objects.get(request=request).state == "DEAD"


def test_a_halt_that_needs_owners_says_so(shared: SharedSafe) -> None:
    with pytest.raises(SafeNeedsOwners) as refused:
        find_own_route(golem=shared.live.golem, chain=shared.reader())
    assert (refused.value.code, refused.value.data["threshold"]) == ("SAFE_NEEDS_OWNERS", "2")


def test_with_the_warden_on_what_the_owners_signed_is_announced_first(shared: SharedSafe) -> None:
    turn_warden_on(golem=shared.live.golem, actor="owner:1", reason="careful", now=clock.now())
    answer, request = shared.propose()
    assert answer["missing"] == ["approval", "delay"]
    assert shared.run(shared.approve(request)).state == "EXECUTED"
    assert shared.live.permit(answer["permit_id"]).status == "ANNOUNCED"
    assert OwnerTransaction.objects.get(request=request).state == "SIGNING"
    execute_announced(permit_id=shared.live.permit(answer["permit_id"]).pk, now=clock.now() + timedelta(minutes=11))
    assert shared.live.permit(answer["permit_id"]).status == "COMMITTED"
    assert OwnerTransaction.objects.get(request=request).state == "EXECUTED"


def test_an_announced_plan_that_is_cancelled_gives_its_nonce_up(shared: SharedSafe) -> None:
    turn_warden_on(golem=shared.live.golem, actor="owner:1", reason="careful", now=clock.now())
    answer, request = shared.propose()
    shared.run(shared.approve(request))
    permit = shared.live.permit(answer["permit_id"])
    cancel_announced(golem=shared.live.golem, permit_id=permit.pk, reason="no", actor="owner:1", now=clock.now())
    time_out_changes(now=clock.now())
    assert OwnerTransaction.objects.get(request=request).state == "DEAD"
    _, again = shared.propose()
    assert OwnerTransaction.objects.get(request=again).safe_nonce == shared.nonce()


def test_an_owner_signs_a_plan_offline_and_sees_every_call(shared: SharedSafe, tmp_path: Path) -> None:
    answer, request = shared.propose()
    file, key = tmp_path / "change.json", tmp_path / "owner.key"
    file.write_text(json.dumps(export_request(request)))
    key.write_text("0x" + bytes(shared.safe.owners[0].key).hex())
    digest, out = OwnerTransaction.objects.get(request=request).safe_tx_hash, io.StringIO()
    call_command("sign_request", file, key_file=key, confirm=digest, stdout=out)
    told = out.getvalue()
    for shown in (
        "MultiSendCallOnly",
        "approve on USDC",
        "500 USDC",
        "exactInputSingle",
        "holds  what the owners sign",
    ):
        assert shown in told, told
    approve(request, shared.live.owner, signature=told.strip().splitlines()[-1], code="")
    assert shared.run(request).state == "EXECUTED"
    assert shared.live.permit(answer["permit_id"]).status == "COMMITTED"


def test_the_golem_s_key_helps_to_use_a_nonce_up_and_signs_nothing_else(shared: SharedSafe, settings: Any) -> None:
    make_relayer(shared.live, settings)
    _, first = shared.propose(amount="300000000")
    later_answer, later = shared.propose(amount="400000000")
    shared.approve(later)
    reject(first, shared.live.owner)
    assert shared.run(later).problem["code"] == "SAFE_TURN_AWAITED"
    empty = request_operation(
        golem=shared.live.golem,
        name="nonce",
        owner=shared.live.owner,
        reason="clear the way",
        now=clock.now(),
        arguments={"chain_id": CHAIN_ID, "safe": shared.safe.address},
    )
    done = shared.run(shared.approve(empty))
    assert done.state == "EXECUTED", done.problem
    assert shared.run(later).state == "EXECUTED"
    assert shared.live.permit(later_answer["permit_id"]).status == "COMMITTED"
    with pytest.raises(RelayerRefuses, match="nothing else"):
        sign_empty(OwnerTransaction.objects.get(request=later))


def test_what_waits_for_a_plan_that_ended_unknown_is_woken_by_its_end(
    shared: SharedSafe, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[str] = []
    monkeypatch.setattr("permits_app.tasks.enqueue", lambda _, request_id: asked_for.append(request_id))
    monkeypatch.setattr("permits_app.tasks.remember_later", lambda permit_id: None)
    (answer, first), (_, second) = shared.propose(), shared.propose(amount="400000000")
    with mining_paused(shared.live.world):
        settings.GOLEM_RECEIPT_WAIT_SECONDS = 0
        assert shared.run(shared.approve(first)).state == "EXECUTED"
        assert shared.live.permit(answer["permit_id"]).status == "UNKNOWN"
        assert shared.run(shared.approve(second)).problem["code"] == "SAFE_TURN_AWAITED"
        commit_permit_task.run(permit_id=answer["permit_id"])
        assert asked_for == []
    commit_permit_task.run(permit_id=answer["permit_id"])
    assert shared.live.permit(answer["permit_id"]).status == "COMMITTED"
    assert asked_for == [str(second.pk)]
    assert shared.run(second).state == "EXECUTED"

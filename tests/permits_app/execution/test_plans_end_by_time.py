"""What the owners of a Safe signed for a plan ends by time: on the real Safe 1.5.0, with the chain's own clock."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from golem_project.embedded.world.rpc import RpcError
from golem_project.embedded.world.solidity import load_contract
from permits_app.actions.announce_warden_actions import execute_announced, expire_announced, turn_warden_on
from permits_app.actions.execute_change import execute_change
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.approval_errors import ChangeClosed
from permits_app.approval_pages.signing_page import build_signing_page
from permits_app.approvals.owner_calls import compute_safe_tx_hash, encode_relay
from permits_app.approvals.request_digest import export_request, hash_request, verify_export
from permits_app.custody.signing_route import carries_its_batch
from permits_app.doors.decide_change import sign_change
from permits_app.models import (
    ActionPermit,
    AllowlistEntry,
    ChangeRequest,
    OutboundTransaction,
    OwnerTransaction,
    SpendEntry,
)
from permits_app.permits.plan_store import read_stated_end
from permits_app.policy_cage.safe_tx import join_signatures
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import carry_out
from tests.permits_app.execution.shared_safe import SharedSafe
from tests.proof.caged.engines import make_account
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.hashing import hash_canonical
from tools_app.core.required_value import require
from tools_app.standards import deadline_contract
from tools_app.standards.deadline_contract import ADDRESS, make_end_call, read_end, say_moment
from tools_app.toolkit.plan import Call

DAY = timedelta(hours=25)


@pytest.fixture
def people(live_golem: LiveGolem) -> SharedSafe:
    """The golem's key owns nothing: two people sign, and that is enough for anybody to send it."""
    return SharedSafe(live_golem, owns=False)


def end_of(request: ChangeRequest) -> int:
    return read_stated_end(require(request.permit))


def relay(shared: SharedSafe, request: ChangeRequest) -> bytes:
    """What anybody makes of the two signatures that left the server."""
    signed = {
        str(owner.address): bytes.fromhex(shared.sign(request, number)[2:])
        for number, owner in enumerate(shared.safe.owners[:2])
    }
    return encode_relay(request.change["safe_tx"], join_signatures(signed))


def read_page(shared: SharedSafe, request: ChangeRequest) -> str:
    browser = Client()
    browser.force_login(shared.live.owner)
    answer = browser.get(reverse("admin:permits_app_changerequest_change", args=[request.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def take_away(shared: SharedSafe) -> None:
    """A chain on which nobody deployed the contract."""
    shared.live.world.rpc.call("anvil_setCode", ADDRESS, "0x")


def try_as_stranger(shared: SharedSafe, data: bytes) -> str:
    stranger = make_account("a stranger who has the signatures")
    return str(
        shared.live.world.rpc.call(
            "eth_call", {"from": stranger.address, "to": shared.safe.address, "data": "0x" + data.hex()}, "latest"
        )
    )


def test_both_signed_and_the_time_is_over_so_nobody_executes_it(people: SharedSafe) -> None:
    _, request = people.propose()
    data, rpc = relay(people, request), people.live.world.rpc
    before = people.balance("USDC")
    assert int(try_as_stranger(people, data), 16) == 1, "before its end the signatures are enough for anybody"
    head = int(rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    rpc.call("evm_increaseTime", int(request.deadline_at.timestamp()) - head + 60)
    rpc.call("evm_mine")
    with pytest.raises(RpcError):
        try_as_stranger(people, data)
    stranger = make_account("a stranger who has the signatures")
    people.safe.engine.give_coins(stranger.address, 10**21)
    people.safe.keep_up()
    assert not people.safe.engine.send(stranger, people.safe.address, data).succeeded
    assert (people.balance("USDC"), people.nonce()) == (before, request.owner_transaction.safe_nonce)


def test_before_its_end_what_two_people_signed_is_executed_by_anybody(people: SharedSafe) -> None:
    _, request = people.propose()
    before = people.balance("USDC")
    stranger = make_account("a stranger who has the signatures")
    people.safe.engine.give_coins(stranger.address, 10**21)
    people.safe.keep_up()
    assert people.safe.engine.send(stranger, people.safe.address, relay(people, request)).succeeded
    assert people.balance("USDC") < before


def test_the_first_call_ends_it_at_the_request_s_own_end_and_the_simulation_ran_it(people: SharedSafe) -> None:
    _, request = people.propose()
    permit = people.live.permit(str(request.permit_id))
    assert request.deadline_at == permit.expires_at == datetime.fromtimestamp(end_of(request), UTC)
    assert len(permit.simulation["calls"]) == len(permit.batch) + 1
    assert carries_its_batch(permit)


def test_a_plan_of_one_call_ends_too_and_is_carried_out(live_golem: LiveGolem) -> None:
    payee = make_account("who is paid").address
    AllowlistEntry.objects.create(golem=live_golem.golem, chain_id=31337, kind="RECIPIENT", address=payee)
    shared = SharedSafe(live_golem)
    paid = {"token": "USDC", "recipient": payee, "amount": "1500000"}
    answer, request = shared.propose(action_type="transfer", venue="wallet", token_in=None, token_out=None, **paid)
    permit = live_golem.permit(answer["permit_id"])
    assert (len(permit.batch), request.change["safe_tx"]["ends_at"]) == (1, str(int(request.deadline_at.timestamp())))
    before = shared.balance("USDC")
    done = shared.run(shared.approve(request))
    assert done.state == "EXECUTED", (done.state, done.problem)
    assert live_golem.permit(answer["permit_id"]).status == "COMMITTED"
    assert shared.balance("USDC") == before - 1_500_000


def test_statement_page_and_verify_request_say_when_it_ends(people: SharedSafe, tmp_path: Path) -> None:
    _, request = people.propose()
    when = f"ends at {say_moment(end_of(request))}"
    [line] = [field["text"] for field in request.shown["safe_tx"] if field["name"] == "Ends"]
    assert line.startswith(when)
    page = build_signing_page(request, people.live.owner, now=clock.now())
    assert page is not None and page.ends.startswith(when)
    assert f"What you sign {when}" in read_page(people, request)
    file, out = tmp_path / "change.json", io.StringIO()
    file.write_text(json.dumps(export_request(request)))
    call_command("verify_request", file=file, stdout=out)
    assert when in out.getvalue()
    key, told = tmp_path / "owner.key", io.StringIO()
    key.write_text("0x" + bytes(people.safe.owners[0].key).hex())
    call_command("sign_request", file, key_file=key, confirm=request.change["safe_tx"]["safe_tx_hash"], stdout=told)
    assert when in told.getvalue() and "mustBeBefore on Deadline" in told.getvalue()


@pytest.mark.parametrize("where", ["what is sent", "what is signed", "what is said", "everywhere but the permit"])
def test_a_changed_end_in_the_bytes_is_refused(people: SharedSafe, tmp_path: Path, where: str) -> None:
    _, request = people.propose()
    ends_at = end_of(request)
    assert ends_at, "it ends"
    old, new = f"{ends_at:064x}", f"{ends_at + 86_400:064x}"
    document = json.loads(json.dumps(export_request(request)))
    signed, sent = document["binding"]["change"]["safe_tx"], document["plan"]["calls"][0]
    assert old in signed["data"] and old in sent["data"]
    if where == "what is sent":
        sent["data"] = sent["data"].replace(old, new)
    if where in ("what is signed", "everywhere but the permit"):
        signed["data"] = signed["data"].replace(old, new)
        signed["safe_tx_hash"] = "0x" + compute_safe_tx_hash(signed).hex()
    if where in ("what is said", "everywhere but the permit"):
        signed["ends_at"] = str(ends_at + 86_400)
    # Whoever changes it makes the digest anew; what is left is what the bytes say.
    document["digest"] = hash_canonical(document["binding"])
    broken = {finding.what for finding in verify_export(document) if not finding.holds}
    assert "what the owners sign ends when it is said to" in broken or "what the owners sign is this plan" in broken
    file = tmp_path / "change.json"
    file.write_text(json.dumps(document))
    with pytest.raises(CommandError, match="do not approve"):
        call_command("verify_request", file=file, stdout=io.StringIO())


def test_a_permit_whose_bytes_end_later_than_it_says_is_not_sent(people: SharedSafe) -> None:
    _, request = people.propose()
    permit = people.live.permit(str(request.permit_id))
    assert end_of(request), "it ends"
    old, new = f"{end_of(request):064x}", f"{end_of(request) + 86_400:064x}"
    permit.calls[0]["data"] = permit.calls[0]["data"].replace(old, new)
    assert not carries_its_batch(permit)
    assert people.approve(request).state == "APPROVED"
    ActionPermit.objects.filter(pk=permit.pk).update(calls=permit.calls)
    assert hash_request(request) == request.digest
    assert carry_out(request).state == "STALE"
    assert not OutboundTransaction.objects.exists()


def test_only_the_exact_call_is_read_as_an_end() -> None:
    call = make_end_call(1_800_000_000)
    assert read_end(call) == 1_800_000_000
    others = [
        Call(call.to, call.data, 1, ""),
        Call("0x" + "11" * 20, call.data, 0, ""),
        Call(call.to, call.data + b"\0", 0, ""),
        Call(call.to, call.data[:-1], 0, ""),
        Call(call.to, encode_call("function mustBeAfter(uint256 deadline)", 1_800_000_000), 0, ""),
    ]
    assert [read_end(each) for each in others] == [None] * len(others)


def test_a_plan_that_ended_while_it_waited_for_the_second_owner_is_told_as_expired(people: SharedSafe) -> None:
    answer, request = people.propose()
    request = people.run(people.approve(request))
    assert (request.state, request.problem["code"]) == ("APPROVED", "OWNER_SIGNATURES_INCOMPLETE")
    time_out_changes(now=request.deadline_at - timedelta(seconds=1))
    assert ChangeRequest.objects.get(pk=request.pk).state == "APPROVED"
    time_out_changes(now=request.deadline_at)
    request = ChangeRequest.objects.get(pk=request.pk)
    permit = people.live.permit(answer["permit_id"])
    assert (request.state, permit.status) == ("EXPIRED", "EXPIRED")
    assert "ended by time" in request.state_reason
    assert SpendEntry.objects.get(permit=permit).state == "RELEASED"
    assert OwnerTransaction.objects.get(request=request).state == "DEAD"


def test_what_both_signed_too_late_is_ended_and_never_sent(people: SharedSafe) -> None:
    answer, request = people.propose()
    request = people.approve(request)
    second = type(people.live.owner).objects.create(username="second", is_staff=True)
    people.live.golem.co_owners.add(second)
    with pytest.raises(ChangeClosed, match="ended by time"):
        sign_change(
            request_id=request.pk,
            owner=second,
            signature=people.sign(request, 1),
            seen_digest=request.digest,
            now=request.deadline_at,
        )
    assert people.live.permit(answer["permit_id"]).status == "EXPIRED"


def test_a_worker_that_comes_after_the_end_sends_nothing(people: SharedSafe) -> None:
    answer, request = people.propose()
    request = people.approve(request)
    execute_change(request_id=request.pk, now=request.deadline_at)
    assert ChangeRequest.objects.get(pk=request.pk).state == "EXPIRED"
    assert people.live.permit(answer["permit_id"]).status == "EXPIRED"
    assert not OutboundTransaction.objects.exists()


def test_an_announced_plan_ends_with_what_its_owners_signed(live_golem: LiveGolem, settings: Any) -> None:
    settings.GOLEM_APPROVAL_HOURS = 1
    settings.GOLEM_WARDEN_WINDOW_SECONDS = 7_200
    shared = SharedSafe(live_golem)
    turn_warden_on(golem=live_golem.golem, actor="owner:1", reason="careful", now=clock.now())
    answer, request = shared.propose()
    shared.run(shared.approve(request))
    permit = live_golem.permit(answer["permit_id"])
    assert (permit.status, permit.expires_at) == ("ANNOUNCED", request.deadline_at)
    assert execute_announced(permit_id=permit.pk, now=request.deadline_at) is None
    assert expire_announced(now=request.deadline_at) == 1
    assert live_golem.permit(answer["permit_id"]).status == "EXPIRED"


def test_a_chain_without_the_contract_signs_as_before_and_says_so(live_golem: LiveGolem) -> None:
    shared = SharedSafe(live_golem)
    take_away(shared)
    try:
        answer, request = shared.propose()
        assert end_of(request) == 0
        [line] = [field["text"] for field in request.shown["safe_tx"] if field["name"] == "Ends"]
        assert line == "what you sign does not end by time"
        page = build_signing_page(request, live_golem.owner, now=clock.now())
        assert page is not None and page.ends == page.no_end
        assert "What you sign does not end by time" in read_page(shared, request)
        assert all(finding.holds for finding in verify_export(json.loads(json.dumps(export_request(request)))))
        assert shared.run(shared.approve(request)).state == "EXECUTED"
        assert live_golem.permit(answer["permit_id"]).status == "COMMITTED"
    finally:
        shared.live.world.rpc.call("anvil_setCode", ADDRESS, "0x" + deadline_contract.RUNNING_CODE.hex())


def test_other_code_at_the_address_ends_nothing_and_nothing_is_sent_on_it(live_golem: LiveGolem) -> None:
    shared = SharedSafe(live_golem)
    answer, request = shared.propose()
    shared.live.world.rpc.call("anvil_setCode", ADDRESS, "0x00")
    try:
        done = shared.run(shared.approve(request))
        assert (done.state, done.problem["code"]) == ("FAILED", "POLICY_CHANGED")
        assert live_golem.permit(answer["permit_id"]).status == "BLOCKED"
        _, again = shared.propose()
        assert end_of(again) == 0
    finally:
        shared.live.world.rpc.call("anvil_setCode", ADDRESS, "0x" + deadline_contract.RUNNING_CODE.hex())


def test_anybody_puts_the_contract_at_its_address_through_the_factory(live_golem: LiveGolem) -> None:
    compiled = load_contract("Deadline")
    assert compiled.bytecode == "0x" + deadline_contract.CREATION_CODE.hex()
    rpc = live_golem.world.rpc
    rpc.call("anvil_setCode", ADDRESS, "0x")
    rpc.call("anvil_setNonce", ADDRESS, "0x0")
    sender = make_account("anybody")
    shared = SharedSafe(live_golem)
    shared.safe.engine.give_coins(sender.address, 10**21)
    out = io.StringIO()
    call_command("deploy_deadline", chain=31337, stdout=out)
    told = json.loads(out.getvalue())
    assert (told["address"], told["is_there"]) == (ADDRESS, False)
    shared.safe.keep_up()
    sent = shared.safe.engine.send(sender, told["send"]["to"], bytes.fromhex(told["send"]["data"][2:]))
    assert sent.succeeded
    assert bytes.fromhex(rpc.call("eth_getCode", ADDRESS, "latest")[2:]) == deadline_contract.RUNNING_CODE
    out = io.StringIO()
    call_command("deploy_deadline", chain=31337, stdout=out)
    assert json.loads(out.getvalue())["is_there"] is True


def test_a_plan_that_is_mined_too_late_reverts_and_nobody_is_told_that_it_may_be_sent_again(people: SharedSafe) -> None:
    answer, request = people.propose()
    second = type(people.live.owner).objects.create(username="second", is_staff=True)
    people.live.golem.co_owners.add(second)
    request = people.approve(request)
    sign_change(
        request_id=request.pk,
        owner=second,
        signature=people.sign(request, 1),
        seen_digest=request.digest,
        now=clock.now(),
    )
    rpc = people.live.world.rpc
    # The plan is judged before its end; the block that takes it comes after it.
    rpc.call("evm_setNextBlockTimestamp", end_of(request) + 1)
    people.run(request)
    permit = people.live.permit(answer["permit_id"])
    assert permit.status == "REVERTED", (permit.status, permit.problem)
    request = ChangeRequest.objects.get(pk=request.pk)
    assert OwnerTransaction.objects.get(request=request).state == "FAILED"
    page = build_signing_page(request, people.live.owner, now=request.deadline_at)
    assert page is not None and page.loose_nonce is None

"""What owners of a Safe sign for a change of the cage ends by time, and names what acts for the Safe: on the real Safe
and cage of the local chain, with the chain's own clock.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from golem_project.embedded.world.rpc import RpcError
from permits_app.actions.execute_change import execute_change
from permits_app.actions.relay_owner_transaction import build_raw_call
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.approval_errors import ChangeClosed, ChangeStale
from permits_app.approval_pages.signing_page import build_signing_page
from permits_app.approvals.owner_calls import encode_relay
from permits_app.approvals.request_digest import export_request, verify_export
from permits_app.custody.safe_view import open_chain, read_safe
from permits_app.doors.decide_change import sign_change
from permits_app.models import ChangeRequest, RelayedTransaction
from permits_app.policy_cage.contract import Limit
from permits_app.policy_cage.safe_tx import ENABLE_MODULE, join_signatures
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, make_relayer, owner_transaction
from tests.proof.caged.engines import make_account
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.standards import deadline_contract
from tools_app.standards.deadline_contract import ADDRESS, say_moment

WISH = limit_change(Limit.MAX_DRAWDOWN_BPS, 900)


@pytest.fixture
def caged(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> tuple[OwnedSafe, Any]:
    live, owner, _ = two_owners
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    return safe, owner


@pytest.fixture
def no_deadline(caged: tuple[OwnedSafe, Any]) -> Iterator[None]:
    """A chain on which nobody deployed the contract."""
    rpc = caged[0].live.world.rpc
    rpc.call("anvil_setCode", ADDRESS, "0x")
    yield
    rpc.call("anvil_setCode", ADDRESS, "0x" + deadline_contract.RUNNING_CODE.hex())


def relay(safe: OwnedSafe, request: ChangeRequest) -> bytes:
    """What anybody makes of the signature that left the server."""
    signature = bytes.fromhex(safe.sign(owner_transaction(request).safe_tx_hash)[2:])
    return encode_relay(request.change["safe_tx"], join_signatures({str(safe.owners[0].address): signature}))


def try_as_stranger(safe: OwnedSafe, data: bytes) -> str:
    call = {"from": make_account("a stranger").address, "to": safe.address, "data": "0x" + data.hex()}
    return str(safe.live.world.rpc.call("eth_call", call, "latest"))


def pass_the_end(safe: OwnedSafe, request: ChangeRequest) -> None:
    head = int(safe.live.world.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    safe.pass_time(int(request.deadline_at.timestamp()) - head + 60)


def read_page(safe: OwnedSafe, request: ChangeRequest) -> str:
    browser = Client()
    browser.force_login(safe.live.owner)
    answer = browser.get(reverse("admin:permits_app_changerequest_change", args=[request.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_ended_change_of_the_cage_is_executed_by_nobody_who_has_the_signatures(
    caged: tuple[OwnedSafe, Any],
) -> None:
    safe, owner = caged
    request = ask(safe, owner, WISH)
    data = relay(safe, request)
    assert int(try_as_stranger(safe, data), 16) == 1, "before its end the signature is enough for anybody"
    pass_the_end(safe, request)
    with pytest.raises(RpcError):
        try_as_stranger(safe, data)
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 1_300


@pytest.mark.parametrize("act", ["rules", "session", "halt"])
def test_every_kind_of_change_says_until_when_and_is_carried_out_before(caged: tuple[OwnedSafe, Any], act: str) -> None:
    safe, owner = caged
    session = {
        "key": "0x" + "00" * 20,
        "expires_at": "0",
        "operations": "0",
        "budget_micro_usd": "0",
    }
    request = (
        ask(safe, owner, WISH) if act == "rules" else ask(safe, owner, act=act, **(session if act == "session" else {}))
    )
    when = f"ends at {say_moment(int(request.deadline_at.timestamp()))}"
    assert f"What you sign {when}" in read_page(safe, request)
    [line] = [field["text"] for field in request.shown["safe_tx"] if field["name"] == "Ends"]
    assert line.startswith(when)
    # The change itself is told as it was when it stood alone.
    [batch] = request.shown["calls"]
    end, change = batch["inner"]
    assert end["to"] == ADDRESS and change["to"] == safe.mirror.contract
    assert change["function"] == {"rules": "propose", "session": "setSession", "halt": "halt"}[act]
    assert all(each.holds for each in verify_export(json.loads(json.dumps(export_request(request)))))
    signed = safe.sign(owner_transaction(request).safe_tx_hash)
    request = approve(request, owner, signature=signed, code="")
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert (request.state, request.problem) == ("EXECUTED", {})


def test_another_end_in_the_file_is_found(caged: tuple[OwnedSafe, Any]) -> None:
    safe, owner = caged
    document = json.loads(json.dumps(export_request(ask(safe, owner, WISH))))
    document["binding"]["change"]["safe_tx"]["ends_at"] = "99999999999"
    broken = {each.what for each in verify_export(document) if not each.holds}
    assert "what the owners sign ends when it is said to" in broken


def test_an_ended_change_is_refused_with_a_next_step_and_a_new_one_can_be_made(caged: tuple[OwnedSafe, Any]) -> None:
    safe, owner = caged
    request = ask(safe, owner, WISH)
    approved = approve(request, owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
    late = request.deadline_at + timedelta(seconds=1)
    with pytest.raises(ChangeClosed, match="asked anew"):
        asked = owner_transaction(approved)
        build_raw_call(asked, read_safe(open_chain(31337, now=clock.now()), safe.address), now=late)
    with pytest.raises(ChangeClosed, match="asked anew"):
        sign_change(
            request_id=request.pk,
            owner=owner,
            signature=safe.sign(owner_transaction(request).safe_tx_hash),
            seen_digest=request.digest,
            now=late,
        )
    request.refresh_from_db()
    assert request.state == "EXPIRED" and "ended by time" in request.state_reason
    assert execute_change(request_id=request.pk, now=late) is None
    assert not RelayedTransaction.objects.exists()
    again = ask(safe, owner, WISH)
    assert again.pk != request.pk and again.state == "OPEN"


def test_the_clock_ends_an_approved_change_that_nobody_sent(caged: tuple[OwnedSafe, Any]) -> None:
    safe, owner = caged
    request = ask(safe, owner, WISH)
    approve(request, owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
    assert time_out_changes(now=request.deadline_at - timedelta(seconds=1)) == 0
    assert time_out_changes(now=request.deadline_at + timedelta(seconds=1)) == 1
    request.refresh_from_db()
    assert (request.state, owner_transaction(request).state) == ("EXPIRED", "DEAD")


def test_a_worker_that_comes_too_late_ends_it_and_sends_nothing(caged: tuple[OwnedSafe, Any]) -> None:
    safe, owner = caged
    request = ask(safe, owner, WISH)
    approve(request, owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
    execute_change(request_id=request.pk, now=request.deadline_at)
    request.refresh_from_db()
    assert request.state == "EXPIRED" and not RelayedTransaction.objects.exists()


def test_a_chain_without_the_contract_changes_the_cage_as_before_and_says_so(
    caged: tuple[OwnedSafe, Any], no_deadline: None
) -> None:
    safe, owner = caged
    request = ask(safe, owner, WISH)
    assert "What you sign does not end by time" in read_page(safe, request)
    approve(request, owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == "EXECUTED"


def test_a_change_whose_end_is_not_on_the_chain_any_more_is_not_sent(caged: tuple[OwnedSafe, Any]) -> None:
    safe, owner = caged
    request = ask(safe, owner, WISH)
    rpc = safe.live.world.rpc
    rpc.call("anvil_setCode", ADDRESS, "0x00")
    try:
        with pytest.raises(ChangeStale, match="ends by time"):
            approve(request, owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
    finally:
        rpc.call("anvil_setCode", ADDRESS, "0x" + deadline_contract.RUNNING_CODE.hex())
    request.refresh_from_db()
    assert request.state == "STALE" and not RelayedTransaction.objects.exists()


def test_page_file_and_commands_name_a_module_that_nobody_agreed_to(
    caged: tuple[OwnedSafe, Any], tmp_path: Path
) -> None:
    """The golem still acts with an account of its own: its cage's Safe is looked at all the same."""
    safe, owner = caged
    request = ask(safe, owner, WISH)
    thief = make_account("a thief").address
    browser = Client()
    browser.force_login(safe.live.owner)
    export = reverse("admin:permits_app_changerequest_export", args=[request.pk])
    clean = tmp_path / "clean.json"
    clean.write_bytes(browser.get(export).content)
    assert json.loads(clean.read_text())["safe_now"]["warnings"] == []
    safe.owner_call(safe.address, encode_call(ENABLE_MODULE, thief))

    page = build_signing_page(request, owner, now=clock.now())
    assert page is not None and any(thief in line for line in page.warnings)
    assert "did not agree to this of the Safe" in read_page(safe, request)
    told = tmp_path / "told.json"
    told.write_bytes(browser.get(export).content)
    assert any(thief in line for line in json.loads(told.read_text())["safe_now"]["warnings"])

    out = io.StringIO()
    call_command("verify_request", str(request.pk), stdout=out)
    assert f"WARNING  its owners did not agree to this of the Safe {safe.address}" in out.getvalue()
    assert thief in out.getvalue()
    # A file says what was so when it was exported; the chain says what is so, and no row of the server is asked.
    out = io.StringIO()
    call_command("verify_request", file=told, stdout=out)
    assert thief in out.getvalue() and "as the file says" in out.getvalue()
    out = io.StringIO()

    def refuse(*_: Any) -> Any:
        raise AssertionError("the database was asked")

    with connection.execute_wrapper(refuse):
        call_command("verify_request", file=clean, chain=True, stdout=out)
    assert f"none became {thief}" in out.getvalue()
    # sign_request asks no node: it prints what the file says.
    key, out = tmp_path / "key", io.StringIO()
    key.write_text("0x" + bytes(safe.owners[0].key).hex())
    hash_to_sign = request.change["safe_tx"]["safe_tx_hash"]
    call_command("sign_request", told, key_file=key, confirm=hash_to_sign, stdout=out)
    assert thief in out.getvalue() and "WARNING" in out.getvalue()

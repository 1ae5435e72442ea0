"""The owners' operation that chooses who signs: shown, approved, applied, held back while an action is under way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.execute_change import execute_change
from permits_app.actions.request_change import request_operation, request_permit_approval
from permits_app.actions.stage_key import stage_key
from permits_app.approval_errors import ChangeUnchanged
from permits_app.approval_pages.views import page_of
from permits_app.approvals.approval_statement import describe_permit
from permits_app.approvals.request_digest import export_request, verify_export
from permits_app.custody.signers.choose_signer import _open_key
from permits_app.errors import SessionNotActive, SignerUnavailable, WalletBusy, WalletExists
from permits_app.models import ActionPermit, ChangeRequest, SigningKey, Wallet
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.caged_golem import CagedGolem, Safe
from tools_app.core import clock
from tools_app.core.errors import InvalidParams


def ask(golem: LiveGolem, **arguments: Any) -> ChangeRequest:
    if not TOTPDevice.objects.filter(user=golem.owner).exists():
        give_device(golem.owner)
    return request_operation(
        golem=golem.golem, name="signer", arguments=arguments, owner=golem.owner, reason="test", now=clock.now()
    )


def carry_out(request: ChangeRequest, owner: Any) -> ChangeRequest:
    approve(request, owner)
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    return request


def test_another_key_of_the_keystore_signs_after_the_owner_approved_it(live_golem: LiveGolem) -> None:
    former = SigningKey.objects.get(golem=live_golem.golem)
    staged = stage_key(golem=live_golem.golem, reason="x", actor="system:test", now=clock.now())
    request = ask(live_golem, kind="LOCAL_KEYSTORE")
    assert request.risk_tier == "CRITICAL"
    shown = {line["words"]: (line["before"], line["after"]) for line in request.shown["differences"]}
    assert shown["Account"] == (former.address, staged.address)
    assert carry_out(request, live_golem.owner).state == ChangeState.EXECUTED
    live_golem.golem.refresh_from_db()
    former.refresh_from_db()
    assert live_golem.golem.address == staged.address
    assert former.state == KeyState.DROPPED
    live_golem.world.fund(staged.address, 10**18, {"USDC": 1_000 * 10**6})
    assert live_golem.commit(live_golem.preview()["permit_id"])["status"] == "COMMITTED"


def test_the_same_wallet_again_is_no_change(live_golem: LiveGolem) -> None:
    with pytest.raises(ChangeUnchanged):
        ask(live_golem, kind="LOCAL_KEYSTORE", address=live_golem.golem.address)


def test_a_request_whose_start_moved_is_stale(live_golem: LiveGolem) -> None:
    stage_key(golem=live_golem.golem, reason="x", actor="system:test", now=clock.now())
    request = ask(live_golem, kind="LOCAL_KEYSTORE")
    approve(request, live_golem.owner)
    SigningKey.objects.filter(golem=live_golem.golem, state=KeyState.ACTIVE).update(state=KeyState.DROPPED)
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == ChangeState.STALE


def test_while_an_action_is_under_way_the_change_waits_and_is_tried_again(live_golem: LiveGolem) -> None:
    stage_key(golem=live_golem.golem, reason="x", actor="system:test", now=clock.now())
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    request = ask(live_golem, kind="LOCAL_KEYSTORE")
    assert carry_out(request, live_golem.owner).state == ChangeState.APPROVED
    assert request.problem["code"] == WalletBusy.code
    live_golem.work(permit_id)
    assert ActionPermit.objects.get(pk=permit_id).status == PermitStatus.COMMITTED
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == ChangeState.EXECUTED


def test_a_cage_without_this_golems_session_key_is_refused(live_golem: LiveGolem) -> None:
    with pytest.raises(SignerUnavailable, match="no mirrored cage"):
        ask(live_golem, kind="POLICY_CAGE")
    caged = CagedGolem(live_golem)
    SigningKey.objects.filter(pk=caged.key.pk).update(address="0x" + "11" * 20)
    with pytest.raises(SessionNotActive):
        ask(live_golem, kind="POLICY_CAGE")


def test_back_from_the_cage_to_a_key_and_into_it_again(live_golem: LiveGolem) -> None:
    caged = CagedGolem(live_golem)
    former = SigningKey.objects.exclude(pk=caged.key.pk).get(golem=live_golem.golem)
    request = carry_out(ask(live_golem, kind="LOCAL_KEYSTORE", address=former.address), live_golem.owner)
    assert request.state == ChangeState.EXECUTED
    wallet = Wallet.objects.get(golem=live_golem.golem)
    assert (wallet.kind, wallet.address) == (WalletKind.LOCAL_KEYSTORE, former.address)
    request = carry_out(ask(live_golem, kind="POLICY_CAGE"), live_golem.owner)
    assert request.state == ChangeState.EXECUTED, request.problem
    live_golem.golem.refresh_from_db()
    assert live_golem.golem.address == caged.safe.address
    assert live_golem.commit(live_golem.preview()["permit_id"])["status"] == "COMMITTED"


def test_a_safe_of_other_owners_is_taken_and_says_who_signs_and_what_is_no_safe_is_refused(
    live_golem: LiveGolem,
) -> None:
    request = ask(live_golem, kind="GNOSIS_SAFE", safe=Safe(live_golem).address)
    notes = [line["note"] for line in request.shown["differences"]]
    assert any("1 of its 1 owners sign each plan; the golem's key is none of them" in note for note in notes), notes
    with pytest.raises(InvalidParams):
        ask(live_golem, kind="GNOSIS_SAFE", safe=live_golem.world.contracts["weth9"])
    with pytest.raises(InvalidParams):
        ask(live_golem, kind="GNOSIS_SAFE", safe="not an address")
    with pytest.raises(InvalidParams):
        ask(live_golem, kind="PAPER")


def test_another_golems_account_is_never_taken(live_golem: LiveGolem) -> None:
    other = make_live_golem(live_golem.world, name="Other", owner_name="owner-b")
    with pytest.raises(SignerUnavailable):
        ask(live_golem, kind="LOCAL_KEYSTORE", address=other.golem.address)
    caged = CagedGolem(live_golem)
    former = SigningKey.objects.exclude(pk=caged.key.pk).get(golem=live_golem.golem)
    pending = ask(live_golem, kind="LOCAL_KEYSTORE", address=former.address)
    Wallet.objects.filter(golem=other.golem).update(address=former.address)
    done = carry_out(pending, live_golem.owner)
    assert (done.state, done.problem["code"]) == (ChangeState.FAILED, WalletExists.code)


def test_owners_see_the_plans_calls_and_verify_what_carries_them(live_golem: LiveGolem, client: Client) -> None:
    caged = CagedGolem(live_golem)
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    shown = describe_permit(permit)
    assert len(shown["calls"]) == 2
    assert shown["carried_by"]["through"] == caged.mirror.contract
    ActionPermit.objects.filter(pk=permit.pk).update(status=PermitStatus.AWAITING_APPROVAL)
    permit.refresh_from_db()
    request = request_permit_approval(permit=permit, actor="key:test", now=clock.now())
    document = json.loads(json.dumps(export_request(request)))
    assert all(finding.holds for finding in verify_export(document))
    document["plan"]["batch"][0]["to"] = "0x" + "11" * 20
    failed = {finding.what for finding in verify_export(document) if not finding.holds}
    assert "what is signed makes exactly these calls" in failed
    client.force_login(live_golem.owner)
    live_golem.owner.groups.add(ensure_owner_group())
    text = client.get(page_of(request.pk)).content.decode()
    assert 'id="carrier"' in text and caged.mirror.contract in text


def test_a_key_that_is_held_where_nobody_signs_has_no_signer() -> None:
    with pytest.raises(SignerUnavailable, match="held by a safe place"):
        _open_key(SigningKey(holder="a safe place", address="0x" + "11" * 20))

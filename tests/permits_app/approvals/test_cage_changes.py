"""A change of the cage on chain: asked here, signed by owners elsewhere, relayed, and followed by the mirror."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from permits_app.actions.apply_cage_changes import apply_cage_changes
from permits_app.actions.execute_change import execute_change
from permits_app.actions.relay_owner_transaction import build_raw_call
from permits_app.actions.sweep_changes import list_due_changes
from permits_app.approval_errors import (
    CageHasNoSafe,
    ChangeClosed,
    ChangeStale,
    OwnerCallReverts,
    OwnRequest,
    SignatureMissing,
    SignatureWrong,
)
from permits_app.approvals.request_digest import export_request, verify_export
from permits_app.custody.safe_view import open_chain, read_safe
from permits_app.doors.decide_change import cancel_change, sign_change
from permits_app.errors import SimulationRecognised
from permits_app.gas_relayer import RelayOrder, send_order
from permits_app.models import (
    CageMirror,
    ChangeRequest,
    OwnerApproval,
    OwnerSignature,
    OwnerTransaction,
    RelayedTransaction,
)
from permits_app.models.owner_transaction import RelayPurpose
from permits_app.policy_cage.contract import Limit, encode_halt, encode_propose, limit_rule
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, make_relayer, owner_transaction
from tests.proof.caged.safe import sign_digest
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry
from tools_app.core.required_value import require

HOUR = 3_600


@pytest.fixture
def caged(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> tuple[OwnedSafe, Any, Any]:
    """A golem of two owners behind a Safe either of them may sign for, and a relayer."""
    live, owner, other = two_owners
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    return safe, owner, other


def run(request: ChangeRequest) -> ChangeRequest:
    execute_change(request_id=request.pk, now=clock.now())
    return ChangeRequest.objects.get(pk=request.pk)


def signature(safe: OwnedSafe, request: ChangeRequest, owner: int = 0) -> str:
    return safe.sign(owner_transaction(request).safe_tx_hash, owner)


def test_what_tightens_needs_only_the_signature_of_who_asks_and_the_mirror_follows(
    caged: tuple[OwnedSafe, Any, Any],
) -> None:
    safe, owner, _ = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    assert (request.risk_tier, request.needs_second_factor, request.barred_owner_id) == ("STANDARD", False, None)
    [line] = request.shown["differences"]
    assert (line["before"], line["after"], line["note"]) == ("13.00%", "9.00%", "tightens")
    request = run(approve(request, owner, signature=signature(safe, request), code=""))
    assert (request.state, request.problem) == ("EXECUTED", {})
    safe.mirror.refresh_from_db()
    safe.mirror.cage.refresh_from_db()
    assert safe.mirror.cage.max_drawdown_bps == 900
    relayed = RelayedTransaction.objects.get()
    assert (relayed.state, require(relayed.owner_transaction).state) == ("MINED", "EXECUTED")
    assert request.result["tx_hash"] == relayed.tx_hash
    told = list(AuditEntry.objects.filter(golem_id=safe.live.golem.pk).order_by("seq").values_list("event", flat=True))
    story = [
        "ChangeRequested",
        "OwnerSigned",
        "ChangeApproved",
        "OwnerTransactionReleased",
        "OwnerTransactionSent",
        "OwnerTransactionExecuted",
        "CageMirrored",
        "ChangeExecuted",
    ]
    assert [event for event in told if event in story][-len(story) :] == story


def test_what_loosens_waits_in_the_contract_and_is_applied_when_its_delay_is_over(
    caged: tuple[OwnedSafe, Any, Any],
) -> None:
    safe, owner, other = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    assert (request.risk_tier, request.cooling_seconds, request.barred_owner_id) == ("CRITICAL", 0, owner.pk)
    assert "the contract lets it wait 2 d" in request.shown["differences"][0]["note"]
    with pytest.raises(OwnRequest):
        approve(request, owner, signature=signature(safe, request))
    request = run(approve(request, other, signature=signature(safe, request, 1)))
    assert request.state == "EXECUTED"
    state = safe.sync()
    assert (state.limit(Limit.MAX_DRAWDOWN_BPS), len(state.pending)) == (1_300, 1)
    assert apply_cage_changes(now=clock.now()) == 0
    safe.pass_time(48 * HOUR + 60)
    safe.sync()
    assert apply_cage_changes(now=clock.now()) == 1
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 3_000
    entry = AuditEntry.objects.get(event="CageChangeApplied")
    assert (entry.data["from"], entry.data["to"]) == ("13.00%", "30.00%")
    assert apply_cage_changes(now=clock.now()) == 0


def test_what_was_proposed_together_is_applied_by_one_transaction_and_told_rule_by_rule(
    caged: tuple[OwnedSafe, Any, Any],
) -> None:
    safe, owner, other = caged
    wish = [limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000), limit_change(Limit.MAX_REBALANCES_PER_DAY, 25)]
    request = ask(safe, owner, *wish)
    # The second would wait an hour by itself.
    assert all("the contract lets it wait 2 d" in line["note"] for line in request.shown["differences"])
    assert run(approve(request, other, signature=signature(safe, request, 1))).state == "EXECUTED"
    assert len({change.bundle for change in safe.sync().pending.values()}) == 1
    safe.pass_time(HOUR + 60)
    safe.sync()
    assert apply_cage_changes(now=clock.now()) == 0
    safe.pass_time(47 * HOUR)
    safe.sync()
    assert apply_cage_changes(now=clock.now()) == 2
    state = safe.sync()
    assert (state.limit(Limit.MAX_DRAWDOWN_BPS), state.limit(Limit.MAX_REBALANCES_PER_DAY)) == (3_000, 25)
    told = AuditEntry.objects.filter(event="CageChangeApplied")
    assert sorted(entry.data["to"] for entry in told) == ["25", "30.00%"]
    assert len({entry.data["tx_hash"] for entry in told}) == 1
    assert RelayedTransaction.objects.filter(purpose=RelayPurpose.APPLY).count() == 1


def test_a_waiting_change_is_cancelled_by_any_owner_alone(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 1_500))
    assert request.risk_tier == "HIGH"
    run(approve(request, other, signature=signature(safe, request, 1)))
    [(kind, key)] = safe.sync().pending
    stop = ask(safe, owner, act="cancel", kind=kind, key=key)
    assert stop.risk_tier == "STANDARD"
    assert run(approve(stop, owner, signature=signature(safe, stop), code="")).state == "EXECUTED"
    assert safe.sync().pending == {}


def test_every_act_of_an_owner_reaches_the_contract(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged

    def do(who: Any, number: int, **wish: Any) -> ChangeRequest:
        request = ask(safe, owner, **wish)
        done = run(approve(request, who, signature=signature(safe, request, number)))
        assert done.state == "EXECUTED", done.problem
        safe.sync()
        return done

    key, expires = safe.live.world.new_account().address, int(clock.now().timestamp()) + 86_400
    appointed = do(other, 1, act="session", key=key, expires_at=expires, operations=5, budget_micro_usd=7_000_000)
    assert appointed.risk_tier == "CRITICAL"
    assert (safe.sync().session.key, safe.sync().session.budget_left) == (key, 7_000_000)
    do(owner, 0, act="halt")
    assert safe.sync().is_halted
    assert do(other, 1, act="resume").risk_tier == "CRITICAL"
    assert not safe.sync().is_halted


def test_without_the_owners_own_signature_nothing_is_approved(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    with pytest.raises(SignatureMissing):
        approve(request, other)
    with pytest.raises(SignatureWrong, match="bytes"):
        approve(request, other, signature="0x1234")
    stranger = safe.live.world.new_account()
    with pytest.raises(SignatureWrong, match="owns no part"):
        digest = bytes.fromhex(owner_transaction(request).safe_tx_hash[2:])
        approve(request, other, signature=sign_digest(stranger, digest).hex())
    with pytest.raises(SignatureWrong):
        approve(request, other, signature=safe.sign("0x" + "11" * 32, 1))
    assert not OwnerSignature.objects.exists()
    assert ChangeRequest.objects.get(pk=request.pk).state == "OPEN"


def test_the_database_refuses_an_approval_without_a_signature(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    with pytest.raises(IntegrityError, match="own signature"), transaction.atomic():
        OwnerApproval.objects.create(
            request=request,
            owner=other,
            verdict="APPROVE",
            digest=request.digest,
            has_second_factor=True,
            decided_at=clock.now(),
        )
    with pytest.raises(IntegrityError, match="never rewritten"), transaction.atomic():
        OwnerTransaction.objects.filter(request=request).update(data="0x")


def test_a_safe_that_moved_on_makes_the_request_stale(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    given = signature(safe, request, 1)
    safe.owner_call(safe.mirror.contract, encode_halt())
    with pytest.raises(ChangeStale, match="nonce") as caught:
        approve(request, other, signature=given)
    assert caught.value.http_status == 409
    assert ChangeRequest.objects.get(pk=request.pk).state == "STALE"


def test_a_rule_that_moved_makes_the_request_stale(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    given = signature(safe, request, 1)
    safe.owner_call(safe.mirror.contract, encode_propose([limit_rule(Limit.MAX_DRAWDOWN_BPS, 1_200)]))
    safe.sync()
    with pytest.raises(ChangeStale):
        approve(request, other, signature=given)


def test_two_of_two_must_sign_and_who_asked_signs_without_approving(
    two_owners: tuple[LiveGolem, Any, Any], settings: Any
) -> None:
    live, owner, other = two_owners
    safe = OwnedSafe(live, threshold=2)
    make_relayer(live, settings)
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    request = run(approve(request, other, signature=signature(safe, request, 1)))
    assert (request.state, request.problem["code"]) == ("APPROVED", "OWNER_SIGNATURES_INCOMPLETE")
    assert not RelayedTransaction.objects.exists()
    with pytest.raises(SignatureWrong, match="another account"):
        sign_change(
            request_id=request.pk,
            owner=owner,
            signature=signature(safe, request, 1),
            seen_digest=request.digest,
            now=clock.now(),
        )
    sign_change(
        request_id=request.pk,
        owner=owner,
        signature=signature(safe, request),
        seen_digest=request.digest,
        now=clock.now(),
    )
    assert list_due_changes(now=clock.now()) == [request.pk]
    assert run(request).state == "EXECUTED"


def test_without_a_relayer_it_waits_and_what_somebody_else_sends_is_found(
    caged: tuple[OwnedSafe, Any, Any], settings: Any
) -> None:
    safe, owner, _ = caged
    settings.GOLEM_RELAYER_ADDRESS, settings.GOLEM_RELAYER_ADDRESS_FILE = "", "nowhere"
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    request = run(approve(request, owner, signature=signature(safe, request), code=""))
    assert (request.state, request.problem["code"]) == ("APPROVED", "RELAYER_NOT_CONFIGURED")
    chain = open_chain(31337, now=clock.now())
    raw = build_raw_call(owner_transaction(request), read_safe(chain, safe.address), now=clock.now())
    safe.engine._next = safe.engine._head_time() + 1
    assert safe.engine.send(safe.owners[0], safe.address, bytes.fromhex(raw[2:])).succeeded
    assert run(request).state == "EXECUTED"
    assert not RelayedTransaction.objects.exists()
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900


def test_what_was_not_sent_yet_can_be_cancelled_and_what_was_sent_cannot(
    caged: tuple[OwnedSafe, Any, Any], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe, owner, _ = caged
    address, settings.GOLEM_RELAYER_ADDRESS = settings.GOLEM_RELAYER_ADDRESS, ""
    settings.GOLEM_RELAYER_ADDRESS_FILE = "nowhere"
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    run(approve(request, owner, signature=signature(safe, request), code=""))
    cancel_change(request_id=request.pk, owner=owner, reason="thought better of it", now=clock.now())
    assert OwnerTransaction.objects.get(request=request).state == "DEAD"
    settings.GOLEM_RELAYER_ADDRESS = address
    again = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    monkeypatch.setattr("permits_app.actions.relay_owner_transaction.follow", lambda row, seconds: None)
    monkeypatch.setattr("permits_app.actions.relay_owner_transaction.find_execution", lambda *_, **__: None)
    again = run(approve(again, owner, signature=signature(safe, again), code=""))
    assert (again.state, owner_transaction(again).state) == ("APPROVED", "SENT")
    with pytest.raises(ChangeClosed):
        cancel_change(request_id=again.pk, owner=owner, reason="too late", now=clock.now())
    monkeypatch.undo()
    # The worker that stopped in between: the stored bytes are on the chain, and nothing is sent a second time.
    assert run(again).state == "EXECUTED"
    assert RelayedTransaction.objects.count() == 1


def test_a_key_of_an_owner_or_of_a_golem_is_no_relayer(caged: tuple[OwnedSafe, Any, Any], settings: Any) -> None:
    safe, owner, _ = caged
    settings.GOLEM_RELAYER_ADDRESS = safe.live.golem.address
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    request = run(approve(request, owner, signature=signature(safe, request), code=""))
    assert (request.state, request.problem["code"]) == ("FAILED", "RELAYER_REFUSES")


def test_the_relayer_spends_no_more_than_its_day_allows(caged: tuple[OwnedSafe, Any, Any], settings: Any) -> None:
    safe, owner, _ = caged
    settings.GOLEM_RELAYER_MOST_WEI_PER_DAY = 1
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    request = run(approve(request, owner, signature=signature(safe, request), code=""))
    assert (request.state, request.problem["code"]) == ("APPROVED", "RELAYER_BUDGET_USED")
    settings.GOLEM_RELAYER_MOST_WEI_PER_DAY = 10**18
    assert run(request).state == "EXECUTED"


def test_the_export_is_verified_without_server_and_a_changed_byte_is_found(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, _ = caged
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    document = export_request(request)
    assert all(finding.holds for finding in verify_export(document))
    document["binding"]["change"]["safe_tx"]["nonce"] = "99"
    broken = {finding.what for finding in verify_export(document) if not finding.holds}
    assert "the hash to sign is that of the fields shown" in broken
    assert "the digest covers what is shown" in broken


def test_an_equal_wish_is_folded_whatever_the_nonce(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, _ = caged
    first = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000))
    assert ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 3_000)).pk == first.pk


def test_a_fee_nobody_takes_is_raised_for_the_same_call(caged: tuple[OwnedSafe, Any, Any], settings: Any) -> None:
    safe, owner, _ = caged
    settings.GOLEM_RELAYER_WAIT_SECONDS, settings.GOLEM_STUCK_AFTER_SECONDS = 0.2, 0
    rpc = safe.live.world.rpc
    request = ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    rpc.call("evm_setAutomine", False)
    try:
        assert run(approve(request, owner, signature=signature(safe, request), code="")).state == "APPROVED"
        assert run(request).state == "APPROVED"
    finally:
        rpc.call("evm_setAutomine", True)
        rpc.call("evm_mine")
    request = run(request)
    assert request.state == "EXECUTED", request.problem
    rows = list(RelayedTransaction.objects.order_by("pk"))
    assert {row.state for row in rows} == {"REPLACED", "MINED"}
    assert len({(row.nonce, row.data) for row in rows}) == 1
    assert int(rows[-1].max_fee_per_gas) > int(rows[0].max_fee_per_gas)
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900


def test_owners_let_the_cage_act_for_their_safe(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> None:
    live, owner, other = two_owners
    safe = OwnedSafe(live, is_enabled=False)
    make_relayer(live, settings)
    request = ask(safe, owner, act="enable")
    [enabled] = request.shown["calls"][0]["inner"][1:]
    assert (request.risk_tier, enabled["to"], enabled["function"]) == ("CRITICAL", safe.address, "enableModule")
    assert run(approve(request, other, signature=signature(safe, request, 1))).state == "EXECUTED"
    safe.sync()
    assert safe.mirror.is_enforced


def test_a_plain_account_is_told_to_send_its_own(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> None:
    live, owner, _ = two_owners
    safe = OwnedSafe(live)
    CageMirror.objects.filter(pk=safe.mirror.pk).update(account=live.world.new_account().address)
    with pytest.raises(CageHasNoSafe, match="plain account"):
        ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))


def test_a_cage_over_another_account_than_the_golem_acts_with_is_not_asked(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, _, _ = caged
    # The contract is enforced over the Safe, and nobody has a session; the golem still acts with its own key.
    assert safe.mirror.is_enforced and safe.live.golem.address != safe.address
    assert safe.live.commit(safe.live.preview()["permit_id"])["status"] == "COMMITTED"


@pytest.mark.parametrize(
    ("code", "error"), [("3a5f5fa100", SimulationRecognised), ("3a156008575f5ffd5b00", OwnerCallReverts)]
)
def test_what_the_relayer_signs_was_run_as_it_is_signed(
    caged: tuple[OwnedSafe, Any, Any], code: str, error: type[GolemError]
) -> None:
    """A contract in the Safe's place that tells the price of gas, and one that refuses whoever pays for it."""
    safe = caged[0]
    safe.live.world.rpc.call("anvil_setCode", safe.address, "0x" + code)
    data = parse_signature(EXEC_TRANSACTION).selector
    order = RelayOrder(purpose=RelayPurpose.EXECUTE, to=safe.address, data=data)
    with pytest.raises(error):
        send_order(order=order, chain=open_chain(31337, now=clock.now()), now=clock.now())
    assert not RelayedTransaction.objects.exists()

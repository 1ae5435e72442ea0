"""A permit of tier HIGH or CRITICAL waits for owners, and what they approve is executed, on the real contracts."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import halt_golem
from permits_app.actions.sweep_changes import list_due_changes, time_out_changes
from permits_app.approval_errors import (
    AlreadyDecided,
    ChangeClosed,
    ChangeStale,
    NotAnOwner,
    OwnRequest,
    ReasonNeeded,
    SecondFactorMissing,
    SecondFactorWrong,
    TooManyChanges,
)
from permits_app.approvals.request_digest import hash_request
from permits_app.doors.decide_change import cancel_change, comment_change
from permits_app.errors import PermitNotCommittable
from permits_app.models import ChangeRequest, OwnerApproval, SpendEntry, SpendingLimits
from permits_app.models.approval import Verdict
from tests import factories
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, current_code, give_device, next_code, reject
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.core.required_value import require

Owners = tuple[LiveGolem, Any, Any]
pytestmark = pytest.mark.usefixtures("eager")


def _request(live: LiveGolem, **changes: Any) -> ChangeRequest:
    permit = live.preview(**changes)
    assert permit["status"] == "AWAITING_APPROVAL"
    assert permit["missing"] == ["approval"]
    return ChangeRequest.objects.get(permit_id=permit["permit_id"])


def _carry_out(request: ChangeRequest) -> ChangeRequest:
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    return request


def test_an_approved_swap_is_executed_with_the_bytes_that_were_shown(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    shown, before = require(request.permit).calls, live.balance("WETH")
    approve(request, other)
    request = _carry_out(request)
    permit = live.permit(str(request.permit_id))
    assert (request.state, permit.status) == ("EXECUTED", "COMMITTED")
    assert permit.calls == shown
    assert live.balance("WETH") > before
    assert request.execution.actor == "system:approvals"


def test_the_statement_names_calls_amounts_allowances_contracts_and_who_asked(
    two_owners: Owners, critical_swap: None
) -> None:
    live, owner, _ = two_owners
    request = _request(live)
    shown = request.shown
    assert [call["function"] for call in shown["calls"]] == ["approve", "multicall"]
    assert shown["calls"][1]["inner"][0]["function"] == "exactInputSingle"
    assert shown["bounds"]["leaves_at_most"][0]["units"] == "500 USDC"
    assert shown["bounds"]["allowances"][0]["granted"] == "500 USDC"
    assert len(shown["bounds"]["contracts"]) == 2
    assert shown["value_at_stake"].startswith("$5")
    assert shown["review"]["verdict"] == "APPROVE"
    assert request.risk_tier == "CRITICAL"
    assert request.barred_owner == owner
    assert request.title.startswith("Swap 500 USDC at uniswap, loses $")


def test_what_a_swap_lost_in_the_simulation_is_told_alike_everywhere_and_is_what_it_loses(
    two_owners: Owners, critical_swap: None
) -> None:
    live, owner, other = two_owners
    owner.groups.add(ensure_owner_group())
    request = _request(live)
    worth = _weigh(live)
    browser = Client()
    browser.force_login(owner)
    pages = {
        name: browser.get(reverse(f"admin:permits_app_{name}", args=args)).content.decode()
        for name, args in (
            ("changerequest_change", [request.pk]),
            ("changerequest_short", [request.pk]),
            ("changerequest_inbox", []),
            ("actionpermit_change", [request.permit_id]),
        )
    }
    approve(request, other)
    assert _carry_out(request).state == "EXECUTED"
    lost = worth - _weigh(live)
    # The fee of a twentieth of a percent at least.
    assert Decimal("0.2") < lost < 5
    told = Decimal(require(request.permit).expected_outcome["value_change"]["micro_usd"]) / -(10**6)
    assert abs(told - lost) < Decimal("0.01")
    assert request.title.endswith(f"loses ${told:.2f}")
    for name, page in pages.items():
        assert f"${told:.2f} less afterwards, gas apart" in page, name
        assert "$500." in page or name == "actionpermit_change", "beside what is at stake at most"


def _weigh(live: LiveGolem) -> Decimal:
    """Dollars of what its wallet holds of two tokens, by the answers of their feeds read raw."""
    total = Decimal(0)
    for symbol in ("USDC", "WETH"):
        token = live.world.tokens[symbol]
        returns = "(uint80,int256,uint256,uint256,uint80)"
        answer = live.world.rpc.read(token.feed, "latestRoundData()", returns=returns)[1]
        total += Decimal(live.balance(symbol)) * int(answer) / 10 ** (8 + token.decimals)
    return total


def test_the_owner_behind_the_agent_does_not_approve_its_critical_request(
    two_owners: Owners, critical_swap: None
) -> None:
    live, owner, _ = two_owners
    request = _request(live)
    with pytest.raises(OwnRequest):
        approve(request, owner)
    assert not OwnerApproval.objects.exists()


def test_one_owner_is_enough_for_high_and_two_of_three_for_critical(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    third = factories.make_owner(name="owner-c")
    give_device(third)
    live.golem.co_owners.add(third)
    request = _request(live)
    assert request.required_approvals == 2
    approve(request, other)
    request.refresh_from_db()
    assert request.state == "OPEN"
    with pytest.raises(AlreadyDecided):
        approve(request, other)
    approve(request, third)
    request.refresh_from_db()
    assert request.state == "APPROVED"


def test_a_high_request_of_an_agent_is_approved_by_any_one_owner(two_owners: Owners, high_swap: None) -> None:
    live, owner, _ = two_owners
    request = _request(live)
    assert (request.risk_tier, request.required_approvals, request.barred_owner) == ("HIGH", 1, None)
    approve(request, owner)
    assert _carry_out(request).state == "EXECUTED"


def test_a_single_owner_approves_alone_with_a_second_factor(live_golem: LiveGolem, critical_swap: None) -> None:
    give_device(live_golem.owner)
    request = _request(live_golem)
    assert request.is_single_owner and request.needs_second_factor
    with pytest.raises(SecondFactorMissing):
        approve(request, live_golem.owner, code="")
    approve(request, live_golem.owner)
    assert _carry_out(request).state == "EXECUTED"


def test_a_code_is_accepted_once_and_a_wrong_one_never(two_owners: Owners, high_swap: None) -> None:
    live, owner, _ = two_owners
    first, second = _request(live), _request(live, amount="400000000")
    code = next_code(owner)
    approve(first, owner, code=code)
    with pytest.raises(SecondFactorWrong):
        approve(second, owner, code=current_code(owner))
    TOTPDevice.objects.update(throttling_failure_timestamp=clock.now() - timedelta(minutes=1))
    with pytest.raises(SecondFactorWrong):
        approve(second, owner, code="000000")
    assert OwnerApproval.objects.filter(request=second).count() == 0


def test_strangers_and_operators_of_the_server_do_not_decide(two_owners: Owners, high_swap: None) -> None:
    live, _, _ = two_owners
    request = _request(live)
    for person in (factories.make_owner(name="stranger"), factories.make_operator()):
        give_device(person)
        with pytest.raises(NotAnOwner):
            approve(request, person)
        with pytest.raises(NotAnOwner):
            comment_change(request_id=request.pk, owner=person, text="hello", now=clock.now())


def test_a_rejection_needs_a_reason_blocks_the_permit_and_frees_what_it_held(
    two_owners: Owners, high_swap: None
) -> None:
    live, owner, _ = two_owners
    request = _request(live)
    with pytest.raises(ReasonNeeded):
        reject(request, owner, reason=" ")
    reject(request, owner, reason="too much")
    permit = live.permit(str(request.permit_id))
    assert permit.status == "BLOCKED" and "too much" in permit.status_reason
    assert SpendEntry.objects.get(permit=permit).state == "RELEASED"
    with pytest.raises(ChangeClosed):
        approve(request, owner)


def test_approvals_survive_new_blocks(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    live.world.rpc.call("anvil_mine", "0x5")
    approve(request, other)
    assert _carry_out(request).state == "EXECUTED"


def test_a_policy_that_moved_makes_the_request_stale(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    SpendingLimits.objects.filter(golem=live.golem).update(per_day_micro_usd=99_000_000_000)
    with pytest.raises(ChangeStale) as refused:
        approve(request, other)
    request.refresh_from_db()
    assert refused.value.http_status == 409
    assert request.state == "STALE"
    permit = live.permit(str(request.permit_id))
    assert (permit.status, permit.problem["code"]) == ("BLOCKED", "CHANGE_STALE")


def test_a_plan_that_was_tampered_with_makes_the_request_stale(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    permit = require(request.permit)
    calls = [dict(permit.calls[0], to="0x" + "66" * 20), *permit.calls[1:]]
    type(permit).objects.filter(pk=permit.pk).update(calls=calls)
    with pytest.raises(ChangeStale):
        approve(request, other)


def test_a_policy_that_moves_after_the_approval_stops_the_execution(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    approve(request, other)
    SpendingLimits.objects.filter(golem=live.golem).update(per_day_micro_usd=99_000_000_000)
    assert _carry_out(request).state == "STALE"
    assert live.permit(str(request.permit_id)).problem["code"] == "CHANGE_STALE"
    assert live.mined_nonce() == 0


def test_the_digest_the_owner_saw_must_be_the_request_s(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    with pytest.raises(ChangeStale):
        approve(request, other, seen_digest="0x" + "00" * 32)
    assert ChangeRequest.objects.get(pk=request.pk).state == "OPEN"


def test_what_nobody_decides_times_out_as_a_rejection(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    later = clock.now() + timedelta(hours=24, seconds=1)
    assert time_out_changes(now=later - timedelta(seconds=10)) == 0
    assert time_out_changes(now=later) == 1
    request.refresh_from_db()
    assert request.state == "EXPIRED"
    assert live.permit(str(request.permit_id)).status == "EXPIRED"


def test_the_deadline_inside_the_calldata_covers_the_wait(two_owners: Owners, critical_swap: None) -> None:
    live, _, _ = two_owners
    request = _request(live)
    assert require(request.permit).bounds["deadline"] > int(request.deadline_at.timestamp())


def test_the_sweep_finds_what_is_approved_and_not_executed(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    approve(request, other)
    assert list_due_changes(now=clock.now()) == [request.pk]
    ChangeRequest.objects.filter(pk=request.pk).update(claimed_at=clock.now())
    assert list_due_changes(now=clock.now() + timedelta(seconds=24)) == []
    assert list_due_changes(now=clock.now() + timedelta(seconds=26)) == [request.pk]


def test_a_second_execution_of_one_request_does_nothing(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    approve(request, other)
    _carry_out(request)
    sent = live.mined_nonce()
    assert execute_change(request_id=request.pk, now=clock.now()) is None
    assert live.mined_nonce() == sent


def test_an_equal_wish_is_folded_and_counted(two_owners: Owners, critical_swap: None) -> None:
    live, _, _ = two_owners
    first, second = live.preview(), live.preview()
    request = ChangeRequest.objects.get()
    assert first["permit_id"] == second["permit_id"]
    assert request.repeats == 2


def test_an_agent_has_only_so_many_open_requests_per_tier(two_owners: Owners, high_swap: None, settings: Any) -> None:
    live, _, _ = two_owners
    settings.GOLEM_APPROVAL_OPEN_PER_AGENT = 2
    _request(live, amount="100000000")
    _request(live, amount="110000000")
    with pytest.raises(TooManyChanges) as refused:
        live.preview(amount="120000000")
    assert refused.value.http_status == 429


def test_a_halt_ends_what_waits(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    halt_golem(golem=live.golem, reason="drill", actor="owner:1", now=clock.now())
    with pytest.raises(ChangeStale):
        approve(request, other)
    assert live.permit(str(request.permit_id)).status == "CANCELLED"


def test_an_owner_cancels_what_is_open(two_owners: Owners, critical_swap: None) -> None:
    live, owner, other = two_owners
    request = _request(live)
    cancel_change(request_id=request.pk, owner=owner, reason="changed my mind", now=clock.now())
    with pytest.raises(ChangeClosed):
        approve(request, other)
    assert live.permit(str(request.permit_id)).status == "CANCELLED"


def test_the_audit_log_and_the_events_tell_the_story(two_owners: Owners, critical_swap: None) -> None:
    live, _, other = two_owners
    request = _request(live)
    comment_change(request_id=request.pk, owner=other, text="looks right", now=clock.now())
    approve(request, other)
    _carry_out(request)
    told = list(AuditEntry.objects.filter(golem_id=live.golem.pk).order_by("seq").values_list("event", flat=True))
    story = [
        "PermitCreated",
        "ChangeRequested",
        "ChangeCommented",
        "OwnerDecided",
        "ChangeApproved",
        "ChangeExecuted",
        "PermitConsumed",
    ]
    assert [event for event in told if event in story] == story
    events = OutboxEvent.objects.filter(golem_id=live.golem.pk, type__startswith="approval:")
    assert set(events.values_list("type", flat=True)) == {
        "approval:requested",
        "approval:commented",
        "approval:granted",
        "approval:executed",
    }


def test_the_database_refuses_what_the_code_would_never_do(two_owners: Owners, critical_swap: None) -> None:
    live, owner, other = two_owners
    request = _request(live)
    row: dict[str, Any] = {
        "request": request,
        "verdict": Verdict.APPROVE,
        "digest": request.digest,
        "has_second_factor": True,
        "decided_at": clock.now(),
    }
    for wrong in (
        {"owner": owner},
        {"owner": other, "has_second_factor": False},
        {"owner": other, "digest": "0x" + "11" * 32},
        {"owner": other, "verdict": Verdict.REJECT, "reason": ""},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            OwnerApproval.objects.create(**{**row, **wrong})
    decision = OwnerApproval.objects.create(**row, owner=other)
    for statement in (
        "UPDATE permits_app_ownerapproval SET reason = 'x'",
        "DELETE FROM permits_app_ownerapproval",
        "UPDATE permits_app_changerequest SET shown = '{}'",
        "UPDATE permits_app_changerequest SET required_approvals = 9",
    ):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    with pytest.raises(IntegrityError), transaction.atomic():
        OwnerApproval.objects.create(**row, owner=other)
    assert Golem.objects.filter(pk=live.golem.pk).exists()
    assert decision.pk


def test_a_commit_of_what_waits_for_owners_says_what_ends_the_wait_and_when_it_is_rejected(
    two_owners: Owners, critical_swap: None
) -> None:
    live, _, _ = two_owners
    permit = live.preview()
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    with pytest.raises(PermitNotCommittable) as refused:
        live.start(permit["permit_id"])
    problem = refused.value.as_problem()
    assert (problem["recovery"], problem["decide_by"]) == ("WAIT", request.deadline_at.isoformat())
    assert "owners decide" in problem["cleared_by"] and problem["retry_after_seconds"] == 30


def test_why_an_agent_asks_is_told_to_the_owners_and_bound_by_the_digest(
    two_owners: Owners, critical_swap: None
) -> None:
    live, _, other = two_owners
    permit = live.preview(why="  the ETH share is 4 % under its target  ")
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    assert request.reason == "the ETH share is 4 % under its target"
    browser = Client()
    browser.force_login(other)
    shown = browser.get(f"/admin/permits_app/changerequest/{request.pk}/change/").content.decode()
    assert "the ETH share is 4 % under its target" in shown
    assert "Words of its agent or model; nobody has checked them" in shown
    request.reason = "another"
    assert hash_request(request) != request.digest
    # It is no parameter: an equal wish for another reason is the same wish.
    assert live.preview(why="because")["permit_id"] == permit["permit_id"]


@pytest.mark.parametrize("why", ["x" * 501, 7, ["a"]])
def test_a_reason_that_is_no_short_text_is_refused(two_owners: Owners, critical_swap: None, why: Any) -> None:
    live, _, _ = two_owners
    with pytest.raises(InvalidParams):
        live.preview(why=why)

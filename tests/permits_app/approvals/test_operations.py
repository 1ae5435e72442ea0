"""Owners' operations: what is asked for, what cools off, what is applied, and what a moved policy voids."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models import Golem, GolemMember
from memory_app.models import Directive
from permits_app.actions.announce_warden_actions import turn_warden_on
from permits_app.actions.change_policy import change_policy, roll_back_policy
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.actions.sweep_changes import list_due_changes
from permits_app.approval_errors import (
    CageIsMirrored,
    ChangeStale,
    ChangeUnchanged,
    NotAnOwner,
    OwnRequest,
    ReasonNeeded,
)
from permits_app.approvals.policy_state import diff_policy
from permits_app.approvals.write_policy import write_policy
from permits_app.doors.decide_change import cancel_change
from permits_app.halts.deaths import announce_death, announce_terminal
from permits_app.models import AllowlistEntry, ChangeRequest, Death, PolicyCage, PolicyVersion, SpendingLimits, Warden
from tests import factories
from tests.permits_app.approvals.people import approve, give_device, share
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]
SPENDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


@pytest.fixture
def owner() -> Any:
    person = factories.make_owner(name="ana")
    give_device(person)
    return person


@pytest.fixture
def other() -> Any:
    person = factories.make_owner(name="bo")
    give_device(person)
    return person


@pytest.fixture
def golem(owner: Any, other: Any) -> Golem:
    """A golem past its set-up, with two owners."""
    golem = share(factories.make_golem(owner=owner), other)
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    factories.make_api_key(golem=golem)
    return golem


def _ask(golem: Golem, owner: Any, name: str, **arguments: Any) -> ChangeRequest:
    return request_operation(
        golem=golem, name=name, arguments=arguments, owner=owner, reason="because", now=clock.now()
    )


def _run(request: ChangeRequest, *, after: timedelta = timedelta()) -> ChangeRequest:
    execute_change(request_id=request.pk, now=clock.now() + after)
    request.refresh_from_db()
    return request


def _loosen(golem: Golem, owner: Any, **columns: int) -> Any:
    changes = [{"row": "limits", "name": name, "after": str(value)} for name, value in columns.items()]
    return change_policy(golem=golem, changes=changes, owner=owner, reason="more room", now=clock.now())


def test_tightening_holds_at_once_and_loosening_waits_for_the_owners(golem: Golem, owner: Any) -> None:
    outcome = _loosen(golem, owner, per_day_micro_usd=50_000_000_000, per_transaction_micro_usd=11_000_000_000)
    row = SpendingLimits.objects.get(golem=golem)
    assert [each.name for each in outcome.applied] == ["per_day_micro_usd"]
    assert (row.per_day_micro_usd, row.per_transaction_micro_usd) == (50_000_000_000, 10_000_000_000)
    assert outcome.request.shown["differences"][0]["after"] == "$11,000.00"
    assert (outcome.request.risk_tier, outcome.request.cooling_seconds) == ("HIGH", 3_600)


@pytest.mark.parametrize(("to", "seconds"), [(12_500, 3_600), (12_501, 86_400), (20_000, 86_400), (20_001, 172_800)])
def test_an_approved_loosening_cools_off_before_it_holds(
    golem: Golem, owner: Any, other: Any, to: int, seconds: int
) -> None:
    request = _loosen(golem, owner, per_transaction_micro_usd=to * 1_000_000).request
    approve(request, other)
    early, late = timedelta(seconds=seconds - 5), timedelta(seconds=seconds + 5)
    assert _run(request, after=early).state == "APPROVED"
    assert list_due_changes(now=clock.now() + early) == []
    assert list_due_changes(now=clock.now() + late) == [request.pk]
    assert _run(request, after=late).state == "EXECUTED"
    assert SpendingLimits.objects.get(golem=golem).per_transaction_micro_usd == to * 1_000_000


def test_an_owner_cancels_a_loosening_while_it_cools_off(golem: Golem, owner: Any, other: Any) -> None:
    request = _loosen(golem, owner, writes_per_hour=40).request
    approve(request, other)
    cancel_change(request_id=request.pk, owner=owner, reason="thought again", now=clock.now())
    assert _run(request, after=timedelta(days=3)).state == "CANCELLED"
    assert SpendingLimits.objects.get(golem=golem).writes_per_hour == 20


def test_a_new_spender_waits_longest_and_going_without_one_waits_not_at_all(
    golem: Golem, owner: Any, other: Any
) -> None:
    change = {"row": "allowlist", "name": f"31337:SPENDER:{SPENDER}", "after": "a router"}
    request = change_policy(golem=golem, changes=[change], owner=owner, reason="new", now=clock.now()).request
    assert request is not None
    assert (request.risk_tier, request.cooling_seconds) == ("CRITICAL", 172_800)
    approve(request, other)
    assert _run(request, after=timedelta(hours=49)).state == "EXECUTED"
    assert AllowlistEntry.objects.get(golem=golem).label == "a router"
    gone = change_policy(
        golem=golem, changes=[{**change, "after": None}], owner=owner, reason="no more", now=clock.now()
    )
    assert gone.request is None
    assert not AllowlistEntry.objects.exists()


def test_in_its_set_up_a_golem_s_policy_is_edited_directly(owner: Any) -> None:
    fresh = factories.make_golem(owner=owner, name="Fresh")
    factories.make_limits(golem=fresh)
    outcome = _loosen(fresh, owner, per_day_micro_usd=900_000_000_000)
    assert outcome.request is None
    assert SpendingLimits.objects.get(golem=fresh).per_day_micro_usd == 900_000_000_000


def test_two_loosenings_at_once_the_second_goes_stale(golem: Golem, owner: Any, other: Any) -> None:
    first = _loosen(golem, owner, writes_per_hour=25).request
    second = _loosen(golem, owner, max_slippage_bps=110).request
    approve(first, other)
    approve(second, other)
    assert _run(first, after=timedelta(hours=2)).state == "EXECUTED"
    assert _run(second, after=timedelta(hours=2)).state == "STALE"
    assert SpendingLimits.objects.get(golem=golem).max_slippage_bps == 100


def test_every_change_of_the_policy_is_a_version_that_can_be_put_back(golem: Golem, owner: Any, other: Any) -> None:
    _loosen(golem, owner, per_day_micro_usd=50_000_000_000)
    first, second = PolicyVersion.objects.filter(golem=golem).order_by("number")
    assert first.policy["limits"]["per_day_micro_usd"] == "100000000000"
    assert second.policy["limits"]["per_day_micro_usd"] == "50000000000"
    back = roll_back_policy(golem=golem, version=first, owner=owner, reason="too tight", now=clock.now())
    assert back.applied == ()
    assert back.request is not None and back.request.title == "Put policy version 1 back"
    approve(back.request, other)
    assert _run(back.request, after=timedelta(hours=25)).state == "EXECUTED"
    assert SpendingLimits.objects.get(golem=golem).per_day_micro_usd == 100_000_000_000


def test_putting_back_what_holds_already_is_said_so(golem: Golem, owner: Any) -> None:
    _loosen(golem, owner, per_day_micro_usd=50_000_000_000)
    newest = PolicyVersion.objects.filter(golem=golem).latest("number")
    with pytest.raises(ChangeUnchanged):
        roll_back_policy(golem=golem, version=newest, owner=owner, reason="x", now=clock.now())


def test_resuming_needs_another_owner_with_a_second_factor(golem: Golem, owner: Any, other: Any) -> None:
    halt_golem(golem=golem, reason="drill", actor=f"owner:{owner.pk}", now=clock.now())
    golem.refresh_from_db()
    request = _ask(golem, owner, "resume")
    with pytest.raises(OwnRequest):
        approve(request, owner)
    approve(request, other)
    assert _run(request).state == "EXECUTED"
    golem.refresh_from_db()
    assert not golem.is_halted
    assert AuditEntry.objects.get(golem_id=golem.pk, event="HaltResumed").data["reason"] == "because"


def test_an_older_request_does_not_end_a_later_halt(golem: Golem, owner: Any, other: Any) -> None:
    halt_golem(golem=golem, reason="one", actor="owner:1", now=clock.now())
    golem.refresh_from_db()
    first, second = _ask(golem, owner, "resume"), None
    approve(first, other)
    _run(first)
    halt_golem(golem=golem, reason="two", actor="owner:1", now=clock.now())
    golem.refresh_from_db()
    second = _ask(golem, owner, "resume")
    assert first.pk != second.pk
    Golem.objects.filter(pk=golem.pk).update(halt_epoch=9)
    with pytest.raises(ChangeStale):
        approve(second, other)


def test_a_better_phase_waits_and_then_holds(golem: Golem, owner: Any, other: Any) -> None:
    Golem.objects.filter(pk=golem.pk).update(phase="SURVIVAL")
    golem.refresh_from_db()
    request = _ask(golem, owner, "phase", to="CAUTIOUS")
    assert request.shown["differences"] == [
        {"words": "Phase", "before": "survival", "after": "cautious", "note": "an owner's reset"}
    ]
    approve(request, other)
    assert _run(request).state == "EXECUTED"
    assert Golem.objects.get(pk=golem.pk).phase == "CAUTIOUS"


def test_an_approved_reset_of_the_phase_and_a_resume_each_stop_the_end_of_the_golem(
    golem: Golem, owner: Any, other: Any
) -> None:
    Golem.objects.filter(pk=golem.pk).update(phase="TERMINAL")
    golem.refresh_from_db()
    announce_terminal(golem_id=golem.pk, now=clock.now())
    request = _ask(golem, owner, "phase", to="CAUTIOUS")
    approve(request, other)
    assert _run(request).state == "EXECUTED"
    assert Death.objects.get(golem=golem).state == "STOPPED"
    announce_death(golem=golem, reason="done", actor="owner:1", due_at=clock.now(), now=clock.now())
    halt_golem(golem=golem, reason="done", actor="system:death", now=clock.now())
    golem.refresh_from_db()
    resume = _ask(golem, owner, "resume")
    approve(resume, other)
    assert _run(resume).state == "EXECUTED"
    assert set(Death.objects.filter(golem=golem).values_list("state", flat=True)) == {"STOPPED"}
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="DeathStopped").count() == 2


def test_the_strategy_is_written_as_it_was_approved(golem: Golem, owner: Any, other: Any) -> None:
    request = _ask(golem, owner, "strategy", section="Limits of risk", text="Hold half in USDC.")
    approve(request, other)
    assert _run(request).state == "EXECUTED"
    written = Directive.objects.get(golem=golem, document="STRATEGY")
    assert "Hold half in USDC." in written.text
    assert written.actor == f"owner:{owner.pk}"


def test_co_owners_change_after_approval_and_cooling(golem: Golem, owner: Any, other: Any) -> None:
    factories.make_owner(name="cy")
    request = _ask(golem, owner, "owners", co_owners=["bo", "cy"])
    approve(request, other)
    assert _run(request, after=timedelta(hours=49)).state == "EXECUTED"
    assert {person.username for person in golem.co_owners.all()} == {"bo", "cy"}


def test_a_co_owner_who_leaves_takes_their_keys_along_and_one_who_comes_has_one_role(
    golem: Golem, owner: Any, other: Any
) -> None:
    cy = factories.make_owner(name="cy")
    GolemMember.objects.create(golem=golem, person=cy, role="VIEWER", since=clock.now())
    third = factories.make_owner(name="di")
    golem.co_owners.add(third)
    key = create_api_key(golem=golem, scopes=["read"], label="di's", created_by=third, now=clock.now()).key
    request = _ask(golem, owner, "owners", co_owners=["bo", "cy"])
    give_device(third)
    for person in (other, third):
        approve(request, person)
    assert _run(request, after=timedelta(hours=49)).state == "EXECUTED"
    assert {person.username for person in golem.co_owners.all()} == {"bo", "cy"}
    assert not GolemMember.objects.filter(golem=golem).exists()
    key.refresh_from_db()
    assert key.revoked_at is not None


@pytest.mark.parametrize("names", [["bo", "nobody"], ["bo", "ana"]])
def test_nobody_without_an_account_and_not_the_owner_becomes_a_co_owner(
    golem: Golem, owner: Any, names: list[str]
) -> None:
    with pytest.raises(InvalidParams, match=f"called '{names[1]}'"):
        _ask(golem, owner, "owners", co_owners=names)
    assert not ChangeRequest.objects.filter(golem=golem).exists()


def test_more_tools_for_a_live_golem_are_shown_tool_by_tool(golem: Golem, owner: Any, other: Any) -> None:
    factories.make_profile(name="dealer", categories=["trading"])
    Golem.objects.filter(pk=golem.pk).update(address=SPENDER)
    elsewhere = factories.make_golem(owner=owner, name="Elsewhere", archetype=golem.archetype)
    Golem.objects.filter(pk=elsewhere.pk).update(allowed_protocols=["lido"])
    request = _ask(
        golem, owner, "tools", archetype=golem.archetype.name, profiles=["dealer"], allowed_protocols=[], overrides={}
    )
    words = {line["words"]: line["after"] for line in request.shown["differences"]}
    assert words["Profiles"] == "dealer"
    assert words["uniswap_execute_swap"] == "there"
    assert request.risk_tier == "CRITICAL"
    assert not golem.profiles.exists()
    approve(request, other)
    assert _run(request).state == "EXECUTED"
    assert [profile.name for profile in golem.profiles.all()] == ["dealer"]
    # Nothing of it reaches another golem, of the same owner too.
    elsewhere.refresh_from_db()
    assert elsewhere.allowed_protocols == ["lido"] and not elsewhere.profiles.exists()


def test_turning_the_warden_on_is_immediate_and_off_is_asked_for(golem: Golem, owner: Any, other: Any) -> None:
    with pytest.raises(ChangeUnchanged):
        _ask(golem, owner, "warden")
    turn_warden_on(golem=golem, actor=f"owner:{owner.pk}", reason="careful", now=clock.now())
    request = _ask(golem, owner, "warden")
    approve(request, other)
    assert _run(request, after=timedelta(hours=49)).state == "EXECUTED"
    assert not Warden.objects.get(golem=golem).is_on


def test_only_an_owner_asks_and_only_with_a_reason(golem: Golem, owner: Any) -> None:
    with pytest.raises(NotAnOwner):
        _ask(golem, factories.make_operator(), "phase", to="CAUTIOUS")
    with pytest.raises(ReasonNeeded):
        request_operation(
            golem=golem, name="phase", arguments={"to": "CAUTIOUS"}, owner=owner, reason=" ", now=clock.now()
        )


def test_an_equal_wish_of_owners_is_folded(golem: Golem, owner: Any, other: Any) -> None:
    first, second = _ask(golem, owner, "phase", to="CAUTIOUS"), _ask(golem, other, "phase", to="CAUTIOUS")
    assert first.pk == second.pk
    first.refresh_from_db()
    assert first.repeats == 2


def test_a_column_nobody_named_counts_as_loosening() -> None:
    before: dict[str, Any] = {"limits": {"brand_new": "5"}, "cage": {}, "allowlist": {}}
    (found,) = diff_policy(before, {**before, "limits": {"brand_new": "4"}})
    assert found.loosens and found.cooling_seconds == 172_800


def test_what_follows_a_contract_is_changed_there_and_nowhere_else(golem: Golem, owner: Any) -> None:
    factories.make_cage_mirror(golem=golem)
    cage = PolicyCage.objects.get(golem=golem)
    before = cage.max_position_bps
    for change in (before - 1, before + 1):
        with pytest.raises(CageIsMirrored) as refused:
            write_policy(
                golem=golem,
                actor="owner:1",
                reason="for the test",
                now=clock.now(),
                changes=[{"row": "cage", "name": "max_position_bps", "after": str(change)}],
            )
        assert refused.value.data["fields"] == ["max_position_bps"]
    cage.refresh_from_db()
    assert cage.max_position_bps == before
    assert not ChangeRequest.objects.filter(golem=golem).exists()

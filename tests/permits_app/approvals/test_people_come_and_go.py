"""Quorums while people come and go: no order of approving, leaving and coming back leaves a request stuck or wrong."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from archetypes_app.models import Golem, GolemMember
from archetypes_app.roles import Role
from permits_app.actions.request_change import request_operation
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.approval_errors import AlreadyDecided, NotAnOwner, OwnRequest
from permits_app.approval_pages.views import page_of
from permits_app.models import ChangeRequest, OwnerApproval
from permits_app.models.approval import ChangeState
from tests import factories
from tests.admin.members import log_in
from tests.passing_time import let_pass_until
from tests.permits_app.approvals.people import approve, carry_out, make_owner_with_device, reject, share
from tools_app.core import clock
from tools_app.core.errors import GolemError

pytestmark = pytest.mark.django_db
WALK = settings(max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))


def _make_golem(owner: Any, *others: Any) -> Golem:
    golem = share(factories.make_golem(owner=owner), *others)
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    factories.make_api_key(golem=golem)
    return golem


def _people(*names: str) -> list[Any]:
    return [make_owner_with_device(name=name) for name in names]


def _ask(golem: Golem, owner: Any) -> ChangeRequest:
    """A loosening without measure: CRITICAL, and once approved it waits for two days."""
    changes = [{"row": "limits", "name": "per_day_micro_usd", "after": "900000000000"}]
    request = request_operation(
        golem=golem, name="policy", arguments={"changes": changes}, owner=owner, reason="more", now=clock.now()
    )
    assert request.risk_tier == "CRITICAL"
    return request


def _set_active(person: Any, *, is_active: bool) -> None:
    """As whoever runs the server may do, past every form and signal."""
    type(person).objects.filter(pk=person.pk).update(is_active=is_active)
    person.is_active = is_active


def test_approvals_of_somebody_who_was_locked_and_is_back_are_given_anew_and_then_it_settles() -> None:
    ana, bo, cy, di = _people("ana", "bo", "cy", "di")
    request = _ask(_make_golem(ana, bo, cy, di), ana)
    assert approve(request, bo).state == ChangeState.OPEN
    _set_active(bo, is_active=False)
    assert approve(request, cy).state == ChangeState.OPEN
    _set_active(bo, is_active=True)
    assert approve(request, bo).state == ChangeState.APPROVED
    assert OwnerApproval.objects.filter(request=request, owner=bo, ended_at__isnull=False).count() == 1


def test_a_request_with_enough_approvals_that_count_is_settled_by_whoever_comes_next_and_by_the_sweep() -> None:
    ana, bo, cy, di = _people("ana", "bo", "cy", "di")
    golem = _make_golem(ana, bo, cy, di)
    for settles in ("decider", "sweep"):
        ChangeRequest.objects.update(state=ChangeState.CANCELLED)
        request = _ask(golem, ana)
        approve(request, bo)
        # What a crash between two transactions, or a version before this one, may leave behind.
        OwnerApproval.objects.create(
            request=request,
            owner=cy,
            verdict="APPROVE",
            digest=request.digest,
            has_second_factor=True,
            decided_at=clock.now(),
        )
        if settles == "decider":
            assert approve(request, bo).state == ChangeState.APPROVED
        else:
            time_out_changes(now=clock.now())
        request.refresh_from_db()
        assert request.state == ChangeState.APPROVED


def test_a_single_owner_no_longer_approves_their_own_request_once_a_co_owner_joined() -> None:
    ana, bo = _people("ana", "bo")
    golem = _make_golem(ana)
    request = _ask(golem, ana)
    assert request.is_single_owner
    share(golem, bo)
    with pytest.raises(OwnRequest):
        approve(request, ana)
    page = log_in(ana).get(page_of(request.pk)).content.decode()
    assert "Another owner has to approve it" in page
    assert approve(request, bo).state == ChangeState.APPROVED


def test_the_database_refuses_it_too() -> None:
    ana, bo = _people("ana", "bo")
    golem = _make_golem(ana)
    request = _ask(golem, ana)
    share(golem, bo)
    with pytest.raises(IntegrityError), transaction.atomic():
        OwnerApproval.objects.create(
            request=request,
            owner=ana,
            verdict="APPROVE",
            digest=request.digest,
            has_second_factor=True,
            decided_at=clock.now(),
        )


def test_an_approver_who_joins_ends_a_single_owners_self_approval_as_a_co_owner_does() -> None:
    ana, bo = _people("ana", "bo")
    golem = _make_golem(ana)
    request = _ask(golem, ana)
    GolemMember.objects.create(golem=golem, person=bo, role=Role.APPROVER, since=clock.now())
    with pytest.raises(OwnRequest):
        approve(request, ana)


def test_what_too_few_are_left_to_decide_is_over_and_says_to_ask_anew() -> None:
    ana, bo, cy = _people("ana", "bo", "cy")
    golem = _make_golem(ana, bo, cy)
    request = _ask(golem, ana)
    assert request.required_approvals == 2
    _set_active(cy, is_active=False)
    time_out_changes(now=clock.now())
    request.refresh_from_db()
    assert request.state == ChangeState.STALE
    assert "needs 2 approvals" in request.state_reason and "ask for it anew" in request.state_reason
    assert approve(_ask(golem, ana), bo).state == ChangeState.APPROVED


def test_more_people_who_decide_need_more_approvals() -> None:
    ana, bo, cy = _people("ana", "bo", "cy")
    golem = _make_golem(ana, bo)
    request = _ask(golem, ana)
    assert request.required_approvals == 1
    share(golem, cy)
    assert approve(request, bo).state == ChangeState.OPEN
    assert "2 owners" in log_in(ana).get(page_of(request.pk)).content.decode()
    assert approve(request, cy).state == ChangeState.APPROVED


def test_an_approval_that_ended_during_the_wait_carries_nothing_out() -> None:
    ana, bo, cy = _people("ana", "bo", "cy")
    golem = _make_golem(ana, bo, cy)
    request = _ask(golem, ana)
    approve(request, bo)
    assert approve(request, cy).state == ChangeState.APPROVED
    _set_active(bo, is_active=False)
    time_out_changes(now=clock.now())
    _set_active(bo, is_active=True)
    request = carry_out(request)
    assert (request.state, request.state_reason) == ("STALE", "who approved it decides for this golem no longer")


def test_a_decision_is_changed_by_nobody_but_for_its_end() -> None:
    ana, bo, cy = _people("ana", "bo", "cy")
    request = _ask(_make_golem(ana, bo, cy), ana)
    approve(request, bo)
    rows = OwnerApproval.objects.filter(request=request)
    for change in ({"verdict": "REJECT"}, {"owner": cy}, {"digest": "0x00"}, {"has_second_factor": False}):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**change)
    rows.update(ended_at=clock.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(ended_at=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.delete()


class PeopleMachine(RuleBasedStateMachine):
    """One golem, five people whose roles and accounts change, and its requests, beside a naive reference."""

    def __init__(self) -> None:
        super().__init__()
        self._atomic: Any = transaction.atomic()
        # As a test's own transaction is, which is none of the product's.
        setattr(self._atomic, "_from_testcase", True)  # noqa: B010  (no attribute that the stubs know)
        self._atomic.__enter__()
        self.people = _people(*(f"p{number}" for number in range(5)))
        self.owner = self.people[0]
        self.golem = _make_golem(self.owner)
        self.roles: dict[int, str] = {}
        self.request: ChangeRequest | None = None
        self.asker: Any = None
        self.required = 0
        self.approved: set[int] = set()
        self.expected = ChangeState.OPEN

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._atomic.__exit__(None, None, None)

    # The reference.
    def _deciders(self) -> set[int]:
        return {
            person.pk
            for person in self.people
            if person.is_active and (person is self.owner or self.roles.get(person.pk) in ("CO_OWNER", "APPROVER"))
        }

    def _barred(self) -> int | None:
        deciders = self._deciders()
        return self.asker.pk if self.asker.pk in deciders and len(deciders) > 1 else None

    def _needed(self) -> int:
        deciders = self._deciders()
        live = 1 if len(deciders) <= 1 else min(2, len(deciders - {self._barred()}))
        return max(self.required, live)

    def _lose(self) -> None:
        self.approved &= self._deciders()

    def _sweep(self) -> None:
        time_out_changes(now=clock.now())
        if self.request is None or self.expected not in (ChangeState.OPEN, ChangeState.APPROVED):
            return
        self._lose()
        if self.expected == ChangeState.APPROVED:
            return
        can = self._deciders() - {self._barred()} - self.approved
        if len(self.approved) >= self._needed():
            self.expected = ChangeState.APPROVED
        elif self._deciders() and len(self.approved) + len(can) < self._needed():
            self.expected = ChangeState.STALE

    # What happens.
    @initialize(roles=st.lists(st.sampled_from(["CO_OWNER", "APPROVER", "NONE"]), min_size=4, max_size=4))
    def people_have_roles(self, roles: list[str]) -> None:
        for person, role in zip(self.people[1:], roles, strict=True):
            self._give(person, role)

    def _give(self, person: Any, role: str) -> None:
        self.golem.co_owners.remove(person)
        GolemMember.objects.filter(golem=self.golem, person=person).delete()
        if role == "CO_OWNER":
            self.golem.co_owners.add(person)
        elif role != "NONE":
            GolemMember.objects.create(golem=self.golem, person=person, role=role, since=clock.now())
        self.roles[person.pk] = role

    @rule(
        number=st.integers(1, 4), role=st.sampled_from(["CO_OWNER", "APPROVER", "VIEWER", "NONE"]), swept=st.booleans()
    )
    def a_role_changes(self, number: int, role: str, swept: bool) -> None:
        self._give(self.people[number], role)
        if swept:
            self._sweep()

    @rule(number=st.integers(0, 4), swept=st.booleans())
    def an_account_is_locked_or_opened(self, number: int, swept: bool) -> None:
        person = self.people[number]
        _set_active(person, is_active=not person.is_active)
        if swept:
            self._sweep()

    @precondition(lambda self: self.request is None or self.expected not in (ChangeState.OPEN, ChangeState.APPROVED))
    @rule(number=st.integers(0, 4))
    def somebody_asks(self, number: int) -> None:
        person = self.people[number]
        if not person.is_active or (person is not self.owner and self.roles.get(person.pk) != "CO_OWNER"):
            return
        self.request, self.asker, self.approved = _ask(self.golem, person), person, set()
        self.expected, self.required = ChangeState.OPEN, 0
        self.required = self._needed()
        assert self.request.required_approvals == self.required

    @precondition(lambda self: self.request is not None)
    @rule(number=st.integers(0, 4))
    def somebody_approves(self, number: int) -> None:
        person = self.people[number]
        assert self.request is not None
        expected = self._refusal_for(person)
        counts = person.pk in self.approved and len(self.approved & self._deciders()) >= self._needed()
        try:
            approve(self.request, person)
        except GolemError as error:
            assert expected is not None and isinstance(error, expected), (error.code, expected)
            assert not (isinstance(error, AlreadyDecided) and counts)
            return
        assert expected is None
        self._lose()
        self.approved.add(person.pk)
        if len(self.approved) >= self._needed():
            self.expected = ChangeState.APPROVED

    def _refusal_for(self, person: Any) -> type[GolemError] | None:
        if person.pk not in self._deciders():
            return NotAnOwner
        if self._barred() == person.pk:
            return OwnRequest
        if self.expected != ChangeState.OPEN:
            return GolemError
        counting = self.approved & self._deciders()
        return AlreadyDecided if person.pk in counting and len(counting) < self._needed() else None

    @precondition(lambda self: self.request is not None and self.expected == ChangeState.OPEN)
    @rule(number=st.integers(0, 4))
    def somebody_rejects(self, number: int) -> None:
        person = self.people[number]
        if person.pk not in self._deciders() or person.pk in self.approved:
            return
        assert self.request is not None
        assert reject(self.request, person).state == ChangeState.REJECTED
        self.expected = ChangeState.REJECTED

    @precondition(lambda self: self.request is not None and self.expected == ChangeState.OPEN)
    @rule()
    def its_time_runs_out(self) -> None:
        assert self.request is not None
        time_out_changes(now=let_pass_until(self.request.deadline_at))
        self.expected = ChangeState.EXPIRED

    @rule()
    def the_sweep_looks(self) -> None:
        self._sweep()

    @invariant()
    def it_is_where_the_reference_says(self) -> None:
        if self.request is None:
            return
        self.request.refresh_from_db()
        assert self.request.state == self.expected
        if self.expected == ChangeState.APPROVED:
            assert self.request.executes_at is not None


def test_no_order_of_people_coming_and_going_leaves_a_quorum_stuck_or_wrong() -> None:
    run_machine(PeopleMachine, settings=WALK)

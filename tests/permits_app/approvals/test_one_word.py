"""How far a request is, in one word: the same in the inbox, on its page, in the list, and in its agent's answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.approval_errors import SignaturesIncomplete
from permits_app.models import ActionPermit, Announcement, ChangeRequest
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.permits.request_stages import Stage
from tests import factories
from tools_app.chain.node_errors import InsufficientFunds
from tools_app.core import clock

pytestmark = pytest.mark.django_db

WAITING: dict[Stage, dict[str, Any]] = {
    Stage.DECIDE: {"state": ChangeState.OPEN},
    Stage.COOLING: {"state": ChangeState.APPROVED, "wait": timedelta(hours=3)},
    Stage.SIGNATURES: {"state": ChangeState.APPROVED, "code": SignaturesIncomplete.code},
    Stage.FUNDS: {"state": ChangeState.APPROVED, "code": InsufficientFunds.code},
    Stage.BLOCKED: {"state": ChangeState.APPROVED, "code": "GOLEM_HALTED"},
    Stage.EXECUTING: {"state": ChangeState.APPROVED},
}
ENDED = {
    Stage.EXECUTED: ChangeState.EXECUTED,
    Stage.REJECTED: ChangeState.REJECTED,
    Stage.STALE: ChangeState.STALE,
    Stage.EXPIRED: ChangeState.EXPIRED,
    Stage.CANCELLED: ChangeState.CANCELLED,
    Stage.FAILED: ChangeState.FAILED,
}


def make_waiting(**wanted: Any) -> tuple[Client, ChangeRequest, str]:
    """An owner's browser, a request about a permit of their golem in that state, and its agent's token."""
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    golem = factories.make_golem(owner=owner)
    key = factories.make_api_key(golem=golem)
    permit = factories.make_permit(
        golem=golem, status=PermitStatus.AWAITING_APPROVAL, lives_seconds=90_000, api_key=key.key
    )
    request = factories.make_change_request(golem=golem)
    now = clock.now()
    state = wanted["state"]
    is_approved = state == ChangeState.APPROVED
    is_over = state not in (ChangeState.OPEN, ChangeState.APPROVED)
    code = wanted.get("code", "")
    # A copy of it: what was asked for is never rewritten.
    request.pk = uuid4()
    request.fold_hash = "0x" + request.pk.hex * 2
    request.kind, request.permit, request.state = "permit", permit, state
    request.executes_at = now + wanted.get("wait", timedelta(0)) if is_approved else None
    request.closed_at = now if is_over else None
    request.problem = {"code": code, "title": "It waits", "detail": "for something"} if code else {}
    request.save(force_insert=True)
    browser = Client()
    browser.force_login(owner)
    return browser, request, key.token


def read(browser: Client, name: str, *args: Any) -> str:
    return str(browser.get(reverse(f"admin:permits_app_changerequest_{name}", args=args)).content.decode())


@pytest.mark.parametrize("stage", WAITING)
def test_what_waits_is_called_the_same_by_its_owners_and_its_agent(stage: Stage) -> None:
    browser, request, token = make_waiting(**WAITING[stage])
    headers = {"Authorization": f"Bearer {token}"}
    answer = browser.get(f"/api/v1/pi/permits/{request.permit_id}", headers=headers).json()
    assert answer["waits"]["state"] == str(stage)
    if answer["status"] == PermitStatus.AWAITING_APPROVAL:
        assert "owners decide on" in answer["waits"]["rule"], "a borrower asked why, and was told only that it waits"
    for name, args in (("inbox", ()), ("change", (request.pk,)), ("changelist", ())):
        assert str(stage) in read(browser, name, *args), name
    assert str(stage) in browser.get("/admin/").content.decode()


@pytest.mark.parametrize("stage", ENDED)
def test_what_is_over_is_called_the_same_on_its_page_and_in_the_list(stage: Stage) -> None:
    browser, request, _ = make_waiting(state=ENDED[stage])
    for name, args in (("change", (request.pk,)), ("changelist", ())):
        assert str(stage) in read(browser, name, *args), name


def test_an_announced_action_is_called_that_by_its_owners_and_its_agent() -> None:
    browser, request, token = make_waiting(state=ChangeState.CANCELLED)
    permit, now = request.permit, clock.now()
    assert permit is not None
    ActionPermit.objects.filter(pk=permit.pk).update(status=PermitStatus.ANNOUNCED)
    Announcement.objects.create(
        permit=permit, announced_at=now, executes_at=now + timedelta(hours=1), expires_at=now + timedelta(hours=2)
    )
    headers = {"Authorization": f"Bearer {token}"}
    answer = browser.get(f"/api/v1/pi/permits/{permit.pk}", headers=headers).json()
    assert answer["waits"]["state"] == str(Stage.ANNOUNCED)
    assert str(Stage.ANNOUNCED) in read(browser, "inbox").lower()


def test_every_state_has_its_word_here() -> None:
    # What is proposed on chain is told through a contract: see the browser's tests of an owner's facts. What became of
    # an approved action is told by its permit: see `test_outcomes_of_approvals.py`.
    of_permits = {Stage.NOT_CARRIED_OUT, Stage.REVERTED, Stage.UNSEEN, Stage.SENT}
    assert {*WAITING, *ENDED, *of_permits, Stage.ANNOUNCED, Stage.PROPOSED} == set(Stage)

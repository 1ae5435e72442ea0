"""What one golem has waiting, however much and however long, keeps no other golem's from its turn."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import pytest

from archetypes_app.models import Golem
from golem_project.owner_pages.first_page import build_board
from permits_app.actions.announce_warden_actions import list_due_announcements
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.sweep_changes import list_due_changes
from permits_app.actions.sweep_permits import list_unfinished, list_unremembered
from permits_app.execution import chain_rollback, reconcile
from permits_app.models import ActionPermit, Announcement, ChangeRequest, OutboundTransaction, SignedPromise
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import TransactionState
from tests import factories
from tests.factories.approvals import make_change_request
from tests.factories.permits import make_outcome, make_permit, make_transaction
from tests.factories.requests import make_signed_promise
from tests.passing_time import let_pass_until
from tests.permits_app.approvals.people import approve, make_owner_with_device
from tools_app.core import clock

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def busy() -> Golem:
    """A golem with much to do."""
    return factories.make_golem(owner=make_owner_with_device(name="busy"), name="Busy")


@pytest.fixture
def other() -> Golem:
    """Another owner's."""
    return factories.make_golem(owner=make_owner_with_device(name="other"), name="Other")


def announce(golem: Golem, *, due: datetime) -> ActionPermit:
    permit = make_permit(golem=golem, status=PermitStatus.ANNOUNCED)
    Announcement.objects.create(
        permit=permit, announced_at=due - HOUR, executes_at=due, expires_at=due + HOUR, announced_by="key:a"
    )
    return permit


def test_announced_actions_that_cannot_be_carried_out_now_delay_no_other_golems(busy: Golem, other: Golem) -> None:
    now = clock.now()
    for _ in range(50):
        announce(busy, due=now - timedelta(minutes=2))
    late = announce(other, due=now - timedelta(minutes=1))
    found = list_due_announcements(now=now)
    assert late.pk in found and len(found) == 50


def test_approved_requests_that_wait_for_signatures_delay_no_other_golems(busy: Golem, other: Golem) -> None:
    first, late = (approve(make_change_request(golem=golem), golem.owner) for golem in (busy, other))
    assert (first.state, late.state) == (ChangeState.APPROVED, ChangeState.APPROVED)
    ChangeRequest.objects.bulk_create(ChangeRequest(**_copy(first, number)) for number in range(99))
    found = list_due_changes(now=let_pass_until(late.executes_at) + HOUR)
    assert late.pk in found and len(found) == 100


def _copy(row: ChangeRequest, number: int) -> dict[str, object]:
    columns = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return {**columns, "id": None, "fold_hash": f"0x{number:064x}"} | {"id": type(row)().pk}


def test_commits_that_do_not_get_on_delay_no_other_golems(busy: Golem, other: Golem) -> None:
    now, long_ago = clock.now(), clock.now() - HOUR
    for _ in range(50):
        make_permit(golem=busy, status=PermitStatus.COMMITTING, committing_at=long_ago, is_local=True)
    late = make_permit(golem=other, status=PermitStatus.UNKNOWN, committing_at=long_ago, is_local=True)
    ActionPermit.objects.update(updated_at=long_ago)
    found = list_unfinished(now=now)
    assert late.pk in found and len(found) == 50


def test_outcomes_that_are_not_remembered_delay_no_other_golems(busy: Golem, other: Golem) -> None:
    now = clock.now()
    for number, golem in enumerate([*[busy] * 50, other]):
        permit = make_permit(golem=golem, status=PermitStatus.COMMITTED)
        outcome = make_outcome(permit=permit)
        type(outcome).objects.filter(pk=outcome.pk).update(created_at=now - HOUR + timedelta(seconds=number))
    found = list_unremembered(now=now)
    assert permit.pk in found and len(found) == 50


def test_signed_promises_of_one_golem_delay_no_other_golems(busy: Golem, other: Golem) -> None:
    now = clock.now()
    for number, golem in enumerate((busy, busy, other)):
        make_signed_promise(permit=make_permit(golem=golem, now=now + timedelta(seconds=number)))
    assert check_signed_promises(now=now + HOUR, limit=2)["looked"] == 2
    seen = SignedPromise.objects.filter(next_check_at__gt=now + HOUR).values_list("golem", flat=True)
    assert set(seen) == {busy.pk, other.pk}


def test_an_owner_sees_their_blocked_account_behind_those_of_others(busy: Golem, other: Golem) -> None:
    now = clock.now()
    for number in range(51):
        golem, account = (other, "0x" + "ff" * 20) if number == 50 else (busy, f"0x{number:040x}")
        make_transaction(permit=make_permit(golem=golem, status=PermitStatus.COMMITTING, signer=account))
    OutboundTransaction.objects.update(state=TransactionState.BROADCAST, created_at=now - HOUR, block_number=None)
    assert [line.what for line in build_board(other.owner, now=now).stuck if line.what.startswith("Other")]


@pytest.mark.parametrize("round_of", ["given up", "stuck"])
def test_what_one_account_sent_keeps_no_other_from_being_looked_for(
    busy: Golem, other: Golem, round_of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, accounts = clock.now(), {busy.pk: "0x" + "11" * 20, other.pk: "0x" + "ff" * 20}
    for nonce, golem in enumerate((busy, busy, busy, other)):
        permit = make_permit(golem=golem, status=PermitStatus.COMMITTED, signer=accounts[golem.pk])
        make_transaction(permit=permit, nonce=nonce)
    state = TransactionState.DROPPED if round_of == "given up" else TransactionState.BROADCAST
    OutboundTransaction.objects.update(state=state, updated_at=now, broadcast_at=now - HOUR, block_number=None)
    looked: list[str] = []

    def look(row: OutboundTransaction, now: datetime) -> bool:
        looked.append(row.sender)
        return False

    monkeypatch.setattr(chain_rollback, "_look_for_late", look)
    monkeypatch.setattr(reconcile, "_replace", lambda row, now: Counter({look(row, now): 0}))
    for module in (chain_rollback, reconcile):
        monkeypatch.setattr(module, "_BATCH", 2)
    chain_id = permit.chain_id
    if round_of == "given up":
        chain_rollback.find_given_up(chain_id, now)
    else:
        reconcile._replace_stuck(chain_id, now)
    assert len(looked) == 2 and accounts[other.pk] in looked

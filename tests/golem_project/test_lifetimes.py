"""What lives or is held for a time, met by a clock that moves: at the last moment it is there, and then it is not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from golem_project.a2a import notifications
from golem_project.stream import deliveries
from permits_app.actions import check_pending_requests, check_received_rights, check_signed_promises, search_positions
from permits_app.approval_errors import PasskeyRefused
from permits_app.approvals.passkey_challenges import make_challenge, use_up_challenge
from permits_app.models import ChainWatch, PendingRequest, ReceivedRight, SignedPromise
from permits_app.permits.permit_lifetime import is_from_the_future
from tests import factories
from tools_app import runner
from tools_app.core import clock
from tools_app.models.tool_checkpoint import keep_checkpoint, load_checkpoint
from tools_app.portfolio.position_search import begin_search

pytestmark = pytest.mark.django_db
A_MOMENT = timedelta(microseconds=1)
NOW = clock.now()
Run = Callable[[datetime], Any]
Held = tuple[Any, str, Run]
"""A module, what of it does the work once the row is taken, and the sweep that takes it."""


def hold_delivery(golem: Golem) -> Held:
    delivery = factories.make_webhook_delivery(golem=golem)
    type(delivery).objects.filter(pk=delivery.pk).update(event_id=factories.make_event(golem=golem).pk)
    return deliveries, "make_body", lambda now: deliveries.try_delivery(delivery_id=delivery.pk, now=now)


def hold_notification(golem: Golem) -> Held:
    row = factories.make_a2a_notification(golem=golem, url="https://example.org/")
    return notifications, "_may_hear", lambda now: notifications.notify(notification_id=row.pk, now=now)


def hold_promise(golem: Golem) -> Held:
    factories.make_signed_promise(permit=factories.make_permit(golem=golem))
    return check_signed_promises, "_follow", lambda now: check_signed_promises.check_signed_promises(now=now)


def hold_right(golem: Golem) -> Held:
    factories.make_received_right(golem=golem)
    return check_received_rights, "_follow", lambda now: check_received_rights.check_received_rights(now=now)


def hold_request(golem: Golem) -> Held:
    factories.make_pending_request(permit=factories.make_permit(golem=golem))
    return check_pending_requests, "_look_at", lambda now: check_pending_requests.check_pending_requests(now=now)


def hold_search(golem: Golem) -> Held:
    begin_search(chain_id=31337, account="0x" + "a1" * 20, now=NOW)
    return runner, "open_reader", lambda now: search_positions.search_positions(now=now)


FOLLOWED: dict[Any, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
    hold_promise: (SignedPromise, ("OPEN",), {"ended_at": NOW}),
    hold_request: (
        PendingRequest,
        ("REQUESTED", "READY", "CLAIMING", "STUCK"),
        {"ended_at": NOW},
    ),
    hold_right: (ReceivedRight, ("STANDING", "WITHDRAWN"), {"state_at": NOW, "next_look_at": None}),
}
"""Of each, the model, the states in which a worker has something to do with it, and what an end is written with. Of
deliveries and notices the database allows no time of a next try once they are over.
"""


@pytest.mark.parametrize(
    ("hold", "seconds"),
    [
        (hold_delivery, 60),
        (hold_notification, 60),
        (hold_promise, 60),
        (hold_request, 60),
        (hold_right, 60),
        (hold_search, 120),
    ],
)
def test_what_a_worker_took_before_it_died_is_taken_again_when_its_lease_is_over_and_not_before(
    hold: Callable[[Golem], Held], seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    module, work, sweep = hold(factories.make_golem(owner=owner))
    begun: list[str] = []

    def die(*_: Any, **__: Any) -> None:
        begun.append(work)
        raise SystemExit

    monkeypatch.setattr(module, work, die)
    start = clock.now() + timedelta(seconds=1)
    with pytest.raises(SystemExit):
        sweep(start)
    sweep(start)
    sweep(start + timedelta(seconds=seconds) - A_MOMENT)
    assert len(begun) == 1, "another worker took what this one still holds"
    with pytest.raises(SystemExit):
        sweep(start + timedelta(seconds=seconds))
    assert len(begun) == 2


@pytest.mark.parametrize("hold", [hold_promise, hold_request, hold_right])
def test_what_is_over_is_taken_by_no_worker(hold: Callable[[Golem], Held], monkeypatch: pytest.MonkeyPatch) -> None:
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    module, work, sweep = hold(factories.make_golem(owner=owner))
    begun: list[str] = []
    monkeypatch.setattr(module, work, lambda *_, **__: begun.append(work))
    model, followed, columns = FOLLOWED[hold]
    ends = [state for state, _ in model._meta.get_field("state").choices if state not in followed]
    assert len(ends) >= 2
    for state in ends:
        with transaction.atomic():
            # Only what somebody else carries out ends otherwise than by a claim.
            kind = {"is_order": state != "DONE"} if model is PendingRequest else {}
            model.objects.update(state=state, **columns, **kind)
            sweep(clock.now() + timedelta(seconds=1))
    assert begun == []


@pytest.mark.parametrize("hold", [hold_promise, hold_request, hold_right, hold_search])
def test_nothing_is_asked_of_a_chain_whose_node_is_silent(
    hold: Callable[[Golem], Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, work, sweep = hold(factories.make_golem(owner=factories.make_owner()))
    begun: list[str] = []
    monkeypatch.setattr(module, work, lambda *_, **__: begun.append(work))
    now = clock.now() + timedelta(seconds=1)
    ChainWatch.objects.create(
        chain_id=31337, looked_at=now, failing_since=now - timedelta(hours=1), error_code="RPC_TIMEOUT"
    )
    sweep(now)
    assert begun == []
    ChainWatch.objects.update(failing_since=None, error_code="")
    with suppress(Exception):
        # What a worker that does nothing answers is nobody's here.
        sweep(now)
    assert begun == [work]


def test_a_passkey_has_three_minutes_to_answer() -> None:
    person = factories.make_owner()
    life = timedelta(minutes=3)
    for late, is_good in ((life - A_MOMENT, True), (life, False)):
        challenge = make_challenge(user=person, session_key="s", action="sign in", now=NOW)
        answer: dict[str, Any] = {"challenge": challenge, "session_key": "s", "action": "sign in", "now": NOW + late}
        if is_good:
            use_up_challenge(user=person, **answer)
        else:
            with pytest.raises(PasskeyRefused, match="later than 180 seconds"):
                use_up_challenge(user=person, **answer)


def test_how_far_a_read_came_is_kept_for_ten_minutes() -> None:
    of: dict[str, Any] = {"golem_id": uuid4(), "tool_name": "a_read", "params_hash": "0x"}
    keep_checkpoint(**of, data={"block": 7}, now=NOW)
    assert load_checkpoint(**of, now=NOW + timedelta(minutes=10)) == {"block": 7}
    assert load_checkpoint(**of, now=NOW + timedelta(minutes=10) + A_MOMENT) == {}


@pytest.mark.parametrize(("late", "is_over"), [(timedelta(0), False), (A_MOMENT, True)])
def test_no_permit_lives_longer_than_an_hour_and_the_two_seconds_that_clocks_differ(
    late: timedelta, is_over: bool
) -> None:
    ends = NOW + timedelta(hours=1, seconds=2) + late
    assert is_from_the_future(created_at=NOW, expires_at=ends, now=NOW) is is_over

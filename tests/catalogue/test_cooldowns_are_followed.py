"""A cooldown is a request like any other: followed from its receipt to its end, also the second one of an account."""

from __future__ import annotations

from datetime import timedelta

import pytest

from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.models import PendingRequest
from permits_app.models.pending_request import RequestState
from tests.catalogue.door import Door
from tools_app.core import clock
from tools_app.core.models import OutboxEvent


def follow() -> PendingRequest:
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    check_pending_requests(now=clock.now())
    return PendingRequest.objects.get()


@pytest.mark.protocols("ethena")
def test_a_cooldown_is_followed_to_its_end_and_so_is_the_next_one(door: Door) -> None:
    for number in (1, 2):
        door.do("ethena_stake_usde")
        asked = door.commit(door.preview("ethena_unstake_usde"))
        assert asked["status"] == "COMMITTED"
        row = follow()
        assert (row.state, str(row.permit_id)) == (RequestState.REQUESTED, asked["permit_id"])
        assert row.expected_at is not None and row.claim is None
        door.stage.pass_days(8)
        assert follow().state == RequestState.READY
        assert OutboxEvent.objects.filter(type="request:ready").count() == number
        assert door.commit(door.preview("ethena_claim_unstaked"))["status"] == "COMMITTED"
        assert follow().state == RequestState.DONE
        assert OutboxEvent.objects.filter(type="request:done").count() == number
        door.stage.done.clear()

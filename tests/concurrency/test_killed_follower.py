"""A follower that dies before each of its doors, and workers with it: the next ones end what was sent, once."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.test import override_settings

from permits_app.execution.chain_follower import Follower
from permits_app.models import OutboundTransaction, OutcomeRecord
from tests.concurrency.doors import kill_at_each_door
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass, let_pass_until
from tests.permits_app.execution.chain_tricks import mining_paused
from tools_app.core import clock

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
LONG_GONE = timedelta(seconds=31)
"""Longer than the leases of followers and of workers."""


def test_a_follower_that_dies_before_any_of_its_doors_loses_and_doubles_nothing(shared_golem: LiveGolem) -> None:
    def work(permit_id: UUID) -> None:
        shared_golem.work(str(permit_id))

    def start(number: int) -> UUID:
        """Sent, seen by nobody, and mined meanwhile; the follower of the round before is long gone."""
        let_pass(LONG_GONE, chain=shared_golem.world)
        permit_id = shared_golem.preview(amount=str(80_000_000 + number))["permit_id"]
        with mining_paused(shared_golem.world), override_settings(GOLEM_FIRST_LOOK_SECONDS=0):
            shared_golem.start(permit_id)
            shared_golem.work(permit_id)
        assert shared_golem.permit(permit_id).status == "COMMITTING"
        return UUID(permit_id)

    def follow(permit_id: UUID) -> None:
        Follower(CHAIN_ID, hand=work).look(now=clock.now())

    met: list[str | None] = []
    for permit_id, door in kill_at_each_door(start, follow):
        where = f"door {len(met)}: {door}"
        look = Follower(CHAIN_ID, hand=lambda permit_id: None).look(now=let_pass(LONG_GONE))
        assert look.is_ours, where
        row = shared_golem.permit(str(permit_id))
        if row.status != "COMMITTED":
            assert look.handed == (permit_id,), where
            let_pass_until(row.lease_expires_at or clock.now())
            shared_golem.work(str(permit_id))
        assert shared_golem.permit(str(permit_id)).status == "COMMITTED", where
        assert OutcomeRecord.objects.filter(permit_id=permit_id).count() == 1, where
        met.append(door)
    assert {"eth_blockNumber", "eth_getTransactionReceipt", "COMMIT"} <= set(met)
    nonces = list(OutboundTransaction.objects.order_by("nonce").values_list("nonce", flat=True))
    assert nonces == list(range(shared_golem.mined_nonce())), "nothing was sent twice and nothing is missing"

"""A commit whose worker dies before each of its doors, one after the other until it meets none: done once each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from django.conf import settings

from memory_app.models import Insight
from permits_app.actions import commit
from permits_app.models import CapabilityGrant, OutboundTransaction, OutcomeRecord, SpendEntry
from permits_app.models.spending import SpendState
from tests.concurrency.doors import kill_at_each_door
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass
from tools_app.core.audit_checkpoints import verify_stored_chain

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


def kill_worker_at_each_door(golem: LiveGolem, start: Callable[[int], UUID]) -> Iterator[tuple[UUID, str | None]]:
    """Permits that lost their worker at a door each and were worked on again since, with the door; None ends it."""
    for permit_id, door in kill_at_each_door(start, lambda permit_id: golem.work(str(permit_id))):
        # Time passes: the dead worker's lease runs out and the sweep hands the permit to another one.
        for _ in range(2):
            let_pass(timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS))
            golem.work(str(permit_id))
        yield permit_id, door


def test_a_commit_whose_worker_dies_before_any_of_its_doors_is_sent_once(shared_golem: LiveGolem) -> None:
    before: dict[str, int] = {}
    promised: dict[str, int] = {}

    def start(number: int) -> UUID:
        permit = shared_golem.preview(amount=str(60_000_000 + number))
        deltas = {delta["symbol"]: int(delta["raw"]) for delta in permit["expected_outcome"]["balance_deltas"]}
        promised.update(deltas, sent=len(permit["calls"]))
        before.update({symbol: shared_golem.balance(symbol) for symbol in deltas}, sent=shared_golem.mined_nonce())
        shared_golem.start(permit["permit_id"])
        return UUID(permit["permit_id"])

    met: list[str | None] = []
    for permit_id, door in kill_worker_at_each_door(shared_golem, start):
        where = f"door {len(met)}: {door}"
        row = shared_golem.permit(str(permit_id))
        assert row.status == "COMMITTED", (where, row.status, row.status_reason, row.problem)
        moved = {symbol: shared_golem.balance(symbol) - before[symbol] for symbol in promised if symbol != "sent"}
        assert {**moved, "sent": shared_golem.mined_nonce() - before["sent"]} == promised, where
        sent = OutboundTransaction.objects.filter(permit_id=permit_id).order_by("nonce").values_list("nonce", flat=True)
        assert list(sent) == list(range(before["sent"], before["sent"] + promised["sent"])), where
        assert OutcomeRecord.objects.get(permit_id=permit_id).is_verified, where
        assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.SETTLED, where
        assert CapabilityGrant.objects.get(permit_id=permit_id).consumed_at is not None, where
        met.append(door)
    # The doors nobody may leave out: sending, waiting, and the transactions around them.
    assert {"eth_sendRawTransaction", "eth_getTransactionReceipt", "eth_getTransactionCount"} <= {
        word for door in met if door for word in door.split()
    }
    assert met.count("COMMIT") >= 4
    assert verify_stored_chain(shared_golem.golem.pk).broken is None


def test_a_local_write_whose_worker_dies_before_any_of_its_doors_happens_once(shared_golem: LiveGolem) -> None:
    def start(number: int) -> UUID:
        wish = {"venue": None, "token_in": None, "token_out": None, "amount": None}
        permit = shared_golem.preview(action_type="manage_insight", operation="ADD", content=f"note {number}", **wish)
        shared_golem.start(permit["permit_id"])
        return UUID(permit["permit_id"])

    met: list[str | None] = []
    for permit_id, door in kill_worker_at_each_door(shared_golem, start):
        where = f"door {len(met)}: {door}"
        row = shared_golem.permit(str(permit_id))
        assert row.status == "COMMITTED", (where, row.status, row.status_reason, row.problem)
        written = Insight.objects.get(text=f"note {len(met)}")
        assert (row.result["data"]["insight_id"], written.upvotes) == (str(written.pk), 0), where
        assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.RELEASED, where
        met.append(door)
    assert {"PREPARE mint_* AS", "COMMIT"} <= set(met)
    assert verify_stored_chain(shared_golem.golem.pk).broken is None


def test_a_fault_that_nobody_foresaw_reaches_who_runs_the_worker_and_leaves_the_permit_to_the_next(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with monkeypatch.context() as patch:
        patch.setattr(commit, "_work", fail)
        with pytest.raises(ZeroDivisionError):
            live_golem.work(permit_id)
    answer = live_golem.work(permit_id)
    assert answer is not None and answer["status"] == "COMMITTED"

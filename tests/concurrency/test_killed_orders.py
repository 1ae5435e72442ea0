"""Orders of UniswapX whose process dies before any of its doors: signed once, filled once, ended as the chain says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from permits_app.actions.halt import carry_out_halt, list_unfinished_halts
from permits_app.actions.sweep_permits import list_unfinished
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, SignedPromise, SpendEntry
from tests.concurrency.doors import is_change, kill_at_each_door
from tests.passing_time import let_pass
from tests.tools_app.protocols.uniswap_x.test_orders import (
    AUCTIONS,
    DAI,
    Maker,
    entry_of,
    filler,  # noqa: F401  (a fixture)
    maker,  # noqa: F401  (a fixture)
)
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry
from tools_app.protocols.uniswap_x.addresses import NAME
from tools_app.toolkit.typed_data import TypedData

pytestmark = [
    pytest.mark.protocols("uniswap_x"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]


def wish(number: int) -> dict[str, Any]:
    """An order that is not the one before, the kinds in turn; a thirtieth of what was approved."""
    kind = ("limit", *AUCTIONS)[number % 4]
    limit = {"limit_amount_out": str(DAI // 300)} if kind == "limit" else {}
    return {"kind": kind, "amount": str(10 * DAI - number), **limit}


def preview(of: Maker, number: int) -> UUID:
    status, permit = of.preview(**wish(number))
    assert status == 200, permit
    return UUID(permit["permit_id"])


def go_on(of: Maker) -> None:
    """Leases of the dead run out, and the clock's tasks find what is left."""
    for _ in range(3):
        let_pass(timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS))
        for permit_id in list_unfinished(now=clock.now() + timedelta(minutes=1)):
            of.live.work(str(permit_id))
        for golem_id, epoch in list_unfinished_halts():
            carry_out_halt(golem_id=golem_id, epoch=epoch, now=clock.now())


def count(row: SignedPromise, event: str) -> int:
    return AuditEntry.objects.filter(golem_id=row.golem_id, event=event).count()


def test_an_order_whose_worker_dies_before_any_of_its_doors_is_signed_once_and_filled_once(
    maker: Maker,  # noqa: F811
) -> None:
    maker.approve()
    sent = OutboundTransaction.objects.count()

    def start(number: int) -> UUID:
        permit_id = preview(maker, number)
        maker.live.start(str(permit_id))
        return permit_id

    met: list[str | None] = []
    for permit_id, door in kill_at_each_door(start, lambda each: maker.live.work(str(each)), is_door=is_change):
        where = f"door {len(met)}: {door}"
        met.append(door)
        go_on(maker)
        permit = ActionPermit.objects.get(pk=permit_id)
        assert permit.status == "COMMITTED", (where, permit.status, permit.status_reason, permit.problem)
        row = SignedPromise.objects.get(permit_id=permit_id)
        maker.follow(row)
        assert (row.state, entry_of(row).state) == ("OPEN", "RESERVED"), where
        assert row.handed_in_at is not None, where
        told = [each for each in maker.filler.received if each["signature"] == row.signature]
        assert told and all(each == told[0] for each in told), where
        assert maker.fill(row), where
        assert not maker.fill(row), f"{where}: an order is filled once"
        assert maker.follow(row).state == "FILLED", where
        assert SpendEntry.objects.filter(permit_id=permit_id).count() == 1, where
        assert OutcomeRecord.objects.filter(permit_id=permit_id).count() <= 1, where
    assert OutboundTransaction.objects.count() == sent, "nothing is sent for an order"
    assert SignedPromise.objects.count() == len(met)
    assert "COMMIT" in met and any(door not in (None, "COMMIT") for door in met)
    assert verify_stored_chain(maker.live.golem.pk).broken is None


def test_an_order_whose_web_process_dies_before_the_worker_has_it_is_signed_once_when_it_is_asked_for_again(
    maker: Maker,  # noqa: F811
) -> None:
    maker.approve()
    met: list[str | None] = []
    starting = kill_at_each_door(
        lambda number: preview(maker, number), lambda each: maker.live.start(str(each)), is_door=is_change
    )
    for permit_id, door in starting:
        where = f"door {len(met)}: {door}"
        met.append(door)
        try:
            maker.live.start(str(permit_id))
        except GolemError as refused:
            assert "COMMITTING" in refused.detail or refused.code.startswith("PERMIT_"), (where, refused.detail)
        go_on(maker)
        row = SignedPromise.objects.get(permit_id=permit_id)
        assert (row.state, row.handed_in_at is not None) == ("OPEN", True), where
        assert maker.fill(row), where
    assert len(met) >= 2 and met[-1] is None


def test_a_fill_whose_follower_dies_before_any_of_its_doors_is_told_and_settled_once(
    maker: Maker,  # noqa: F811
) -> None:
    maker.approve()

    def start(number: int) -> SignedPromise:
        row = maker.sign(**wish(number))
        assert maker.fill(row)
        return row

    met: list[str | None] = []
    for row, door in kill_at_each_door(start, lambda each: maker.follow(each), is_door=is_change):
        where = f"door {len(met)}: {door}"
        met.append(door)
        let_pass(timedelta(minutes=2))
        row = maker.follow(row)
        assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED"), where
        assert count(row, "PromiseFilled") == len(met), where
    assert "COMMIT" in met
    assert verify_stored_chain(maker.live.golem.pk).broken is None


@pytest.mark.parametrize("is_filled_first", [False, True])
def test_a_cancel_whose_worker_dies_before_any_of_its_doors_ends_the_order_as_the_chain_says(
    maker: Maker,  # noqa: F811
    is_filled_first: bool,
) -> None:
    maker.approve()
    rows: dict[UUID, SignedPromise] = {}

    def start(number: int) -> UUID:
        row = maker.sign(**wish(number))
        nonce = str(TypedData.of_json(row.typed_data).message["nonce"])
        status, permit = maker.ask("preview_action", venue=NAME, action_type="cancel_order", nonce=nonce)
        assert status == 200, permit
        permit_id = UUID(permit["permit_id"])
        rows[permit_id] = row
        maker.live.start(str(permit_id))
        if is_filled_first:
            assert maker.fill(row)
        return permit_id

    met: list[str | None] = []
    for permit_id, door in kill_at_each_door(start, lambda each: maker.live.work(str(each)), is_door=is_change):
        where = f"door {len(met)}: {door}"
        met.append(door)
        go_on(maker)
        permit, row = ActionPermit.objects.get(pk=permit_id), rows[permit_id]
        assert permit.status not in ("COMMITTING", "UNKNOWN"), (where, permit.status, permit.problem)
        assert OutboundTransaction.objects.filter(permit_id=permit_id, is_live=True).count() <= 1, where
        if not is_filled_first:
            assert permit.status == "COMMITTED", (where, permit.status, permit.problem)
            assert not maker.fill(row), where
        row = maker.follow(row)
        ends = ("FILLED", "SETTLED") if is_filled_first else ("CANCELLED", "RELEASED")
        assert (row.state, entry_of(row).state) == ends, where
    assert "COMMIT" in met and met[-1] is None

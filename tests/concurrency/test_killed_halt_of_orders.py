"""A halt that cancels orders of UniswapX and dies before any of its sendings: no order can be filled afterwards."""

from __future__ import annotations

import pytest

from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.halts.resume import resume_golem
from permits_app.models import SignedPromise
from tests.concurrency.doors import kill_at_each_door
from tests.concurrency.test_killed_exits import is_sending
from tests.concurrency.test_killed_orders import go_on, wish
from tests.tools_app.protocols.uniswap_x.test_orders import (
    GIVE,
    Maker,
    entry_of,
    filler,  # noqa: F401  (a fixture)
    maker,  # noqa: F401  (a fixture)
)
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain

pytestmark = [
    pytest.mark.protocols("uniswap_x"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]


def test_a_halt_whose_worker_dies_before_any_of_its_doors_leaves_no_order_that_can_be_filled(
    maker: Maker,  # noqa: F811
) -> None:
    maker.approve()
    golem = maker.live.golem

    def start(number: int) -> SignedPromise:
        golem.refresh_from_db()
        if golem.is_halted:
            resume_golem(golem=golem, reason="on with it", actor="system:test", now=clock.now(), stays_live=True)
            maker.approve(GIVE + number)
        row = maker.sign(**wish(number))
        golem.refresh_from_db()
        halt_golem(golem=golem, reason=f"halt {number}", actor="system:test", now=clock.now())
        golem.refresh_from_db()
        return row

    def carry_out(_: SignedPromise) -> None:
        carry_out_halt(golem_id=golem.pk, epoch=golem.halt_epoch, now=clock.now())

    met: list[str | None] = []
    for row, door in kill_at_each_door(start, carry_out, is_door=is_sending):
        where = f"door {len(met)}: {door}"
        met.append(door)
        go_on(maker)
        assert not maker.fill(row), where
        row = maker.follow(row)
        assert (row.state, entry_of(row).state) == ("CANCELLED", "RELEASED"), where
    assert len(met) >= 2 and met[-1] is None
    assert verify_stored_chain(golem.pk).broken is None

"""A halt takes what a golem saved at Sky (simulated contract) out in one go: no share stays, nothing is waited for."""

from __future__ import annotations

import pytest

from permits_app.actions.halt import halt_golem
from permits_app.models import HaltRecord, HaltSetting, OutcomeRecord
from tests.catalogue.door import Door
from tests.permits_app.test_staked_halt import carry_out
from tools_app.core import clock
from tools_app.protocols.erc4626.addresses import LOCAL_CHAIN_ID, find_savings

SAVED = 10_000 * 10**18
DAYS = 30 * 86_400


@pytest.mark.protocols("erc4626")
def test_a_halt_takes_out_what_a_golem_saved_with_what_it_earned(door: Door) -> None:
    """Its agent saved ten thousand dollars a month ago, over REST and as its owners approved."""
    assert door.commit(door.preview("savings_deposit"))["status"] == "COMMITTED"
    live, savings = door.stage.live, find_savings(LOCAL_CHAIN_ID)
    assert savings is not None
    world, address = live.world, live.golem.address
    world.rpc.call("evm_increaseTime", DAYS)
    world.rpc.call("evm_mine")
    before = live.balance("DAI")
    HaltSetting.objects.create(golem=live.golem, unwind_on_halt=True)
    halt_golem(golem=live.golem, reason="drained", actor="owner:1", now=clock.now())
    steps = carry_out(live)
    assert HaltRecord.objects.get().completed_at is not None, steps
    assert world.rpc.balance_of(savings.address, address) == 0
    # A month at four and a half percent a year.
    earned = live.balance("DAI") - before - SAVED
    assert SAVED * 36 // 10_000 <= earned <= SAVED * 37 // 10_000
    assert not OutcomeRecord.objects.filter(is_verified=False).exists()

"""Whatever a golem holds, at whichever protocol of the shelf: an owner who chose it has the base asset after a halt.
What is not is named with the reason: it waits in a queue of its protocol, is the chain's coin, or is its owner's.
"""

from __future__ import annotations

import pytest

from permits_app.actions.choose_halt import choose_halt
from permits_app.actions.halt import EXCHANGED_STEP, carry_out_halt, halt_golem
from permits_app.halts.halt_choices import HaltChoice
from permits_app.models import HaltRecord
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import open_stage
from tests.catalogue.test_simulated_is_said import opening
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.protocol import SHELF

LEFT = [each.name for each in SHELF.on(31_337) if each.positions is not None and each.exits is not None]
WITHOUT_A_CASE = frozenset(LEFT) - {filed.protocol for filed in load_cases().values()}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=[pytest.mark.protocols(each), pytest.mark.one_of_many])
        for each in LEFT
        if each not in WITHOUT_A_CASE
    ],
)
def test_what_is_held_there_ends_in_the_base_asset_or_is_named_with_the_reason(
    live_golem: LiveGolem, name: str
) -> None:
    stage = open_stage(live_golem, load_cases())
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=(opening(name),)))
    assert any(each.ref.protocol == name for each in stage.positions())
    now = clock.now()
    choose_halt(golem=live_golem.golem, choice=HaltChoice.LEAVE_FOR_BASE, most_loss_bps=1_000, actor="owner:1", now=now)
    halt_golem(golem=live_golem.golem, reason="its owner leaves", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
    steps = {step["step"]: step for step in HaltRecord.objects.get().steps}
    told = {line["position"]: line for line in steps["positions unwound"]["positions"]}
    for each in stage.positions():
        line = told.get(str(each.ref))
        assert line is not None and (line.get("reason") or line.get("until") or line.get("failed")), (each.ref, line)
        assert not any(leg.raw < 0 for leg in each.legs) or line["outcome"] == "its owner is needed", "a debt is left"
    assert "failed" not in steps[EXCHANGED_STEP], steps[EXCHANGED_STEP]
    sold = {line["token_address"]: line for line in steps[EXCHANGED_STEP]["exchanges"]}
    held = stage.holdings()
    base = live_golem.world.tokens["USDC"].address
    for worth in held.tokens:
        if worth.raw and not worth.token.is_native and worth.token.address != base and (worth.micro_usd or 0) > 10**6:
            assert sold[worth.token.address]["outcome"] != "COMMITTED", "sold, and still there"
            assert sold[worth.token.address].get("reason"), worth.token.symbol


def test_every_protocol_that_can_be_left_has_a_case() -> None:
    assert not WITHOUT_A_CASE

"""An outcome is judged by what belongs to it: another permit of the account in the same blocks does not blur it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from permits_app.execution import outcome
from permits_app.models import OutboundTransaction, OutcomeRecord
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tools_app.toolkit.views import NATIVE


def test_a_permit_mined_beside_one_that_is_not_written_down_yet_is_judged_by_its_receipts(
    live_golem: LiveGolem,
) -> None:
    with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        other = live_golem.preview(amount="300000000")["permit_id"]
        mine_it = live_golem.preview()["permit_id"]
        for permit_id in (other, mine_it):
            live_golem.start(permit_id)
            live_golem.work(permit_id)
        mine(live_golem.world)
        live_golem.work(mine_it)
    assert {row.block_number for row in OutboundTransaction.objects.filter(permit_id=other)} == {None}
    outcome = OutcomeRecord.objects.get(permit_id=mine_it)
    assert outcome.is_verified and outcome.findings == []
    assert outcome.ground_truth_source == "receipt"
    assert all(delta["symbol"] in ("USDC", "WETH") for delta in outcome.actual["balance_deltas"])
    live_golem.work(other)
    assert OutcomeRecord.objects.get(permit_id=other).is_verified


def test_a_newest_block_is_read_until_two_answers_agree(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    # anvil, mining while it answers, was seen to answer for its newest block with the state of the next one.
    true_answer, readings = outcome.read_balances, 0

    def answer_once_with_the_next_block(**given: Any) -> dict[str, int]:
        nonlocal readings
        readings += 1
        held = true_answer(**given)
        return {**held, NATIVE: held[NATIVE] - 4_611_500_322_805} if readings == 2 else held

    monkeypatch.setattr(outcome, "read_balances", answer_once_with_the_next_block)
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    record = OutcomeRecord.objects.get(permit_id=permit_id)
    assert readings == 4
    assert (record.divergence_bps, record.is_verified) == (0, True)

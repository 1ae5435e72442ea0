"""What an action earned: the account's own tokens and gas at the feeds, and nothing where a position is behind it."""

from __future__ import annotations

from uuid import UUID

from permits_app.models import OutcomeRecord
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem

WETH_DOLLARS = 3_000


def _outcome(live: LiveGolem, permit_id: str) -> OutcomeRecord:
    return OutcomeRecord.objects.get(permit_id=UUID(permit_id))


def test_a_swap_costs_its_fee_its_impact_and_its_gas(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    outcome = _outcome(live_golem, permit_id)
    moved = {each["symbol"]: int(each["raw"]) for each in outcome.actual["balance_deltas"]}
    gas = int(outcome.fee_wei) * WETH_DOLLARS // 10**12
    expected = moved["USDC"] + moved["WETH"] * WETH_DOLLARS // 10**12 - gas
    assert outcome.pnl_micro_usd is not None and abs(outcome.pnl_micro_usd - expected) <= 2
    assert -5_000_000 < outcome.pnl_micro_usd < 0


def test_a_position_that_is_opened_is_neither_gain_nor_loss(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem)
    tick(live_golem.golem)
    assert OutcomeRecord.objects.get(permit__golem=live_golem.golem).pnl_micro_usd is None


def test_what_is_told_of_a_golem_has_its_profit(live_golem: LiveGolem) -> None:
    for amount in ("500000000", "300000000"):
        live_golem.commit(live_golem.preview(amount=amount)["permit_id"])
    told = OutcomeRecord.objects.filter(permit__golem=live_golem.golem, pnl_micro_usd__lt=0)
    assert told.count() == 2

"""What an action earned: the account's own tokens and gas at the feeds, and nothing where a position is behind it."""

from __future__ import annotations

from uuid import UUID

from permits_app.admin.outcome_table import build_outcome_table
from permits_app.models import OutcomeRecord
from tests.live_golem import LiveGolem
from tools_app.models import KnownPosition

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


RANGE = {
    "action_type": "add_liquidity",
    "token0": "WETH",
    "token1": "USDC",
    "fee": 500,
    "price_lower": "1",
    "price_upper": "100000",
    "amount1": "500000000",
    "token_in": None,
    "token_out": None,
    "amount": None,
}


def test_a_position_that_is_opened_is_neither_gain_nor_loss_but_for_its_gas(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview(**RANGE)["permit_id"]
    live_golem.commit(permit_id)
    outcome = _outcome(live_golem, permit_id)
    parts = {name: int(value) for name, value in outcome.pnl_parts.items()}
    assert parts["gas"] < 0 and parts["fees_and_interest"] == 0
    # What differs is what the pool's price is from the feeds', far from the thousand dollars that went in.
    assert outcome.pnl_micro_usd is not None and abs(outcome.pnl_micro_usd - parts["gas"]) < 5_000_000
    assert outcome.pnl_micro_usd == sum(parts.values())
    assert "gas -$" in build_outcome_table(outcome.permit, outcome).pnl


def test_where_a_position_is_is_remembered_when_its_outcome_is_seen(live_golem: LiveGolem) -> None:
    live_golem.commit(live_golem.preview(**RANGE)["permit_id"])
    [known] = KnownPosition.objects.filter(account=live_golem.golem.address)
    assert known.ref.startswith("uniswap/nft/31337/") and known.gone_at is None and known.is_own


def test_what_is_told_of_a_golem_has_its_profit(live_golem: LiveGolem) -> None:
    for amount in ("500000000", "300000000"):
        live_golem.commit(live_golem.preview(amount=amount)["permit_id"])
    told = OutcomeRecord.objects.filter(permit__golem=live_golem.golem, pnl_micro_usd__lt=0)
    assert told.count() == 2

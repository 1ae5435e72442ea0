"""An outcome is judged by what belongs to it: another permit of the account in the same blocks does not blur it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from permits_app.execution import balance_evidence, outcome
from permits_app.execution.actual_cost import value_spent
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, VenueTrust
from permits_app.permits.plan_store import decode_plan
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE, ReceiptView


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


def work_in_one_block(live: LiveGolem, *swaps: dict[str, str]) -> list[ActionPermit]:
    """Permits of one golem whose transactions all lie in one block, judged one after the other."""
    with mining_paused(live.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        permits = [live.preview(**swap)["permit_id"] for swap in swaps]
        for permit_id in permits:
            live.start(permit_id)
            live.work(permit_id)
        mine(live.world)
    for permit_id in permits:
        live.work(permit_id)
    return [live.permit(permit_id) for permit_id in permits]


def test_coins_that_several_permits_spent_in_one_block_are_told_apart_by_what_each_promised(
    live_golem: LiveGolem,
) -> None:
    """No event tells of the chain's coin, but each permit promises to the last wei what it spends of it."""
    swaps = [{"token_in": "ETH", "token_out": "USDC", "amount": str(amount)} for amount in (10**17, 2 * 10**17)]
    for row, swap in zip(work_in_one_block(live_golem, *swaps), swaps, strict=True):
        told = OutcomeRecord.objects.get(permit=row)
        assert (row.status, told.findings, told.is_verified) == ("COMMITTED", [], True)
        [coin] = [each for each in told.actual["balance_deltas"] if each["token"] == NATIVE]
        assert coin["raw"] == "-" + swap["amount"]
        assert told.pnl_micro_usd is not None
        [spent] = [part for part in row.spend_entry.breakdown if part["role"] == "spend"]
        assert row.spend_entry.settled_micro_usd >= int(spent["micro_usd"])
    assert not VenueTrust.objects.exists()


def test_coins_that_left_beside_a_permit_that_promises_no_exact_amount_count_as_all_that_was_reserved(
    live_golem: LiveGolem,
) -> None:
    row, other = work_in_one_block(
        live_golem,
        {"token_in": "ETH", "token_out": "USDC", "amount": str(10**17)},
        {"token_in": "USDC", "token_out": "ETH", "amount": str(100 * 10**6)},
    )
    told = OutcomeRecord.objects.get(permit=row)
    assert row.status == other.status == "COMMITTED"
    assert told.findings == ["ETH: the balances do not tell how much of it moved"]
    assert (told.is_verified, told.divergence_bps) == (False, 0)
    [spent] = [part for part in row.spend_entry.breakdown if part["role"] == "spend"]
    settled = row.spend_entry.settled_micro_usd or 0
    assert int(spent["micro_usd"]) < settled <= row.spend_entry.reserved_micro_usd
    assert told.pnl_micro_usd is None
    assert not VenueTrust.objects.exists()


def test_coins_that_stayed_because_the_call_reverted_do_not_count(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview(token_in="ETH", token_out="USDC", amount=str(10**17))["permit_id"]
    permit = live_golem.permit(permit_id)
    [call] = permit.calls
    view = ReceiptView(
        tx_hash="0x",
        succeeded=False,
        block_number=1,
        block_hash="0x",
        gas_used=21_000,
        effective_gas_price=1,
        l1_fee=0,
        logs=(),
    )
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=[view], evidence=None)
    [gas] = [part for part in permit.spend_entry.breakdown if part["role"] == "gas"]
    assert value_spent(permit=permit, judgement=judged, chain_native_decimals=18) <= int(gas["micro_usd"])
    assert judged.findings == ("call 1 reverted",)


def test_a_newest_block_is_read_until_two_answers_agree(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    # anvil, mining while it answers, was seen to answer for its newest block with the state of the next one.
    true_answer, readings = balance_evidence.read_balances, 0

    def answer_once_with_the_next_block(**given: Any) -> dict[balance_evidence.Holding, int]:
        nonlocal readings
        readings += 1
        held = true_answer(**given)
        coin = (live_golem.golem.address, NATIVE)
        return {**held, coin: held[coin] - 4_611_500_322_805} if readings == 2 else held

    monkeypatch.setattr(balance_evidence, "read_balances", answer_once_with_the_next_block)
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    record = OutcomeRecord.objects.get(permit_id=permit_id)
    assert readings == 4
    assert (record.divergence_bps, record.is_verified) == (0, True)


def test_a_newest_block_whose_transactions_are_counted_with_the_next_ones_is_looked_at_again(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_count, counted = balance_evidence._count_used, 0

    def count_once_with_the_next_block(chain: ChainReader, permit: ActionPermit) -> int:
        nonlocal counted
        counted += 1
        return true_count(chain, permit) + (counted == 1)

    monkeypatch.setattr(balance_evidence, "_count_used", count_once_with_the_next_block)
    # Another permit is under way, so that the chain's count is asked for.
    with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        permits = [live_golem.preview(amount=amount)["permit_id"] for amount in ("300000000", "400000000")]
        for permit_id in permits:
            live_golem.start(permit_id)
            live_golem.work(permit_id)
        mine(live_golem.world)
        live_golem.work(permits[0])
    assert counted > 2
    assert OutcomeRecord.objects.get(permit_id=permits[0]).is_verified


def test_what_a_newest_block_does_not_verify_is_read_again(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two readings in a row were seen to agree on the next block's state, which lacks the fee of its transaction.
    true_answer, readings = balance_evidence.read_balances, 0

    def answer_twice_with_the_next_block(**given: Any) -> dict[balance_evidence.Holding, int]:
        nonlocal readings
        readings += 1
        held = true_answer(**given)
        coin = (live_golem.golem.address, NATIVE)
        return {**held, coin: held[coin] - 4_612_303_226_943} if readings in (2, 3) else held

    monkeypatch.setattr(balance_evidence, "read_balances", answer_twice_with_the_next_block)
    permit_id = live_golem.preview(token_in="ETH", token_out="USDC", amount=str(10**17))["permit_id"]
    live_golem.commit(permit_id)
    record = OutcomeRecord.objects.get(permit_id=permit_id)
    assert (record.findings, record.is_verified) == ([], True)
    assert readings == 6

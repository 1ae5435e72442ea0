"""An outcome is what balances show: one false answer ends no permit, and nothing that is met keeps one from its end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db.models import F

from permits_app.execution import finish_permit, outcome
from permits_app.execution.actual_cost import value_spent
from permits_app.execution.balance_evidence import Evidence
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, SpendEntry
from permits_app.permits.plan_store import decode_plan
from tests.live_golem import LiveGolem
from tests.permits_app.execution.lying_node import Lie, node_that_lies
from tests.permits_app.execution.receipts import make_receipt
from tools_app.chain.abi import checksum, event_topic
from tools_app.standards import erc20
from tools_app.toolkit.views import NATIVE, LogEntry

SOLD = 500_000_000
STRANGER = checksum("0x" + "7b" * 20)


def reverted(receipt: dict[str, Any]) -> dict[str, Any]:
    return {**receipt, "status": "0x0", "logs": []}


def without_logs(receipt: dict[str, Any]) -> dict[str, Any]:
    return {**receipt, "logs": []}


def record_of(permit_id: str) -> OutcomeRecord:
    return OutcomeRecord.objects.get(permit_id=UUID(permit_id))


def settled(permit_id: str) -> int:
    return SpendEntry.objects.get(permit_id=UUID(permit_id)).settled_micro_usd or 0


@pytest.mark.parametrize("lie", [reverted, without_logs])
def test_a_receipt_that_the_balances_contradict_ends_nothing_and_is_read_again(live_golem: LiveGolem, lie: Lie) -> None:
    permit_id = live_golem.preview()["permit_id"]
    with node_that_lies(live_golem.world, lie, times=10**6):
        answer = live_golem.commit(permit_id)
        assert answer["status"] == "UNKNOWN"
        assert "it is looked at again until they agree" in live_golem.permit(permit_id).status_reason
        assert not OutcomeRecord.objects.exists()
        assert SpendEntry.objects.get(permit_id=UUID(permit_id)).state == "RESERVED"
    live_golem.work(permit_id)
    permit = live_golem.permit(permit_id)
    assert (permit.status, permit.doubted_at) == ("COMMITTED", None)
    assert record_of(permit_id).is_verified, record_of(permit_id).findings
    assert set(permit.transactions.values_list("state", flat=True)) == {"MINED"}


def test_a_lie_that_lasts_ends_with_what_the_balances_show(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    with node_that_lies(live_golem.world, reverted, times=10**6):
        live_golem.commit(permit_id)
        live_golem.work(permit_id)
        assert live_golem.permit(permit_id).status == "UNKNOWN"
        patience = timedelta(seconds=settings.GOLEM_DOUBT_SECONDS)
        ActionPermit.objects.filter(pk=permit_id).update(doubted_at=F("doubted_at") - patience)
        live_golem.work(permit_id)
    record = record_of(permit_id)
    assert live_golem.permit(permit_id).status == "REVERTED"
    moved = {row["symbol"]: int(row["raw"]) for row in record.actual["balance_deltas"]}
    assert moved["USDC"] == -SOLD and moved["WETH"] > 0
    assert not record.is_verified
    assert any("not all of its calls were carried out" in finding for finding in record.findings)
    assert settled(permit_id) >= SOLD


@pytest.mark.parametrize(
    ("where", "what"), [(outcome, "judge_outcome"), (finish_permit, "_add_lost"), (finish_permit, "_block_time")]
)
def test_an_outcome_that_cannot_be_judged_still_ends_its_permit_truly(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, where: Any, what: str
) -> None:
    true, calls = getattr(where, what), []

    def fail_once(*given: Any, **named: Any) -> Any:
        calls.append(what)
        if len(calls) == 1:
            raise ValueError("Exceeds the limit (4300 digits) for integer string conversion")
        return true(*given, **named)

    monkeypatch.setattr(where, what, fail_once)
    permit_id = live_golem.preview()["permit_id"]
    assert live_golem.commit(permit_id)["status"] == "COMMITTED"
    record = record_of(permit_id)
    assert (record.is_verified, record.actual["balance_deltas"]) == (False, [])
    assert record.findings == ["the outcome could not be judged: it says only what the receipts say"]
    assert SOLD <= settled(permit_id) <= SpendEntry.objects.get(permit_id=UUID(permit_id)).reserved_micro_usd


@pytest.mark.parametrize("what", ["encode_result", "measure_profit"])
def test_what_cannot_be_told_of_an_outcome_does_not_keep_it_from_its_end(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def fail(*given: Any, **named: Any) -> Any:
        raise OverflowError(what)

    monkeypatch.setattr(finish_permit, what, fail)
    permit_id = live_golem.preview()["permit_id"]
    answer = live_golem.commit(permit_id)
    record = record_of(permit_id)
    assert answer["status"] == "COMMITTED"
    assert {row["symbol"] for row in record.actual["balance_deltas"]} == {"USDC", "WETH"}
    if what == "encode_result":
        assert record.findings == ["what uniswap_execute_swap did could not be read from the receipts"]
        assert answer["result"]["data"] is None
    else:
        assert record.is_verified and record.pnl_micro_usd is None


def swap_receipts(live: LiveGolem, *more: LogEntry) -> tuple[ActionPermit, list[Any], Evidence]:
    """A permit for the swap, receipts that tell of it, and balances that show it."""
    permit = live.permit(live.preview()["permit_id"])
    account, tokens = permit.account, live.world.tokens
    bought = next(int(row["raw"]) for row in permit.expected_outcome["balance_deltas"] if row["symbol"] == "WETH")
    logs = [
        transfer(tokens["USDC"].address, account, STRANGER, SOLD),
        transfer(tokens["WETH"].address, STRANGER, account, bought),
    ]
    receipts = [make_receipt(*logs, *more), *(make_receipt() for _ in permit.calls[1:])]
    fee = sum(receipt.fee for receipt in receipts)
    usdc, weth = (account, tokens["USDC"].address), (account, tokens["WETH"].address)
    before = {usdc: SOLD, weth: 0, (account, NATIVE): fee}
    return permit, receipts, Evidence(before, {usdc: 0, weth: bought, (account, NATIVE): 0})


def transfer(token: str, sender: str, recipient: str, amount: int) -> LogEntry:
    topics = (
        event_topic(erc20.TRANSFER_EVENT),
        *("0x" + who[2:].lower().rjust(64, "0") for who in (sender, recipient)),
    )
    return LogEntry(token, topics, f"0x{amount:064x}", 1, "0x", 0)


def test_an_inflow_that_no_balance_shows_is_left_out_and_told(live_golem: LiveGolem) -> None:
    gift = transfer(STRANGER, STRANGER, live_golem.golem.address, 2**255)
    permit, receipts, evidence = swap_receipts(live_golem, gift)
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=evidence)
    assert STRANGER not in judged.deltas and not judged.is_verified
    assert judged.findings == (f"{STRANGER}: transfer events say {2**255}, and no balance shows it; it is left out",)


def test_a_token_that_the_plan_does_not_speak_of_is_a_finding_where_balances_show_it(live_golem: LiveGolem) -> None:
    lost = live_golem.world.tokens["DAI"].address
    permit, receipts, evidence = swap_receipts(live_golem, transfer(lost, live_golem.golem.address, STRANGER, 700))
    held = (permit.account, lost)
    evidence = Evidence({**evidence.before, held: 700}, {**evidence.after, held: 0})
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=evidence)
    assert judged.deltas[lost] == -700 and not judged.is_verified
    assert judged.findings == (f"{lost}: -700 moved, the simulation showed 0",)


def test_what_left_beyond_the_reservation_is_counted_in_full(live_golem: LiveGolem) -> None:
    permit, receipts, evidence = swap_receipts(live_golem)
    usdc = (permit.account, live_golem.world.tokens["USDC"].address)
    evidence = Evidence({**evidence.before, usdc: 30 * SOLD}, evidence.after)
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=evidence)
    spent = value_spent(permit=permit, judgement=judged, chain_native_decimals=18)
    assert spent >= 30 * SOLD > permit.spend_entry.reserved_micro_usd
    assert any("the permit allowed" in finding for finding in judged.findings)


def test_a_swap_that_took_less_than_it_was_to_is_a_finding(live_golem: LiveGolem) -> None:
    permit, receipts, evidence = swap_receipts(live_golem)
    usdc = (permit.account, live_golem.world.tokens["USDC"].address)
    evidence = Evidence(evidence.before, {**evidence.after, usdc: 1})
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=evidence)
    assert f"USDC: {SOLD - 1} left, at least {SOLD} was to be spent" in judged.findings


def test_a_balance_that_could_not_be_read_is_named_with_what_the_events_say(live_golem: LiveGolem) -> None:
    permit, receipts, evidence = swap_receipts(live_golem)
    usdc = live_golem.world.tokens["USDC"].address
    unread = Evidence(evidence.before, {held: raw for held, raw in evidence.after.items() if held[1] != usdc})
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=unread)
    assert f"USDC: its balance could not be read; transfer events say {-SOLD}" in judged.findings
    assert judged.deltas[usdc] == -SOLD and usdc in judged.unshown


def test_nothing_is_verified_without_balances(live_golem: LiveGolem) -> None:
    permit, receipts, evidence = swap_receipts(live_golem)
    plan = decode_plan(permit)
    assert outcome.judge_outcome(permit=permit, plan=plan, receipts=receipts, evidence=evidence).is_verified
    judged = outcome.judge_outcome(permit=permit, plan=plan, receipts=receipts, evidence=None)
    assert judged.findings == ("no balances tell what this permit moved: it is judged by its receipts alone",)
    assert not judged.is_verified and set(judged.unshown) >= {live_golem.world.tokens["USDC"].address}


def test_what_nobody_could_see_takes_no_trust_from_a_venue(live_golem: LiveGolem) -> None:
    """A position's own token was foreseen, and without balances no event of it is believed."""
    permit, receipts, _ = swap_receipts(live_golem)
    foreseen = [*permit.expected_outcome["balance_deltas"], {"token": STRANGER, "raw": "1"}]
    permit.expected_outcome = {**permit.expected_outcome, "balance_deltas": foreseen}
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=None)
    assert (judged.is_verified, judged.divergence_bps) == (False, 0)


def test_a_gift_in_a_block_shared_with_another_permit_is_not_this_ones(live_golem: LiveGolem) -> None:
    permit, receipts, evidence = swap_receipts(live_golem)
    usdc = (permit.account, live_golem.world.tokens["USDC"].address)
    other = make_receipt(transfer(usdc[1], permit.account, STRANGER, 7))
    shared = Evidence({**evidence.before, usdc: SOLD + 7}, evidence.after, (other,))
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=shared)
    assert judged.is_verified and judged.deltas[usdc[1]] == -SOLD
    hidden = Evidence({**evidence.before, usdc: SOLD + 8}, evidence.after, (other,))
    judged = outcome.judge_outcome(permit=permit, plan=decode_plan(permit), receipts=receipts, evidence=hidden)
    assert not judged.is_verified


def test_rows_of_a_doubted_receipt_keep_nothing_of_it(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    with node_that_lies(live_golem.world, reverted, times=10**6):
        live_golem.commit(permit_id)
    rows = OutboundTransaction.objects.filter(permit_id=permit_id)
    assert {(row.state, row.block_number, row.gas_used, str(row.receipt)) for row in rows} == {
        ("UNKNOWN", None, None, "{}")
    }

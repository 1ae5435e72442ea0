"""What a plan that failed half-way left approved is told, counted until it is gone, and taken back by a halt."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from permits_app.actions.halt import carry_out_halt, halt_golem, list_allowances
from permits_app.actions.query import describe_limits
from permits_app.execution import allowances, replacement
from permits_app.limits import ledger
from permits_app.models import (
    ActionPermit,
    HaltRecord,
    OutboundTransaction,
    OutcomeRecord,
    SpendEntry,
    StandingAllowance,
)
from permits_app.permits.plan_store import decode_plan
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tests.permits_app.execution.test_action_profit import RANGE
from tests.permits_app.execution.test_halt import allowance_on_chain
from tools_app.chain.node_errors import RpcUnavailable
from tools_app.core import clock
from tools_app.core.errors import GolemError

SOLD = 500_000_000
"""Base units of USDC that the demo swap approves and sells."""


def approve_and_lose_the_swap(golem: LiveGolem) -> tuple[ActionPermit, str]:
    """A permit under way whose approval is mined and whose swap the node has forgotten; with the spender."""
    permit = golem.permit(golem.preview()["permit_id"])
    [given] = permit.bounds["allowances"]
    with mining_paused(golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
        golem.start(str(permit.pk))
        golem.work(str(permit.pk))
        swap = OutboundTransaction.objects.get(permit=permit, call_index=1)
        golem.world.rpc.call("anvil_dropTransaction", swap.tx_hash)
    assert allowance_on_chain(golem, "USDC", given["spender"]) == SOLD
    return permit, given["spender"]


def cancel_the_swap(golem: LiveGolem, permit: ActionPermit) -> None:
    swap = OutboundTransaction.objects.get(permit=permit, call_index=1)
    market = replacement.read_fees(chain_id=31337, now=clock.now())
    assert replacement.fill_instead(row=swap, market=market, actor="system:test", now=clock.now()) is not None
    mine(golem.world)
    golem.work(str(permit.pk))


def spent_after(golem: LiveGolem, age: timedelta) -> int:
    """Micro-USD of the rolling day that ends `age` from now."""
    usage = ledger.read_usage(golem_id=golem.golem.pk, api_key_id=None, heartbeat_tick=0, now=clock.now() + age)
    return usage.day_micro_usd


def test_what_a_failed_sequence_left_approved_is_told_and_counts_until_it_is_used(live_golem: LiveGolem) -> None:
    permit, spender = approve_and_lose_the_swap(live_golem)
    cancel_the_swap(live_golem, permit)
    permit.refresh_from_db()
    assert permit.status == "REVERTED"
    assert f"{spender} may still take 500 USDC" in permit.status_reason
    [told] = permit.result["actual_outcome"]["allowances_left"]
    assert (told["spender"], told["raw"], told["units"]) == (spender, str(SOLD), "500 USDC")
    [row] = StandingAllowance.objects.all()
    assert (row.permit, row.spender, row.left) == (permit, spender, str(SOLD))
    worth = next(int(part["micro_usd"]) for part in permit.spend_entry.breakdown if part["role"] == "spend")
    assert row.worth_micro_usd == worth
    [listed] = describe_limits(live_golem.golem, None, clock.now())["standing_allowances"]
    assert (listed["spender"], listed["units"], listed["worth_usd"]) == (spender, "500 USDC", "$500.00")
    entry = SpendEntry.objects.get(permit=permit)
    assert worth < (entry.settled_micro_usd or 0) <= entry.reserved_micro_usd
    assert spent_after(live_golem, timedelta(0)) == entry.settled_micro_usd
    # After a day the entry counts no more, and what still stands does.
    assert spent_after(live_golem, timedelta(hours=25)) == worth
    assert ledger.sum_days(golem_ids=[live_golem.golem.pk], now=clock.now() + timedelta(hours=25)) == {
        live_golem.golem.pk: worth
    }
    # The next swap sells what is approved already, and with that nothing stands.
    again = live_golem.preview()
    assert len(again["calls"]) == 1
    live_golem.commit(again["permit_id"])
    row.refresh_from_db()
    assert (row.left, row.worth_micro_usd) == ("0", 0)
    assert spent_after(live_golem, timedelta(hours=25)) == 0
    assert list_allowances(live_golem.golem) == []


def test_a_half_used_allowance_counts_for_what_is_left_of_it(live_golem: LiveGolem) -> None:
    permit, _ = approve_and_lose_the_swap(live_golem)
    cancel_the_swap(live_golem, permit)
    live_golem.commit(live_golem.preview(amount="125000000")["permit_id"])
    [row] = StandingAllowance.objects.all()
    assert row.left == str(SOLD - 125_000_000)
    worth = next(int(part["micro_usd"]) for part in permit.spend_entry.breakdown if part["role"] == "spend")
    assert row.worth_micro_usd == -(-worth * 375 // 500)
    assert (row.permit, spent_after(live_golem, timedelta(hours=25))) == (permit, row.worth_micro_usd)


def test_a_swap_that_did_as_it_promised_asks_for_no_allowance(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> dict[allowances.Pair, int]:
        raise AssertionError("asked")

    monkeypatch.setattr(allowances, "_ask", never)
    live_golem.commit(live_golem.preview()["permit_id"])
    assert not StandingAllowance.objects.exists()


def test_a_failed_plan_whose_allowances_nobody_tells_left_all_it_approved(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(chain: Any, account: str, pairs: Any) -> dict[allowances.Pair, int]:
        return true_ask(None, account, pairs)

    true_ask = allowances._ask
    permit, spender = approve_and_lose_the_swap(live_golem)
    monkeypatch.setattr(allowances, "_ask", away)
    cancel_the_swap(live_golem, permit)
    [row] = StandingAllowance.objects.all()
    assert (row.spender, row.left) == (spender, str(SOLD))


def test_an_older_reading_does_not_take_the_place_of_a_newer_one(live_golem: LiveGolem) -> None:
    permit, spender = approve_and_lose_the_swap(live_golem)
    cancel_the_swap(live_golem, permit)
    [row] = StandingAllowance.objects.all()
    for block, left, kept in (
        (row.block_number - 1, 0, SOLD),
        (row.block_number, 7, 7),
        (row.block_number + 1, 2**256 - 1, 2**256 - 1),
    ):
        over = allowances.LeftOver({(row.token, spender): left}, {}, block)
        allowances.note_left(permit=permit, over=over, counted_at=clock.now())
        row.refresh_from_db()
        assert row.left == str(kept)
    assert row.worth_micro_usd == 2**63 - 1


def test_a_halt_takes_back_what_a_permit_under_way_approved_and_ends_once_its_outcome_is_seen(
    live_golem: LiveGolem,
) -> None:
    permit, spender = approve_and_lose_the_swap(live_golem)
    halt_golem(golem=live_golem.golem, reason="drained", actor="owner:1", now=clock.now())
    [listed] = list_allowances(live_golem.golem)
    assert (listed["spender"], listed["left"]) == (spender, str(SOLD))
    steps = carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
    told = {step["step"]: step for step in steps}
    assert [row["was"] for row in told["standing allowances revoked"]["allowances"]] == [str(SOLD)]
    assert told["permits under way: their outcome is waited for"]["permit_ids"] == [str(permit.pk)]
    assert allowance_on_chain(live_golem, "USDC", spender) == 0
    assert HaltRecord.objects.get().completed_at is None
    live_golem.work(str(permit.pk))
    assert live_golem.permit(str(permit.pk)).status == "REVERTED"
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
    assert HaltRecord.objects.get().completed_at is not None
    [row] = StandingAllowance.objects.all()
    assert (row.left, row.worth_micro_usd) == ("0", 0)


def test_what_is_mined_after_the_halt_looked_is_taken_back_before_the_halt_ends(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    [given] = permit.bounds["allowances"]
    with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
        live_golem.start(str(permit.pk))
        live_golem.work(str(permit.pk))
        swap = OutboundTransaction.objects.get(permit=permit, call_index=1)
        live_golem.world.rpc.call("anvil_dropTransaction", swap.tx_hash)
        halt_golem(golem=live_golem.golem, reason="drained", actor="owner:1", now=clock.now())
        approval = OutboundTransaction.objects.get(permit=permit, call_index=0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(replacement, "read_fees", lambda **_: (_ for _ in ()).throw(RpcUnavailable("away")))
            carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
        assert approval.is_live and HaltRecord.objects.get().completed_at is None
    assert allowance_on_chain(live_golem, "USDC", given["spender"]) == SOLD
    for _ in range(3):
        carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
        mine(live_golem.world)
        live_golem.work(str(permit.pk))
    assert allowance_on_chain(live_golem, "USDC", given["spender"]) == 0
    assert HaltRecord.objects.get().completed_at is not None


def test_an_unread_price_counts_an_allowance_as_all_that_was_reserved(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    reserved = SpendEntry.objects.get(permit=permit).reserved_micro_usd
    assert allowances._value(permit, "0x" + "11" * 20, 1) == reserved
    assert issubclass(RpcUnavailable, GolemError)


def test_what_another_permit_gave_and_is_about_to_use_is_no_finding_of_this_one(live_golem: LiveGolem) -> None:
    """Both open a position at one manager and may leave a rest; the second is half-way when the first is judged."""
    wished = ({**RANGE, "amount1": amount} for amount in ("500000000", "400000000"))
    first, second = (live_golem.preview(**each)["permit_id"] for each in wished)
    with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
        for permit_id in (first, second):
            live_golem.start(permit_id)
            live_golem.work(permit_id)
        last = OutboundTransaction.objects.filter(permit=second).order_by("call_index").last()
        assert last is not None and last.call_index
        live_golem.world.rpc.call("anvil_dropTransaction", last.tx_hash)
    live_golem.work(first)
    told = OutcomeRecord.objects.get(permit=first)
    assert (told.findings, told.is_verified) == ([], True)
    assert [row for row in StandingAllowance.objects.all() if int(row.left)], "it counts until it is used"
    live_golem.world.rpc.call("eth_sendRawTransaction", last.raw)
    mine(live_golem.world)
    live_golem.work(second)
    told = OutcomeRecord.objects.get(permit=second)
    assert (told.findings, told.is_verified) == ([], True)
    promised = {each.spender: each.left for each in decode_plan(told.permit).allowances}
    assert all(int(row.left) <= promised[row.spender] for row in StandingAllowance.objects.all())

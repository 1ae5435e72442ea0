"""What trading costs in a day has a budget: many small losses are refused like one large one. Getting out never is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from permits_app.errors import TradingCostsExceeded
from permits_app.hook_rejection import Reject
from permits_app.limits import ledger
from permits_app.limits.trading_costs import (
    CostsUsed,
    TradeCost,
    fill_costs,
    judge_costs,
    read_cost_columns,
    read_costs,
)
from permits_app.limits.valuation import PlanValue
from permits_app.models import ActionPermit, OutcomeRecord, SpendEntry, SpendingLimits
from tests.evm.world import World
from tests.factories.permits import make_permit
from tests.live_golem import LiveGolem, make_live_golem
from tools_app.core import clock

USD = 10**6
PAIR, VENUE = "31337:a/b", "uniswap_v3"


def limit(live: LiveGolem, **usd: int) -> None:
    columns = {f"trading_costs_per_{name}_micro_usd": each for name, each in usd.items()}
    SpendingLimits.objects.filter(golem=live.golem).update(**columns)


def entry_of(permit: Any) -> SpendEntry:
    return SpendEntry.objects.get(permit_id=permit["permit_id"])


def reserve(permit: ActionPermit, trade: TradeCost | None, now: datetime, *, counts_per_day: bool = True) -> None:
    ledger.reserve(
        permit=permit,
        value=PlanValue(gas_micro_usd=1),
        counts_per_day=counts_per_day,
        heartbeat_tick=0,
        now=now,
        trade=trade,
    )


def used(live: LiveGolem, now: datetime, *, pair: str = PAIR, venue: str = VENUE) -> CostsUsed:
    (row,) = fill_costs(golem_id=live.golem.pk, trade=TradeCost(0, pair, venue), now=now).fetch()
    return read_cost_columns(row)


def test_small_trades_of_ever_other_amounts_end_at_the_budget_of_a_day(live_golem: LiveGolem) -> None:
    live_golem.commit(live_golem.preview(amount="100000000")["permit_id"])
    first = SpendEntry.objects.get()
    assert 0 < first.cost_micro_usd < 5 * USD, "of $100 a fee and the impact are lost"
    limit(live_golem, day=first.cost_micro_usd * 3)
    with pytest.raises(TradingCostsExceeded) as refused:
        for step in range(1, 10):
            live_golem.commit(live_golem.preview(amount=str(100_000_000 + step * 37))["permit_id"])
    assert refused.value.data["rule"] == "spending_limiter.trading_costs_per_day"
    assert refused.value.data["resets_at"] and refused.value.data["remaining"]
    assert "fees, slippage and price impact" in refused.value.detail
    assert read_costs(golem_id=live_golem.golem.pk, now=clock.now()).day_micro_usd <= first.cost_micro_usd * 3


def test_a_trade_reserves_its_worst_case_and_settles_what_it_really_lost(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    reserved = entry_of(permit).cost_micro_usd
    live_golem.commit(permit["permit_id"])
    entry = entry_of(permit)
    lost = -int(OutcomeRecord.objects.get(permit_id=permit["permit_id"]).pnl_parts["slippage"])
    assert entry.cost_micro_usd == lost and 0 < lost < reserved
    assert entry.venue == live_golem.permit(permit["permit_id"]).venue and entry.pair.startswith("31337:0x")


def test_a_refused_trade_passes_as_small_as_it_is_told(live_golem: LiveGolem) -> None:
    limit(live_golem, day=1 * USD)
    with pytest.raises(TradingCostsExceeded) as refused:
        live_golem.preview()
    assert refused.value.next_step == "FIX_PARAMS" and "smaller amount" in refused.value.data["would_pass"]
    assert live_golem.preview(amount="20000000")["status"] == "CREATED"


def test_a_commit_does_not_count_its_own_reservation_twice(live_golem: LiveGolem) -> None:
    tried = live_golem.preview(amount="100000000")
    ledger.release(permit_id=live_golem.permit(tried["permit_id"]).pk)
    limit(live_golem, day=entry_of(tried).cost_micro_usd)
    fits = live_golem.preview(amount="99999999")
    assert live_golem.commit(fits["permit_id"])["status"] == "COMMITTED"


def test_what_is_cancelled_costs_nothing(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    assert read_costs(golem_id=live_golem.golem.pk, now=clock.now()).day_micro_usd > 0
    ledger.release(permit_id=live_golem.permit(permit["permit_id"]).pk)
    assert read_costs(golem_id=live_golem.golem.pk, now=clock.now()) == CostsUsed()


def test_two_trades_at_once_never_both_take_what_is_left(transactional_db: None, local_chain: World) -> None:
    live = make_live_golem(local_chain, name="One")
    cost = entry_of(live.preview(amount="50000000")).cost_micro_usd
    limit(live, day=2 * cost + 10)
    start = Barrier(2)

    def ask(amount: str) -> str:
        try:
            start.wait(timeout=60)
            return str(live.preview(amount=amount)["status"])
        except TradingCostsExceeded as error:
            return str(error.data["rule"])
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        told = sorted(threads.map(ask, ("50000001", "50000002")))
    assert told == ["CREATED", "spending_limiter.trading_costs_per_day"]


def test_each_budget_takes_exactly_its_limit_and_counts_its_own(live_golem: LiveGolem) -> None:
    now = clock.now()
    reserve(make_permit(golem=live_golem.golem, venue=VENUE), TradeCost(60, PAIR, VENUE), now)
    reserve(make_permit(golem=live_golem.golem, venue="other"), TradeCost(30, PAIR, "other"), now)
    reserve(make_permit(golem=live_golem.golem, venue=VENUE), TradeCost(5, "31337:c/d", VENUE), now)
    sums = used(live_golem, now)
    assert (sums.day_micro_usd, sums.pair_micro_usd, sums.venue_micro_usd) == (95, 90, 65)
    for name, limit_of_it in (("day", 100), ("pair", 95), ("venue", 70)):
        limit(live_golem, **{"day": 10**9, "pair": 10**9, "venue": 10**9, name: limit_of_it})
        permit = make_permit(golem=live_golem.golem, venue=VENUE)
        with pytest.raises(TradingCostsExceeded) as refused, transaction.atomic():
            reserve(permit, TradeCost(6, PAIR, VENUE), now)
        assert refused.value.data["rule"] == f"spending_limiter.trading_costs_per_{name}"
        with transaction.atomic():
            reserve(permit, TradeCost(5, PAIR, VENUE), now)
            transaction.set_rollback(True)


def test_costs_are_free_again_after_a_day_and_what_is_still_open_is_not(live_golem: LiveGolem) -> None:
    now = clock.now()
    settled, held = make_permit(golem=live_golem.golem), make_permit(golem=live_golem.golem)
    reserve(settled, TradeCost(70, PAIR, VENUE), now)
    reserve(held, TradeCost(40, PAIR, VENUE), now)
    ledger.settle(permit_id=settled.pk, spent_micro_usd=1, counted_at=now, cost_micro_usd=50)
    day = timedelta(hours=24)
    assert used(live_golem, now).day_micro_usd == 90
    assert used(live_golem, now).resets_at == now + day
    assert used(live_golem, now + day - timedelta(microseconds=1)).day_micro_usd == 90
    assert used(live_golem, now + day).day_micro_usd == 40


def test_a_settlement_that_tells_no_cost_leaves_the_worst_case(live_golem: LiveGolem) -> None:
    now, permit = clock.now(), make_permit(golem=live_golem.golem)
    reserve(permit, TradeCost(70, PAIR, VENUE), now)
    ledger.settle(permit_id=permit.pk, spent_micro_usd=1, counted_at=now)
    assert used(live_golem, now).day_micro_usd == 70


def test_what_a_rollback_takes_back_is_taken_off_and_held_again(live_golem: LiveGolem) -> None:
    now, permit = clock.now(), make_permit(golem=live_golem.golem)
    reserve(permit, TradeCost(70, PAIR, VENUE), now)
    ledger.settle(permit_id=permit.pk, spent_micro_usd=1, counted_at=now, cost_micro_usd=50)
    with transaction.atomic():
        assert ledger.reopen(permit_id=permit.pk, now=now + timedelta(hours=1))
    assert used(live_golem, now + timedelta(hours=1)).day_micro_usd == 50
    assert used(live_golem, now + timedelta(hours=26)).pair_micro_usd == 50, "held until its next life ends"


@pytest.mark.parametrize("change", [{"cost_micro_usd": 1}, {"pair": "x"}, {"venue": "x"}])
def test_what_a_settled_trade_cost_is_never_rewritten(live_golem: LiveGolem, change: dict[str, Any]) -> None:
    now, permit = clock.now(), make_permit(golem=live_golem.golem)
    reserve(permit, TradeCost(70, PAIR, VENUE), now)
    ledger.settle(permit_id=permit.pk, spent_micro_usd=1, counted_at=now, cost_micro_usd=50)
    with pytest.raises(DatabaseError), transaction.atomic():
        SpendEntry.objects.filter(permit=permit).update(**change)


def test_a_reversal_of_another_cost_is_refused_by_the_database(live_golem: LiveGolem) -> None:
    now, permit = clock.now(), make_permit(golem=live_golem.golem)
    reserve(permit, TradeCost(70, PAIR, VENUE), now)
    ledger.settle(permit_id=permit.pk, spent_micro_usd=1, counted_at=now, cost_micro_usd=50)
    settled = SpendEntry.objects.get(permit=permit)
    for cost, pair in ((-49, PAIR), (-50, "other")):
        with pytest.raises(DatabaseError), transaction.atomic():
            SpendEntry.objects.create(
                golem=live_golem.golem,
                permit=permit,
                state="REVERSED",
                reverses=settled,
                reserved_micro_usd=0,
                settled_micro_usd=-1,
                cost_micro_usd=cost,
                pair=pair,
                venue=settled.venue,
                counted_at=now,
            )


def test_another_golems_trades_count_nothing(live_golem: LiveGolem) -> None:
    sister, now = make_live_golem(live_golem.world, name="Sister"), clock.now()
    reserve(make_permit(golem=sister.golem), TradeCost(70, PAIR, VENUE), now)
    assert used(live_golem, now) == CostsUsed()


def judge(cost: int, *, held: bool = True, **taken: int) -> Reject | None:
    limits = SpendingLimits(
        trading_costs_per_day_micro_usd=100, trading_costs_per_pair_micro_usd=100, trading_costs_per_venue_micro_usd=100
    )
    resets_at = clock.now() if taken else None
    trade = TradeCost(cost, PAIR, VENUE)
    return judge_costs(limits=limits, used=CostsUsed(**taken, resets_at=resets_at), trade=trade, is_held=held)


def test_getting_out_and_what_costs_nothing_pass_a_budget_that_is_used_up() -> None:
    assert judge(1, day_micro_usd=100) is not None
    assert judge(1, day_micro_usd=100, held=False) is None
    assert judge(0, day_micro_usd=100) is None
    assert judge_costs(limits=SpendingLimits(), used=CostsUsed(), trade=None, is_held=True) is None


def test_a_used_up_budget_says_wait_and_one_of_nothing_asks_the_owner() -> None:
    wait, smaller = judge(1, day_micro_usd=100), judge(101)
    assert wait is not None and smaller is not None
    assert wait.data["recovery"] == "WAIT" and "getting out always passes" in wait.would_pass
    assert smaller.data["recovery"] == "FIX_PARAMS" and smaller.limit == "$0.000100"
    nothing = judge_costs(
        limits=SpendingLimits(trading_costs_per_day_micro_usd=0),
        used=CostsUsed(),
        trade=TradeCost(1, PAIR, VENUE),
        is_held=True,
    )
    assert nothing is not None and nothing.data["recovery"] == "ASK_OWNER"


def test_unknown_permits_have_no_cost(live_golem: LiveGolem) -> None:
    assert not ledger.settle(permit_id=uuid4(), spent_micro_usd=1, counted_at=clock.now(), cost_micro_usd=1)

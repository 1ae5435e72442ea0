"""What is known of a market makes a golem wait with entering it, and can do nothing else."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.forms.models import model_to_dict
from django.test import Client
from django.urls import reverse

from archetypes_app.models import DecisionCycleRecord, Golem, Heartbeat
from archetypes_app.owner_group import ensure_owner_group
from golem_project.heartbeat.debt_health import Alarm, WatchedDebt
from golem_project.heartbeat.entry_caution import DEBT_IN_DANGER, doubt_wishes
from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.memory_caution import leave_out
from golem_project.heartbeat.ruled_pools import list_ruled_pools
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.models.action_record import ActionRecord
from tests.bench.careful import replay
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.live_golem import LiveGolem
from tests.tools_app.history.followed import SINGLE, Followed
from tools_app.core import clock
from tools_app.history import followed_contracts
from tools_app.models import LogSource, LogWish
from tools_app.subsystems.intel.indexed_market import DayFlow, KnownMarket

TRADES = 104


def done_in(record: DecisionCycleRecord) -> list[tuple[str, str]]:
    rows = ActionRecord.objects.filter(tick_id=record.tick_id).order_by("position")
    return [(row.action_type, row.state) for row in rows]


def follow_pool(live: LiveGolem, settings: Any) -> Followed:
    """The index follows the golem's pool from the chain's first block to its newest."""
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 1_000_000
    index = Followed(live.world)
    index.watch(index.pool.address)
    return index


def read_on(index: Followed) -> None:
    index.fill()
    index.mine(3)
    index.follow()


def buy(index: Followed) -> None:
    """More trades than a judgement of order flow takes, all one way and each small."""
    for _ in range(TRADES):
        index.swap(6_000 * 10**6)


def sell_between(index: Followed) -> None:
    """As much the other way, so that no bucket has one side alone."""
    world = index.world
    weth, usdc = world.tokens["WETH"].address, world.tokens["USDC"].address
    router = world.contracts["uniswap_v3_swap_router_02"]
    world.transact(index.trader, weth, "approve(address,uint256)", router, 2**256 - 1)
    for _ in range(TRADES):
        index.swap(2_000 * 10**6)
        world.transact(index.trader, router, SINGLE, (weth, usdc, 500, index.trader.address, 66 * 10**16, 0, 0))


def limits_of(golem: Golem) -> list[dict[str, Any]]:
    cages = [model_to_dict(row) for row in PolicyCage.objects.filter(golem=golem)]
    return [*(model_to_dict(row) for row in SpendingLimits.objects.filter(golem=golem)), *cages]


def read_decision(golem: Golem, record: DecisionCycleRecord) -> str:
    client = Client()
    golem.owner.groups.add(ensure_owner_group())
    client.force_login(golem.owner)
    page = client.get(reverse("admin:archetypes_app_decisioncyclerecord_change", args=[record.pk]))
    assert page.status_code == 200
    return unescape(page.content.decode().split("<details>")[0])


def test_a_golem_waits_with_a_pool_whose_trades_are_one_sided_and_its_owner_reads_why(
    live_golem: LiveGolem, settings: Any
) -> None:
    golem, index = live_golem.golem, follow_pool(live_golem, settings)
    buy(index)
    read_on(index)
    before = limits_of(golem)
    turn_on(golem)
    record = tick(golem)
    assert done_in(record) == [], record.probes.get("known_market")
    assert record.tier == "T0", record.gating_reason
    (waits,) = [each["doubted"] for each in record.interventions if "doubted" in each]
    assert (waits["action_type"], waits["code"]) == ("add_liquidity", "FLOW_IS_TOXIC")
    assert (
        float(record.probes["known_market"]["vpin"]) > 0.9 and "add_liquidity waits: trades" in record.context_summary
    )
    told = read_decision(golem, record)
    assert "Add liquidity waits: trades of the last 24 hours are one-sided" in told
    assert "Nothing but the time of it changed, and no limit moved." in told
    assert limits_of(golem) == before
    # The same golem to whom nothing is known goes on as ever, and says so.
    LogSource.objects.all().delete()
    record = tick(golem)
    assert done_in(record) == [("add_liquidity", "EXECUTED")]
    assert "Not known of the market, and so no reason for anything: regime and order flow" in read_decision(
        golem, record
    )


def test_a_pool_that_is_traded_both_ways_is_entered(live_golem: LiveGolem, settings: Any) -> None:
    index = follow_pool(live_golem, settings)
    sell_between(index)
    read_on(index)
    turn_on(live_golem.golem)
    record = tick(live_golem.golem)
    assert done_in(record) == [("add_liquidity", "EXECUTED")], record.context_summary
    known = record.probes["known_market"]
    assert float(known["vpin"]) < 0.6 and known["trades_24h"] >= 2 * TRADES
    # A golem that holds its position enters nothing, and asks nothing.
    assert "known_market" not in tick(live_golem.golem).probes


def test_the_pool_of_a_rule_is_followed_while_its_golem_ticks(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    assert list(list_ruled_pools(CHAIN_ID)) == []
    tick(golem)
    pool = live_golem.world.pool("v3", "USDC", "WETH", 500).address
    (wish,) = list_ruled_pools(CHAIN_ID)
    assert (wish.address, wish.wanted_by) == (pool, str(golem.pk))
    assert followed_contracts.renew_all(now=clock.now()) >= 1
    assert LogWish.objects.filter(source__address=pool, wanted_by=str(golem.pk)).exists()
    assert list(list_ruled_pools(1)) == []
    Heartbeat.objects.filter(golem=golem).update(is_on=False)
    assert list(list_ruled_pools(CHAIN_ID)) == []
    Heartbeat.objects.filter(golem=golem).update(is_on=True, liquidity_rule={})
    assert list(list_ruled_pools(CHAIN_ID)) == []


WISHES = tuple(
    RuleWish(kind, "uniswap", kind, {"amount": "7"}, "", is_leaving=kind == "close", is_rescue=kind == "rescue")
    for kind in ("rescue", "close", "open", "swap")
)
BAD = KnownMarket("0x11", True, "strong_bear", DayFlow(1.0, 0.1, 500), 1)
DEBT = WatchedDebt("aave_v3/account/1/x", "Aave V3", 12_500, 12_000, Alarm.NEAR)


@pytest.mark.parametrize("known", [None, BAD, KnownMarket("0x11", missing=("all",))])
@pytest.mark.parametrize("debts", [(), (DEBT,), (WatchedDebt("r", "Aave", 90_000, 12_000, Alarm.CALM),)])
def test_what_is_known_takes_entries_away_and_neither_adds_nor_changes_a_wish(
    known: KnownMarket | None, debts: tuple[WatchedDebt, ...]
) -> None:
    doubted = doubt_wishes(WISHES, known=known, debts=debts, size_micro_usd=10**9)
    left = leave_out(WISHES, (), doubted)
    assert [wish for wish in WISHES if wish in left] == list(left)
    assert all(any(wish is each for each in WISHES) for wish in left)
    assert {"rescue", "close"} <= {wish.key for wish in left}
    is_bad = known is BAD or DEBT in debts
    assert {each.wish_key for each in doubted} == ({"open", "swap"} if is_bad else set())
    if DEBT in debts:
        assert {each.code for each in doubted} == {DEBT_IN_DANGER}


def test_a_rule_without_a_pool_learns_nothing(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule={**RULE, "fee_tier": 100})
    record = tick(live_golem.golem)
    assert done_in(record) == [] and "known_market" not in record.probes


def test_over_five_hundred_ticks_fewer_entries_are_bad_and_no_wish_is_added_or_changed() -> None:
    """Another seed than the bench's: the promise is not of one market."""
    found = replay(7)
    assert 2 * found.careful_bad < found.bad and found.moved == 0
    assert found.careful_bad * found.entries < found.bad * found.careful_entries, "and the share of bad ones falls"
    tossed = replay(7, persists=False)
    assert tossed.careful_bad <= tossed.bad and tossed.moved == 0

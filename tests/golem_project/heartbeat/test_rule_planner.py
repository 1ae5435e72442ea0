"""A golem that lives by rules on the real local chain: it re-centres, harvests, stays inside limits and phase."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from archetypes_app.models import DecisionCycleRecord, Golem, Heartbeat
from archetypes_app.models.golem import Golem as GolemRow
from golem_project.embedded.world.seed_data import worth
from golem_project.embedded.world.seed_swaps import SLOT0
from golem_project.heartbeat import observe_reads
from permits_app.models import SpendingLimits
from permits_app.models.action_record import ActionRecord
from permits_app.permits.tick_decisions import list_decisions
from tests.evm.world import World
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.live_golem import LiveGolem
from tests.strangers import send_ranges
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core import clock
from tools_app.core.models import AuditEntry

_SWAP = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"


def trade(world: World, *, sells: str, buys: str, usd: int) -> None:
    """A whale's swap through the golem's pool."""
    amount = worth(sells, usd)
    whale = world.new_account(10**18, {sells: amount})
    router = world.contracts["uniswap_v3_swap_router_02"]
    token_in, token_out = world.tokens[sells].address, world.tokens[buys].address
    world.transact(whale, token_in, "approve(address,uint256)", router, amount)
    world.transact(whale, router, _SWAP, (token_in, token_out, 500, whale.address, amount, 0, 0))


def let_feed_follow(world: World) -> None:
    """The feed of WETH at the price the golem's pool has now: the market moved, not the pool alone."""
    pool = world.pool("v3", "USDC", "WETH", 500)
    sqrt_price = int(world.rpc.read(pool.address, "slot0()", returns=SLOT0)[0])
    by_token1 = sqrt_price * sqrt_price * 10**18 >> 192
    answer = by_token1 * 10**2 if pool.token0 == world.tokens["WETH"].address else 10**38 // by_token1 * 10**2
    world.transact(world.actors.deployer, world.tokens["WETH"].feed, "setAnswer(int256)", answer)


def done_in(record: DecisionCycleRecord) -> list[tuple[str, str]]:
    rows = ActionRecord.objects.filter(tick_id=record.tick_id).order_by("position")
    return [(row.action_type, row.state) for row in rows]


def positions_of(record: DecisionCycleRecord) -> list[dict[str, Any]]:
    return [each for each in record.probes["positions"] if each["liquidity"] != "0"]


@pytest.fixture
def keeper(live_golem: LiveGolem) -> LiveGolem:
    """A live golem whose position is open."""
    turn_on(live_golem.golem)
    record = tick(live_golem.golem)
    assert done_in(record) == [("add_liquidity", "EXECUTED")], list_decisions(golem=live_golem.golem)
    return live_golem


def test_a_whale_moves_the_price_out_of_range_and_the_next_tick_rebalances(keeper: LiveGolem) -> None:
    before = tick(keeper.golem)
    trade(keeper.world, sells="USDC", buys="WETH", usd=3_000_000)
    let_feed_follow(keeper.world)
    record = tick(keeper.golem)
    assert record.tier in ("T1", "T2"), record.gating_reason
    assert done_in(record) == [("remove_liquidity", "EXECUTED"), ("add_liquidity", "EXECUTED")], [
        (row.block_reason, row.problem) for row in ActionRecord.objects.filter(tick=record.tick)
    ]
    after = tick(keeper.golem)
    (old,), (new,) = positions_of(before), positions_of(after)
    assert new["position_id"] != old["position_id"] and new["in_range"]
    assert after.tier == "T0", after.gating_reason
    assert after.regime == "VOLATILE" and after.tick.theta_seconds == 30


def test_a_strangers_gift_in_its_pool_is_not_the_position_that_a_golem_keeps(live_golem: LiveGolem) -> None:
    golem, world = live_golem.golem, live_golem.world
    send_ranges(world, golem.address, 1, in_range=True)
    turn_on(golem)
    assert done_in(tick(golem)) == [("add_liquidity", "EXECUTED")], list_decisions(golem=golem)
    assert done_in(tick(golem)) == []


def test_a_golem_pays_no_gas_to_leave_gifts_that_are_out_of_range(keeper: LiveGolem) -> None:
    send_ranges(keeper.world, keeper.golem.address, 3, in_range=False)
    record = tick(keeper.golem)
    assert done_in(record) == [], list_decisions(golem=keeper.golem)
    assert len(positions_of(record)) == 4


def test_a_golem_sees_its_own_position_behind_more_gifts_than_it_looks_at(
    keeper: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe_reads, "MOST_POSITIONS", 2)
    (own,) = positions_of(tick(keeper.golem))
    send_ranges(keeper.world, keeper.golem.address, 3, in_range=True)
    for _ in range(2):
        record = tick(keeper.golem)
        assert done_in(record) == [], "it opens no second one"
        assert own["position_id"] in {each["position_id"] for each in positions_of(record)}
    trade(keeper.world, sells="USDC", buys="WETH", usd=3_000_000)
    let_feed_follow(keeper.world)
    assert done_in(tick(keeper.golem)) == [("remove_liquidity", "EXECUTED"), ("add_liquidity", "EXECUTED")]


def test_a_pool_that_a_whale_pushed_away_from_the_feeds_is_waited_out(keeper: LiveGolem) -> None:
    trade(keeper.world, sells="USDC", buys="WETH", usd=3_000_000)
    record = tick(keeper.golem)
    assert record.probes["deviation_bps"] > 200 and not positions_of(record)[0]["in_range"]
    assert record.tier != "T0" and done_in(record) == [], record.gating_reason
    assert record.deliberation["summary"] == "nothing to do"
    trade(keeper.world, sells="WETH", buys="USDC", usd=3_150_000)
    assert done_in(tick(keeper.golem)) == []
    assert positions_of(tick(keeper.golem))[0]["in_range"]


def test_fees_are_harvested_once_they_pay(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={**RULE, "target_micro_usd": 8_000_000_000})
    assert done_in(tick(golem)) == [("add_liquidity", "EXECUTED")]
    trade(live_golem.world, sells="USDC", buys="WETH", usd=200_000)
    trade(live_golem.world, sells="WETH", buys="USDC", usd=200_000)
    early = tick(golem)
    assert 0 < int(positions_of(early)[0]["fees_micro_usd"]) < 500_000 and done_in(early) == []
    for _ in range(3):
        trade(live_golem.world, sells="USDC", buys="WETH", usd=1_000_000)
        trade(live_golem.world, sells="WETH", buys="USDC", usd=1_000_000)
    usdc, weth = live_golem.balance("USDC"), live_golem.balance("WETH")
    record = tick(golem)
    assert done_in(record) == [("collect_fees", "EXECUTED")], (record.gating_reason, record.probes)
    assert live_golem.balance("USDC") > usdc and live_golem.balance("WETH") > weth
    assert record.tier != "T0"
    assert done_in(tick(golem)) == []


def test_a_limit_that_is_used_up_is_waited_for(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    SpendingLimits.objects.filter(golem=golem).update(per_day_micro_usd=100_000_000)
    record = tick(golem)
    assert done_in(record) == [("add_liquidity", "BLOCKED")]
    action = ActionRecord.objects.get(tick=record.tick)
    assert action.problem["code"] == "SAFETY_SPENDING_LIMIT_EXCEEDED" and action.permit_id is None
    assert any("waits until" in each for each in record.mutations)
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="PreviewDenied").count() == 1
    for _ in range(3):
        assert done_in(tick(golem)) == []
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="PreviewDenied").count() == 1
    SpendingLimits.objects.filter(golem=golem).update(per_day_micro_usd=100_000_000_000)
    assert done_in(tick(golem)) == []
    # As if the time that the refusal named had passed: until then no tick looks whether the limit is another.
    row = Heartbeat.objects.get(pk=golem.pk)
    (wait,) = row.state["waits"].values()
    assert wait["code"] == "SAFETY_SPENDING_LIMIT_EXCEEDED" and datetime.fromisoformat(wait["until"]) > clock.now()
    wait["until"] = clock.now().isoformat()
    row.save(update_fields=["state"])
    assert done_in(tick(golem)) == [("add_liquidity", "EXECUTED")]


@pytest.mark.parametrize("phase", ["DEFENSIVE", "SURVIVAL", "TERMINAL"])
def test_a_late_phase_opens_nothing(live_golem: LiveGolem, phase: str) -> None:
    golem = live_golem.golem
    turn_on(golem)
    GolemRow.objects.filter(pk=golem.pk).update(phase=phase)
    assert done_in(tick(golem)) == []
    assert live_golem.mined_nonce() == 0


@pytest.mark.parametrize("phase", ["SURVIVAL", "TERMINAL"])
def test_in_the_last_phases_positions_are_closed(keeper: LiveGolem, phase: str) -> None:
    GolemRow.objects.filter(pk=keeper.golem.pk).update(phase=phase)
    record = tick(keeper.golem)
    assert done_in(record) == [("remove_liquidity", "EXECUTED")], (record.gating_reason, record.mutations)
    assert record.tier == "T2" and "phase" in record.gating_reason
    assert positions_of(tick(keeper.golem)) == []


def test_a_missing_side_is_swapped_for_first(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    rule = {
        "token_a": "WETH",
        "token_b": "USDC",
        "fee_tier": 500,
        "half_width_bps": 500,
        "target_micro_usd": 16_000_000_000,
    }
    turn_on(golem, rule=rule)
    SpendingLimits.objects.filter(golem=golem).update(
        per_transaction_micro_usd=20_000_000_000, hot_lane_micro_usd=20_000_000_000
    )
    record = tick(golem)
    assert done_in(record) == [("swap", "EXECUTED"), ("add_liquidity", "EXECUTED")], [
        (row.block_reason, row.params) for row in ActionRecord.objects.filter(tick=record.tick)
    ]
    (position,) = positions_of(tick(golem))
    assert 14_000_000_000 < int(position["value_micro_usd"]) < 16_500_000_000


def test_a_halted_golem_ticks_and_does_nothing(keeper: LiveGolem) -> None:
    trade(keeper.world, sells="USDC", buys="WETH", usd=3_000_000)
    Golem.objects.filter(pk=keeper.golem.pk).update(halted_at=clock.now(), halt_reason="drill")
    record = tick(keeper.golem)
    assert (record.tier, record.gating_reason, done_in(record)) == ("T0", "the golem is halted", [])
    assert record.prediction_error > record.threshold


def test_a_node_that_does_not_answer_makes_a_quiet_tick(keeper: LiveGolem, settings: Any) -> None:
    from golem_project import wiring

    wiring.configure_networks({31337: ("http://127.0.0.1:9",)})
    record = tick(keeper.golem)
    assert (record.tier, record.gating_reason) == ("T0", "the chain could not be read")
    assert record.anomalies and record.anomalies[0].startswith("RPC_UNAVAILABLE")
    assert record.vitality is None
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
    again = tick(keeper.golem)
    assert again.tier == "T0" and positions_of(again)


def test_a_price_that_is_missing_does_not_make_a_golem_poor(keeper: LiveGolem) -> None:
    rich = tick(keeper.golem)
    feed = keeper.world.tokens["WETH"].feed
    old = keeper.world.timestamp() - 100_000
    keeper.world.transact(keeper.world.actors.deployer, feed, "setUpdatedAt(uint256)", old)
    record = tick(keeper.golem)
    assert any(each.startswith("PRICE_STALE") for each in record.anomalies), record.anomalies
    assert record.vitality is None and record.phase == rich.phase == "THRIVING"
    assert record.probes["total_micro_usd"] is None
    keeper.golem.refresh_from_db()
    assert keeper.golem.phase == "THRIVING"


def test_emptied_positions_cost_no_round_trip_of_their_own(keeper: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    trade(keeper.world, sells="USDC", buys="WETH", usd=3_000_000)
    let_feed_follow(keeper.world)
    assert ("add_liquidity", "EXECUTED") in done_in(tick(keeper.golem))
    tick(keeper.golem)
    state = Heartbeat.objects.get(golem=keeper.golem).state["known_positions"]["ranges"]["uniswap"]
    assert (state["held"], len(state["positions"]), len(state["empty"])) == (2, 1, 1)
    asked: list[int] = []
    original = RpcPool._ask

    def count(self: Any, node: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(len(requests))
        return original(self, node, requests, *args, **kwargs)

    monkeypatch.setattr(RpcPool, "_ask", count)
    tick(keeper.golem)
    # Block and everything else; what a process learned of pairs before may take one more.
    assert len(asked) <= 3


def test_the_risk_assessor_is_asked_by_the_heartbeat_before_a_position_is_opened(keeper: LiveGolem) -> None:
    hop = AuditEntry.objects.get(golem_id=keeper.golem.pk, event="DelegationHop", data__entry="heartbeat")
    assert hop.data["to"] == "risk-assessor" and hop.heartbeat_tick == 1
    ended = AuditEntry.objects.get(golem_id=keeper.golem.pk, event="DelegationEnded", data__hop_id=hop.data["hop_id"])
    assert ended.data["verdict"] == "APPROVE"


def test_decisions_are_listed_newest_first_with_actions_and_outcomes(keeper: LiveGolem) -> None:
    tick(keeper.golem)
    newest, first = list_decisions(golem=keeper.golem)
    assert (newest["heartbeat_tick"], first["heartbeat_tick"]) == (2, 1)
    assert [each["heartbeat_tick"] for each in list_decisions(golem=keeper.golem, only_thinking=True)] == [1]
    (action,) = first["actions"]
    assert action["outcome"]["verified"] and action["outcome"]["actual"] and action["gas_usd"].startswith("$")
    assert int(first["costs"]["gas_micro_usd"]) == int(action["gas_micro_usd"]) > 0
    assert list_decisions(golem=keeper.golem, before_tick=2)[0]["heartbeat_tick"] == 1

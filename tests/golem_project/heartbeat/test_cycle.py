"""A tick on the real local chain: quiet when nothing happens, and the whole road when something does."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import DecisionCycleRecord, HeartbeatTick
from golem_project.heartbeat.cycle import run_heartbeat_tick
from permits_app.actions.query import query_state
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.pulses import claim_one, make_due, tick, turn_on, work_here
from tests.live_golem import LiveGolem
from tests.tools_app.history.followed import Followed
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core import clock
from tools_app.core.models import OutboxEvent
from tools_app.core.required_value import require

_BOUNDARIES = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE SAVEPOINT")


def _list_queries(captured: CaptureQueriesContext) -> list[str]:
    return [row["sql"] for row in captured.captured_queries if not str(row["sql"]).startswith(_BOUNDARIES)]


def test_a_quiet_tick_takes_at_most_twelve_queries(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={})
    tick(golem)
    make_due(golem)
    claim = claim_one(golem)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        record = run_heartbeat_tick(claim=claim, work=work_here)
    assert record is not None and record.tier == "T0", record and record.gating_reason
    queries = _list_queries(captured)
    assert len(queries) <= 12, "\n\n".join(queries)


def test_a_quiet_tick_asks_the_database_no_more_with_twenty_contracts_followed(live_golem: LiveGolem) -> None:
    golem, index = live_golem.golem, Followed(live_golem.world)
    turn_on(golem, rule={})
    tick(golem)
    counts = []
    for addresses in ((), tuple(f"0x{number:040X}" for number in range(1, 21))):
        if addresses:
            assert index.watch(*addresses, by=str(golem.pk)) == len(addresses)
        index.mine()
        index.follow()
        make_due(golem)
        claim = claim_one(golem)
        with CaptureQueriesContext(connection) as captured:
            record = run_heartbeat_tick(claim=claim, work=work_here)
        assert record is not None and record.tier == "T0", record and record.gating_reason
        counts.append(len(_list_queries(captured)))
    assert counts[1] <= counts[0]


def test_a_quiet_tick_is_recorded_whole(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={})
    tick(golem)
    record = tick(golem)
    stored = DecisionCycleRecord.objects.get(pk=record.pk)
    assert (stored.heartbeat_tick, stored.tier, stored.regime) == (2, "T0", "NORMAL")
    assert stored.probes["block_number"] and int(stored.probes["total_micro_usd"]) > 0
    assert stored.vitality is not None and 900_000 < stored.vitality < 1_000_000
    assert stored.gating_reason.startswith("as expected")
    assert (stored.threshold, stored.prediction_error) == (300_000, 0)
    assert stored.costs["model_micro_usd"] == "0"
    done = HeartbeatTick.objects.get(golem=golem, number=2)
    assert done.status == "COMPLETE" and done.duration_ms is not None
    kinds = list(
        OutboxEvent.objects.filter(golem_id=golem.pk, heartbeat_tick=2)
        .order_by("sequence")
        .values_list("type", flat=True)
    )
    assert kinds == ["heartbeat:tick", "heartbeat:complete"]
    golem.refresh_from_db()
    assert golem.heartbeat_tick == 2


@pytest.mark.protocols("aave_v3", "spark")
def test_a_quiet_tick_with_a_position_asks_the_node_twice(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = live_golem.golem
    turn_on(golem)
    assert ActionRecord.objects.get(tick=tick(golem).tick).state == "EXECUTED"
    tick(golem)
    asked: list[int] = []
    original = RpcPool._ask

    def count(self: Any, node: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(len(requests))
        return original(self, node, requests, *args, **kwargs)

    monkeypatch.setattr(RpcPool, "_ask", count)
    record = tick(golem)
    assert record.tier == "T0" and record.probes["positions"][0]["in_range"]
    assert len(asked) == 2 and asked[0] == 1, "the head, and everything of it that the tick before had asked for"


def test_a_golem_with_funds_and_a_rule_opens_its_position_in_its_first_tick(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    record = tick(golem)
    action = ActionRecord.objects.get(tick=record.tick)
    assert (action.state, action.action_type) == ("EXECUTED", "add_liquidity"), (action.block_reason, action.problem)
    assert require(action.permit).status == "COMMITTED" and require(action.permit).outcome.is_verified
    assert require(action.permit).outcome.divergence_bps == 0, "the position's own token came as predicted"
    assert len(action.tx_hashes) == require(action.permit).transactions.count() > 0
    assert action.gas_micro_usd and action.gas_micro_usd > 0
    later = tick(golem)
    assert [each["in_range"] for each in later.probes["positions"]] == [True]
    assert later.tier == "T0", later.gating_reason


def test_a_golem_that_is_not_live_only_rehearses(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, is_live=False)
    before = live_golem.balance("USDC")
    record = tick(golem)
    action = ActionRecord.objects.get(tick=record.tick)
    assert action.state == "REHEARSED" and not record.is_live
    assert require(action.permit).status == "CANCELLED"
    assert require(action.permit).spend_entry.state == "RELEASED"
    assert live_golem.balance("USDC") == before and live_golem.mined_nonce() == 0
    again = tick(golem)
    assert again.tier == "T0" and not ActionRecord.objects.filter(tick=again.tick).exists(), again.gating_reason


def test_an_agent_asks_for_its_decisions_with_their_actions_outcomes_and_costs(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    tick(golem)
    newest = tick(golem)
    found = query_state(golem=golem, query="decisions", venue=None, params={}, now=clock.now())["data"]
    assert found["newest"]["heartbeat_tick"] == newest.heartbeat_tick and found["newest"]["tier"] == "T0"
    (thought,) = found["thinking"]
    (action,) = thought["actions"]
    assert (action["state"], action["outcome"]["verified"]) == ("EXECUTED", True)
    assert int(thought["costs"]["gas_micro_usd"]) == int(action["gas_micro_usd"]) > 0

"""What looked done and became true, asked through previews, commits and the agent's REST interface."""

from __future__ import annotations

import inspect
import json
from typing import Any
from uuid import UUID

import pytest
from django.test import Client, override_settings

from archetypes_app.models import Golem
from memory_app.actions.manage_insight import manage_insight
from memory_app.models import Insight
from memory_app.models.insight import InsightCategory
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.models import CapabilityGrant, OutboundTransaction
from permits_app.permits.risk_tier_rules import classify_risk
from tests import factories
from tests.adversary.conftest import Adversary
from tests.adversary.conftest import adversary as adversary
from tests.golem_project.heartbeat.loans import carry_out, include, plan
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.test_local_writes import WISH
from tools_app.core import clock
from tools_app.core.models import AuditEntry

ETH, USD = 10**18, 10**6
NOTHING = {"venue": None, "token_in": None, "token_out": None, "amount": None}


def test_an_agent_that_exports_over_rest_gets_no_strategy_and_the_audit_log_says_so(live_golem: LiveGolem) -> None:
    factories.make_strategy(golem=live_golem.golem, name="where the money is made")
    agent = Agent(live_golem.golem, live_golem.key, Client())
    answer = agent.post("query_grimoire", {"read": "export"})
    assert answer.status_code == 200, answer.json()
    assert "where the money is made" not in json.dumps(answer.json())
    assert answer.json()["data"]["strategies_withheld"] == 1
    [blocked] = AuditEntry.objects.filter(golem_id=live_golem.golem.pk, event="TaintViolationBlocked")
    assert (blocked.data["label"], blocked.data["sink"]) == ("STRATEGY_CONFIDENTIAL", "EXPORT")


def test_the_capability_of_a_local_write_is_used_up_before_its_handler_begins(
    adversary: Adversary, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[bool] = []

    def look(**asked: Any) -> Any:
        used.append(CapabilityGrant.objects.get(tool_name="memory_manage_insight").consumed_at is not None)
        return manage_insight(**asked)

    monkeypatch.setattr("memory_app.tools.learning.manage_insight", look)
    done = adversary.take(**{name: value for name, value in WISH.items() if value is not None})
    assert done["status"] == "COMMITTED", done
    assert used == [True]


@pytest.mark.protocols("aave_v3")
def test_a_preview_of_layer_three_is_high_however_little_it_is_worth(live_golem: LiveGolem) -> None:
    include(live_golem, "aave_supply", "aave_borrow", "aave_repay")
    carry_out(live_golem, plan(live_golem, "aave_supply", asset="WETH", amount=str(ETH)))
    asked = {**NOTHING, "venue": "aave", "asset": "USDC", "amount": str(USD)}
    permit = live_golem.preview(action_type="borrow", interest_rate_mode="variable", **asked)
    assert live_golem.permit(permit["permit_id"]).risk_tier == "HIGH"


def test_a_preview_gives_all_that_a_tier_is_judged_by(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[set[str]] = []

    def classify(**facts: Any) -> Any:
        given.append(set(facts))
        return classify_risk(**facts)

    monkeypatch.setattr("permits_app.safety.risk_tier_of_call.classify_risk", classify)
    live_golem.preview()
    assert given and all(each == set(inspect.signature(classify_risk).parameters) for each in given)


def test_a_permit_whose_ticks_passed_before_the_signature_signs_nothing(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    Golem.objects.filter(pk=live_golem.golem.pk).update(heartbeat_tick=live_golem.permit(permit_id).expires_at_tick)
    told = live_golem.work(permit_id)
    assert told is not None and told["status"] != "COMMITTED"
    assert told["problem"]["code"] == "CAP_EXPIRED"
    assert not OutboundTransaction.objects.filter(permit_id=permit_id).exists()


def test_what_really_reverted_three_times_becomes_a_conclusion_about_its_cause(live_golem: LiveGolem) -> None:
    for _ in range(3):
        permit_id = live_golem.preview(deadline=60)["permit_id"]
        with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
            live_golem.start(permit_id)
            live_golem.work(permit_id)
            live_golem.world.rpc.call("evm_increaseTime", 120)
        live_golem.work(permit_id)
        assert live_golem.permit(permit_id).status == "REVERTED"
        assert remember_outcome(permit_id=UUID(permit_id), now=clock.now(), use_model=False) is not None
    asked = live_golem.preview(action_type="consolidate_memory", **NOTHING)
    assert live_golem.commit(asked["permit_id"])["status"] == "COMMITTED"
    insight = Insight.objects.get(golem=live_golem.golem)
    assert insight.category == InsightCategory.GAS_TIMING and insight.tool_name == "uniswap_execute_swap"
    assert insight.stability_days == 30


def test_what_really_reverted_five_times_moves_a_heuristic_and_the_next_preview(live_golem: LiveGolem) -> None:
    for amount in range(500, 505):
        permit_id = live_golem.preview(deadline=60, amount=str(amount * USD))["permit_id"]
        with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
            live_golem.start(permit_id)
            live_golem.work(permit_id)
            live_golem.world.rpc.call("evm_increaseTime", 120)
        live_golem.work(permit_id)
        assert live_golem.permit(permit_id).status == "REVERTED"
        remember_outcome(permit_id=UUID(permit_id), now=clock.now(), use_model=False)
    asked = live_golem.preview(action_type="consolidate_memory", **NOTHING)
    assert live_golem.commit(asked["permit_id"])["status"] == "COMMITTED"
    moved = Insight.objects.get(golem=live_golem.golem, kind="HEURISTIC")
    assert (moved.parameter, moved.factor_bps) == ("deadline", 11_000)
    next_one = live_golem.permit(live_golem.preview(deadline=60)["permit_id"])
    # What was learned fades from the first second on.
    assert next_one.soft_params["changes"] == {"deadline": 65}


def test_what_went_three_times_as_predicted_becomes_a_conclusion_that_lasts_a_week(live_golem: LiveGolem) -> None:
    for amount in ("100000000", "200000000", "300000000"):
        permit_id = live_golem.preview(amount=amount)["permit_id"]
        assert live_golem.commit(permit_id)["status"] == "COMMITTED"
        assert remember_outcome(permit_id=UUID(permit_id), now=clock.now(), use_model=False) is not None
    asked = live_golem.preview(action_type="consolidate_memory", **NOTHING)
    assert live_golem.commit(asked["permit_id"])["status"] == "COMMITTED"
    insight = Insight.objects.get(golem=live_golem.golem)
    assert (insight.category, insight.stability_days, insight.trust) == (InsightCategory.SLIPPAGE, 7, "VERIFIED")

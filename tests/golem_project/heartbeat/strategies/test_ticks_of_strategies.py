"""Strategies on the real local chain and on the heartbeat's page: under permits, once, the risky before the rest."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.thinking.owner_instructions import read_standing_words
from permits_app.models import ActionPermit
from permits_app.models.action_record import ActionRecord
from tests.factories.golems import make_golem, make_owner
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.golem_project.heartbeat.test_rule_planner import done_in
from tests.live_golem import LiveGolem
from tools_app.core import clock

USD = 1_000_000
PURCHASE = {"sold": "USDC", "bought": "WETH", "amount_micro_usd": 100 * USD, "every_hours": 24}
STOP = {"token": "WETH", "into": "USDC", "stop_micro_usd": 3_500 * USD}


def keys_in(record: Any) -> list[str]:
    rows = ActionRecord.objects.filter(tick_id=record.tick_id).order_by("position")
    return [row.wish_key.partition(":")[0] for row in rows]


def test_a_regular_purchase_is_made_once_a_period_under_a_permit(live_golem: LiveGolem) -> None:
    before = live_golem.balance("USDC")
    turn_on(live_golem.golem, rule={}, strategies={"regular_purchase": PURCHASE})
    assert done_in(tick(live_golem.golem)) == [("swap", "EXECUTED")]
    assert live_golem.balance("USDC") == before - 100 * 10**6
    assert ActionPermit.objects.get(golem=live_golem.golem).status == "COMMITTED"
    assert done_in(tick(live_golem.golem)) == []
    ActionRecord.objects.update(created_at=clock.now() - timedelta(hours=24))
    Heartbeat.objects.update(state={})
    assert done_in(tick(live_golem.golem)) == [("swap", "EXECUTED")]


def test_a_stop_sells_all_and_nothing_buys_it_back(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule=RULE, strategies={"regular_purchase": PURCHASE, "stop_orders": STOP})
    record = tick(live_golem.golem)
    assert set(keys_in(record)) == {"stop_loss"}, done_in(record)
    assert live_golem.balance("WETH") < 10**15
    assert done_in(tick(live_golem.golem)) == []


def test_shares_are_brought_back_step_by_step(live_golem: LiveGolem) -> None:
    shares = {"weights": {"WETH": 3_000, "USDC": 7_000}, "band_bps": 200, "most_micro_usd": 2_000 * USD}
    turn_on(live_golem.golem, rule={}, strategies={"target_weights": shares})
    worth = live_golem.balance("WETH") * 3_000 // 10**12, live_golem.balance("USDC")
    assert worth[0] * 10 < sum(worth) * 3
    tick(live_golem.golem)
    worth = live_golem.balance("WETH") * 3_000 // 10**12, live_golem.balance("USDC")
    assert abs(worth[0] * 10_000 // sum(worth) - 3_000) <= 200
    assert done_in(tick(live_golem.golem)) == []


def test_a_stop_is_carried_out_though_a_model_plans(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule={}, strategies={"stop_orders": STOP}, planner=PlannerKind.MODEL)
    assert set(keys_in(tick(live_golem.golem))) == {"stop_loss"}


def test_a_rehearsal_keeps_its_period_and_hides_nothing_from_the_golem_that_goes_live(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule={}, strategies={"regular_purchase": PURCHASE}, is_live=False)
    assert done_in(tick(live_golem.golem)) == [("swap", "REHEARSED")]
    Heartbeat.objects.update(state={})
    assert done_in(tick(live_golem.golem)) == []
    Golem.objects.update(is_live=True)
    assert done_in(tick(live_golem.golem)) == [("swap", "EXECUTED")]


def test_strategies_that_an_older_server_kept_are_an_anomaly_and_stop_nothing(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule=RULE, strategies={"magic": {"a": 1}})
    record = tick(live_golem.golem)
    assert any("a strategy is not complete" in str(each) for each in record.anomalies)
    assert done_in(record) == [("add_liquidity", "EXECUTED")]


def _form(golem: Golem, **typed: str) -> dict[str, Any]:
    plain = {"golem": str(golem.pk), "is_on": "on", "planner": "RULE", "base_interval_seconds": "30"}
    return {**plain, **typed}


@pytest.mark.django_db
def test_an_owner_types_strategies_on_the_page_and_sees_them_again(client: Client) -> None:
    golem = make_golem(owner=make_owner(name="ana"))
    client.force_login(golem.owner)
    typed = {
        "regular_purchase__sold": "USDC",
        "regular_purchase__bought": "WETH",
        "regular_purchase__amount_micro_usd": "20,000",
        "regular_purchase__every_hours": "24",
        "target_weights__weights": "WETH 60, USDC 40",
        "stop_orders__token": "WETH",
        "stop_orders__into": "USDC",
        "stop_orders__stop_micro_usd": "2500",
        "limit_ladder__token": "WETH",
        "limit_ladder__against": "USDC",
        "limit_ladder__rungs": "buy 2500 100, sell 3500.50 100",
        "loan_keeper__act_below_bps": "170",
        "loan_keeper__keep_bps": "200",
    }
    answer = client.post(reverse("admin:archetypes_app_heartbeat_add"), _form(golem, **typed))
    assert answer.status_code == 302, answer.context["errors"]
    kept = Heartbeat.objects.get(golem=golem).strategies
    assert set(kept) == {"regular_purchase", "target_weights", "stop_orders", "limit_ladder", "loan_keeper"}
    assert kept["target_weights"]["weights"] == {"WETH": 6_000, "USDC": 4_000}
    assert kept["limit_ladder"]["rungs"][1] == {
        "side": "sell",
        "price_micro_usd": 3_500_500_000,
        "amount_micro_usd": 100 * USD,
    }
    assert kept["loan_keeper"] == {"act_below_bps": 17_000, "keep_bps": 20_000}
    told = " ".join(str(each) for each in get_messages(answer.wsgi_request))
    assert "The regular purchase is refused every time" in told, "limits that it needs are told"
    shown = client.get(reverse("admin:archetypes_app_heartbeat_change", args=[golem.pk])).context["adminform"].form
    assert shown["target_weights__weights"].value() == "WETH 60, USDC 40"
    assert shown["limit_ladder__rungs"].value() == "buy 2500 100, sell 3500.5 100"
    assert shown["loan_keeper__act_below_bps"].value() == "170"
    words = read_standing_words(golem=golem, most_characters=12_000).rule
    assert "Carried out by rules, not by you: $20,000.00 of USDC are given for WETH every 24 hours." in words


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"regular_purchase__sold": "USDC"}, "regular_purchase__bought"),
        ({"target_weights__weights": "WETH 60, USDC 30"}, "target_weights__weights"),
        ({"target_weights__weights": "half of each"}, "target_weights__weights"),
        ({"limit_ladder__rungs": "buy low", "limit_ladder__token": "WETH"}, "limit_ladder__rungs"),
        ({"loan_keeper__act_below_bps": "170", "loan_keeper__keep_bps": "171"}, "loan_keeper__keep_bps"),
    ],
)
def test_a_strategy_that_is_not_complete_is_refused_at_its_field(
    client: Client, typed: dict[str, str], wrong: str
) -> None:
    golem = make_golem(owner=make_owner(name="ana"))
    client.force_login(golem.owner)
    answer = client.post(reverse("admin:archetypes_app_heartbeat_add"), _form(golem, **typed))
    assert answer.status_code == 200 and wrong in answer.context["adminform"].form.errors
    assert not Heartbeat.objects.exists()

"""What a golem asks of the health of its own debts: told, lowered or left before its owner's floor is reached."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from archetypes_app.models import AlertBatch, Heartbeat
from archetypes_app.toolset import view_golem
from permits_app.errors import HealthAlertNotFound, TooManyHealthAlerts
from permits_app.models import HealthAlert
from permits_app.models.action_record import ActionRecord
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.loans import LENDER, TOOLS, health, include, lend_out, set_price
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.live_golem import LiveGolem, make_live_golem
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.protocols.aave_v3.protocol import PROTOCOL as AAVE
from tools_app.runner import run_read
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool, WriteTool

pytestmark = pytest.mark.protocols("aave_v3")
ALERT_TOOLS = ("safety_set_health_alert", "safety_clear_health_alert")


@pytest.fixture
def indebted(live_golem: LiveGolem) -> LiveGolem:
    include(live_golem, *TOOLS, *ALERT_TOOLS)
    turn_on(live_golem.golem, rule={})
    lend_out(live_golem)
    return live_golem


def do(live: LiveGolem, action_type: str, **params: Any) -> dict[str, Any]:
    """As an agent: previewed, then committed."""
    body = {"venue": None, "token_in": None, "token_out": None, "amount": None, "action_type": action_type, **params}
    answer = live.commit(live.preview(**body)["permit_id"])
    assert answer["status"] == "COMMITTED", answer
    result: dict[str, Any] = answer["result"]["data"]
    return result


def set_alert(live: LiveGolem, health_factor: str, **params: Any) -> dict[str, Any]:
    return do(live, "set_health_alert", **{"protocol": LENDER, "min_health_factor": health_factor, **params})


def ask(live: LiveGolem, name: str, **params: Any) -> Any:
    tool = REGISTRY.get(name)
    assert isinstance(tool, ReadTool)
    return run_read(tool=tool, params=params, golem=view_golem(live.golem), now=clock.now()).data


def test_an_alert_is_set_listed_replaced_and_cleared_and_the_audit_log_tells_it(indebted: LiveGolem) -> None:
    first = set_alert(indebted, "1.8")
    assert (first["min_health_factor"], first["auto_action"], first["last_triggered"]) == ("1.80", "NONE", None)
    again = set_alert(indebted, "1.9", auto_action="DELEVERAGE", notify_on_breach=False)
    assert again["alert_id"] == first["alert_id"]
    listed = ask(indebted, "safety_get_health_alerts")
    assert [each["min_health_factor"] for each in listed["alerts"]] == ["1.90"] and listed["is_watched"] is True
    assert do(indebted, "clear_health_alert", alert_id=first["alert_id"]) == {"alert_id": first["alert_id"]}
    assert ask(indebted, "safety_get_health_alerts")["alerts"] == []
    told = AuditEntry.objects.filter(golem_id=indebted.golem.pk, event__startswith="HealthAlert").order_by("pk")
    assert [row.event for row in told] == ["HealthAlertSet", "HealthAlertSet", "HealthAlertCleared"]


def test_another_golems_alert_is_neither_seen_nor_cleared_nor_counted(indebted: LiveGolem) -> None:
    mine = set_alert(indebted, "1.8")
    other = make_live_golem(indebted.world, name="Other", owner_name="owner-b")
    include(other, *ALERT_TOOLS)
    assert ask(other, "safety_get_health_alerts")["alerts"] == []
    with pytest.raises(HealthAlertNotFound):
        do(other, "clear_health_alert", alert_id=mine["alert_id"])
    assert HealthAlert.objects.filter(golem=indebted.golem).count() == 1


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"min_health_factor": "1"}, "min_health_factor"),
        ({"min_health_factor": "100.1"}, "min_health_factor"),
        ({"protocol": "nobody"}, "protocol"),
    ],
)
def test_an_alert_that_could_never_ring_is_refused_with_the_lenders_there_are(
    indebted: LiveGolem, wrong: dict[str, str], field: str
) -> None:
    with pytest.raises(InvalidParams) as refused:
        set_alert(indebted, **{"health_factor": wrong.pop("min_health_factor", "1.6"), **wrong})
    assert field in refused.value.data["fields"]
    if field == "protocol":
        assert LENDER in refused.value.detail


def test_a_golem_has_so_many_alerts_and_no_more(indebted: LiveGolem) -> None:
    HealthAlert.objects.bulk_create(
        HealthAlert(golem=indebted.golem, protocol=LENDER, chain_id=10**6 + each, min_health_bps=15_000)
        for each in range(32)
    )
    permit = indebted.preview(
        **{"venue": None, "token_in": None, "token_out": None, "amount": None},
        action_type="set_health_alert",
        protocol=LENDER,
        min_health_factor="1.8",
    )
    indebted.start(permit["permit_id"])
    answer = indebted.work(permit["permit_id"])
    assert answer is not None and answer["problem"]["code"] == TooManyHealthAlerts.code


def test_an_alert_above_the_owners_floor_tells_once_and_sells_nothing(indebted: LiveGolem) -> None:
    alert = set_alert(indebted, "1.9")
    tick(indebted.golem)
    assert not AlertBatch.objects.filter(golem=indebted.golem, source__startswith="health").exists()
    set_price(indebted, 2_700)
    assert 16_800 < (health(indebted) or 0) < 19_000, "well above the floor and its warning"
    tick(indebted.golem)
    tick(indebted.golem)
    assert [row.source for row in AlertBatch.objects.filter(golem=indebted.golem)] == ["health-near"]
    event = OutboxEvent.objects.get(golem_id=indebted.golem.pk, type="heartbeat:alert")
    assert event.payload["alerts"][0]["limit"] == "1.90"
    assert not ActionRecord.objects.exists()
    assert HealthAlert.objects.get(pk=UUID(alert["alert_id"])).last_triggered_at is not None


def test_an_alert_that_deleverages_lifts_the_debt_long_before_the_owners_floor(indebted: LiveGolem) -> None:
    set_alert(indebted, "1.9", auto_action="DELEVERAGE")
    tick(indebted.golem)
    set_price(indebted, 2_700)
    tick(indebted.golem)
    action = ActionRecord.objects.get()
    assert (action.action_type, action.state) == ("auto_deleverage", "EXECUTED"), action.block_reason
    assert (health(indebted) or 0) > 20_900


def test_an_alert_that_closes_takes_the_lenders_own_way_out(indebted: LiveGolem) -> None:
    set_alert(indebted, "1.9", auto_action="CLOSE")
    tick(indebted.golem)
    set_price(indebted, 2_700)
    tick(indebted.golem)
    actions = list(ActionRecord.objects.order_by("pk"))
    assert [each.tool_name for each in actions] == ["aave_repay"], [each.block_reason for each in actions]
    assert actions[0].state == "EXECUTED", actions[0].block_reason


def test_an_alert_below_the_owners_floor_takes_nothing_from_it(indebted: LiveGolem) -> None:
    set_alert(indebted, "1.1", auto_action="DELEVERAGE")
    tick(indebted.golem)
    set_price(indebted, 2_000)
    tick(indebted.golem)
    assert [row.source for row in AlertBatch.objects.filter(golem=indebted.golem)] == ["health-under"]
    assert ActionRecord.objects.get().state == "EXECUTED"


def test_what_is_breached_now_comes_with_a_step_that_is_accepted(indebted: LiveGolem) -> None:
    assert ask(indebted, "safety_check_pending_alerts") == {
        "breached_alerts": [],
        "all_clear": True,
        "not_counted": [],
    }
    set_alert(indebted, "1.9")
    assert ask(indebted, "safety_check_pending_alerts")["all_clear"] is True
    set_price(indebted, 2_000)
    told = ask(indebted, "safety_check_pending_alerts")
    assert told["all_clear"] is False
    [breach] = told["breached_alerts"]
    assert (breach["threshold"], breach["recommended_tool"]) == ("1.90", "aave_repay")
    assert float(breach["current_health_factor"]) == pytest.approx((health(indebted) or 0) / 10_000, abs=0.01)
    tool = REGISTRY.get(breach["recommended_tool"])
    assert isinstance(tool, WriteTool)
    nothing = {"token_in": None, "token_out": None}
    permit = indebted.preview(
        **{**nothing, "action_type": tool.key, "venue": tool.venue, **breach["recommended_params"]}
    )
    assert permit["status"] == "CREATED", permit
    with pytest.raises(InvalidParams):
        ask(indebted, "safety_check_pending_alerts", account="0x" + "12" * 20)


def test_a_breached_alert_lets_the_rule_enter_nothing_though_it_only_tells(indebted: LiveGolem) -> None:
    set_alert(indebted, "3")
    Heartbeat.objects.filter(golem=indebted.golem).update(liquidity_rule=RULE)
    record = tick(indebted.golem)
    (waits,) = [each["doubted"] for each in record.interventions if "doubted" in each]
    assert (waits["action_type"], waits["code"]) == ("swap", "DEBT_IN_DANGER")
    assert not ActionRecord.objects.filter(tick=record.tick).exists()
    HealthAlert.objects.all().delete()
    record = tick(indebted.golem)
    assert "swap" in ActionRecord.objects.filter(tick=record.tick).values_list("action_type", flat=True)


def test_a_lender_that_answers_nothing_is_no_all_clear_and_nothing_is_entered_meanwhile(indebted: LiveGolem) -> None:
    set_alert(indebted, "1.5")
    assert ask(indebted, "safety_check_pending_alerts")["all_clear"] is True
    pool = str(AAVE.address(CHAIN_ID, "pool"))
    reverts = "0x5f5ffd"
    indebted.world.rpc.call("anvil_setCode", pool, reverts)
    with pytest.raises(PositionsUnreadable) as refused:
        ask(indebted, "safety_check_pending_alerts")
    assert "Aave" in refused.value.detail and refused.value.recovery
    Heartbeat.objects.filter(golem=indebted.golem).update(liquidity_rule=RULE)
    record = tick(indebted.golem)
    assert not ActionRecord.objects.filter(tick=record.tick).exists(), record.context_summary
    [alert] = HealthAlert.objects.filter(golem=indebted.golem)
    assert alert.last_triggered_at is None, "what nobody could read is no breach"

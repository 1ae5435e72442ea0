"""A debt under its owner's floor is told and lowered by the rules, on a real lender, through preview and commit."""

from __future__ import annotations

import pytest

from archetypes_app.models import AlertBatch, Golem, Heartbeat, ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.models.tick import PlannerKind
from golem_project.cockpit.page_contents import build_cockpit
from memory_app.models import Episode
from permits_app.models import ActionPermit
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.loans import TOOLS, health, include, lend_out, set_price
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import OutboxEvent

pytestmark = pytest.mark.protocols("aave_v3")


@pytest.fixture
def indebted(live_golem: LiveGolem) -> LiveGolem:
    include(live_golem, *TOOLS)
    turn_on(live_golem.golem, rule={})
    lend_out(live_golem)
    return live_golem


def list_alerts(live: LiveGolem) -> list[str]:
    rows = AlertBatch.objects.filter(golem=live.golem, source__startswith="health").order_by("pk")
    return [str(row.source) for row in rows]


def test_a_healthy_debt_rings_nothing(indebted: LiveGolem) -> None:
    assert (health(indebted) or 0) > 17_000
    tick(indebted.golem)
    record = tick(indebted.golem)
    assert record.tier == "T0" and not record.anomalies
    assert list_alerts(indebted) == [] and not ActionRecord.objects.exists()


def test_prices_fall_the_owner_is_told_and_the_next_action_lifts_the_debt_above_the_floor(indebted: LiveGolem) -> None:
    tick(indebted.golem)
    set_price(indebted, 2_000)
    assert 10_000 < (health(indebted) or 0) < 15_000
    record = tick(indebted.golem)
    assert record.tier == "T2" and "health" in record.gating_reason
    assert any(each.startswith("HEALTH_UNDER") for each in record.anomalies)
    assert list_alerts(indebted) == ["health-under"]
    event = OutboxEvent.objects.get(golem_id=indebted.golem.pk, type="heartbeat:alert")
    assert event.payload["alerts"][0]["limit"] == "1.50"
    action = ActionRecord.objects.get()
    assert (action.action_type, action.state) == ("auto_deleverage", "EXECUTED"), action.block_reason
    episode = Episode.objects.get(permit_id=action.permit_id)
    assert (episode.importance, episode.stability_days) == ("EMERGENCY", 180.0)
    permit = ActionPermit.objects.get()
    assert permit.tool_name == "lending_auto_deleverage" and permit.action_class == "DECREASE_POSITION"
    assert (health(indebted) or 0) >= 16_800
    # Well above the warning: the next tick has nothing to say and nothing to do.
    quiet = tick(indebted.golem)
    assert ActionRecord.objects.count() == 1 and list_alerts(indebted) == ["health-under"]
    assert not [each for each in quiet.anomalies if each.startswith("HEALTH")]


def test_near_the_floor_the_owner_is_warned_once_and_nothing_is_sold(indebted: LiveGolem) -> None:
    tick(indebted.golem)
    set_price(indebted, 2_300)
    assert 15_000 <= (health(indebted) or 0) < 16_500
    first = tick(indebted.golem)
    assert first.tier == "T2" and list_alerts(indebted) == ["health-near"]
    set_price(indebted, 2_310)
    set_price(indebted, 2_295)
    again = tick(indebted.golem)
    assert again.tier != "T2" and list_alerts(indebted) == ["health-near"]
    assert not ActionRecord.objects.exists()
    sentences = build_cockpit(Golem.objects.select_related("archetype").get(pk=indebted.golem.pk), now=clock.now())
    [(sentence, is_under)] = sentences.dangers
    assert "near your floor of 1.50" in sentence and not is_under


def test_a_health_that_trembles_around_its_limit_rings_once(indebted: LiveGolem) -> None:
    tick(indebted.golem)
    for dollars in (2_300, 2_420, 2_300, 2_420):
        set_price(indebted, dollars)
        tick(indebted.golem)
        AlertBatch.objects.all().update(source="told-before")
    assert OutboxEvent.objects.filter(golem_id=indebted.golem.pk, type="heartbeat:alert").count() == 1


@pytest.mark.parametrize("phase", ["DEFENSIVE", "SURVIVAL", "TERMINAL"])
def test_no_phase_keeps_a_golem_from_lowering_its_debt(indebted: LiveGolem, phase: str) -> None:
    Golem.objects.filter(pk=indebted.golem.pk).update(phase=phase)
    indebted.golem.refresh_from_db()
    set_price(indebted, 2_000)
    tick(indebted.golem)
    action = ActionRecord.objects.get()
    assert action.state == "EXECUTED", action.block_reason
    assert (health(indebted) or 0) >= 16_800


def test_a_golem_whose_profiles_hold_no_lending_may_still_leave_but_not_against_its_owners_word(
    live_golem: LiveGolem,
) -> None:
    turn_on(live_golem.golem, rule={})
    lend_out(live_golem)
    set_price(live_golem, 2_000)
    barred = ToolOverride.objects.create(
        golem=live_golem.golem, tool_name="lending_auto_deleverage", mode=OverrideMode.EXCLUDE
    )
    tick(live_golem.golem)
    assert ActionRecord.objects.get().state == "BLOCKED" and list_alerts(live_golem) == ["health-under"]
    [(sentence, is_under)] = build_cockpit(
        Golem.objects.select_related("archetype").get(pk=live_golem.golem.pk), now=clock.now()
    ).dangers
    assert is_under and "was refused (UNKNOWN_ACTION)" in sentence
    barred.delete()
    Heartbeat.objects.filter(golem=live_golem.golem).update(state={})
    tick(live_golem.golem)
    assert ActionRecord.objects.filter(state="EXECUTED").count() == 1
    assert (health(live_golem) or 0) >= 16_800


def test_a_golem_that_asks_a_model_lowers_its_debt_without_one(
    indebted: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NeverAsked:
        name = "model"

        def deliberate(self, **_: object) -> object:
            from golem_project.heartbeat.thinking.planner import Deliberation

            asked.append(health(indebted) or 0)
            return Deliberation(planner="model", summary="nothing")

    asked: list[int] = []
    monkeypatch.setattr("golem_project.heartbeat.planners.get_model_planner", NeverAsked)
    Heartbeat.objects.filter(golem=indebted.golem).update(planner=PlannerKind.MODEL)
    set_price(indebted, 2_000)
    record = tick(indebted.golem)
    assert ActionRecord.objects.get().state == "EXECUTED"
    assert asked and min(asked) >= 16_800, "the model is asked once the debt is safe"
    assert record.tier == "T2"


def test_a_dry_run_only_rehearses_the_rescue_and_a_halted_golem_is_only_told(indebted: LiveGolem) -> None:
    Golem.objects.filter(pk=indebted.golem.pk).update(is_live=False)
    set_price(indebted, 2_000)
    tick(indebted.golem)
    assert ActionRecord.objects.get().state == "REHEARSED"
    Golem.objects.filter(pk=indebted.golem.pk).update(is_live=True, halted_at=clock.now(), halt_reason="stop")
    set_price(indebted, 1_900)
    AlertBatch.objects.all().update(source="told-before")
    record = tick(indebted.golem)
    assert record.tier == "T0" and ActionRecord.objects.count() == 1
    assert list_alerts(indebted) == ["health-under"], "it got worse, and its owner hears of it"


def test_a_price_that_is_not_known_is_told_and_nothing_is_sold(indebted: LiveGolem) -> None:
    tick(indebted.golem)
    world = indebted.world
    world.rpc.call("anvil_setCode", world.tokens["WETH"].feed, "0x")
    record = tick(indebted.golem)
    assert list_alerts(indebted) == ["health-unknown"]
    assert any(each.startswith("HEALTH_UNKNOWN") for each in record.anomalies)
    assert not ActionRecord.objects.exists()


def test_a_debt_deep_under_the_floor_is_lifted_as_far_as_the_rounds_of_a_plan_go(indebted: LiveGolem) -> None:
    set_price(indebted, 1_530)
    before = health(indebted) or 0
    assert 10_000 < before < 11_000
    tick(indebted.golem)
    assert ActionRecord.objects.order_by("pk")[0].state == "EXECUTED", ActionRecord.objects.order_by("pk")[0].problem
    assert (health(indebted) or 0) > before
    for _ in range(3):
        tick(indebted.golem)
    assert (health(indebted) or 0) >= 15_000

"""Whoever plans: what it wants goes the same road, what it did while thinking is written down, what it cost is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from archetypes_app.models import Heartbeat
from golem_project.cockpit.page_contents import build_cockpit
from golem_project.heartbeat import cycle
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.decision_sentences import tell_decision
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.thinking.planner import (
    Deliberation,
    PermitStep,
    Situation,
    TouchedPermit,
    WantedAction,
)
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import SWAP, LiveGolem
from tools_app.core import clock
from tools_app.core.clock import Deadline

PARAMS = {name: value for name, value in SWAP.items() if name not in ("action_type", "venue")}


@dataclass
class ScriptedPlanner:
    """Answers what it was told to, and keeps what it was asked."""

    answer: Any
    asked: list[Situation] = field(default_factory=list)
    name: str = "scripted"

    def deliberate(self, *, situation: Situation, deadline: Deadline, now: datetime) -> Deliberation:
        self.asked.append(situation)
        answer: Deliberation = self.answer(situation) if callable(self.answer) else self.answer
        return answer


def plan_with(monkeypatch: pytest.MonkeyPatch, answer: Any) -> ScriptedPlanner:
    planner = ScriptedPlanner(answer)

    def choose(state: CycleState) -> ScriptedPlanner:
        return planner

    monkeypatch.setattr(cycle, "choose_planner", choose)
    return planner


def think(live: LiveGolem, *, is_live: bool = True) -> Any:
    turn_on(live.golem, rule={}, is_live=is_live)
    tick(live.golem)
    steer_golem(golem=live.golem, text="Swap a little.", actor="owner:1", now=clock.now())
    return tick(live.golem)


def states_of(record: Any) -> list[str]:
    return list(
        ActionRecord.objects.filter(tick_id=record.tick_id).order_by("position").values_list("state", flat=True)
    )


def test_what_a_planner_wants_is_previewed_and_committed_and_its_cost_kept(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = WantedAction("swap", "uniswap", PARAMS, "cheap now")
    planner = plan_with(
        monkeypatch,
        Deliberation(planner="scripted", summary="swap", wanted=(wanted,), cost_micro_usd=2_100, input_llm_tokens=9),
    )
    record = think(live_golem)
    assert states_of(record) == ["EXECUTED"], [each.problem for each in ActionRecord.objects.all()]
    assert record.costs["model_micro_usd"] == "2100" and record.costs["input_llm_tokens"] == 9
    (situation,) = planner.asked
    assert situation.interventions == ("Swap a little.",) and situation.tier == "T2" and situation.is_live
    assert situation.probes["balances"] and situation.golem.pk == live_golem.golem.pk


def test_a_planner_that_wants_nonsense_is_refused_and_the_golem_goes_on(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = (
        WantedAction("steal", "nowhere", {}, "why not"),
        WantedAction("swap", "uniswap", {**PARAMS, "amount": "-1"}, "why not"),
        WantedAction("swap", "uniswap", {**PARAMS, "amount": "99999999999999999999"}, "all of it"),
        WantedAction("swap", "uniswap", PARAMS, "cheap now"),
        WantedAction("swap", "uniswap", {**PARAMS, "amount": "400000000"}, "one too many"),
    )
    plan_with(monkeypatch, Deliberation(planner="scripted", summary="everything", wanted=wanted))
    record = think(live_golem)
    assert states_of(record) == ["BLOCKED", "BLOCKED", "BLOCKED", "EXECUTED"]
    assert [each.problem.get("code") for each in ActionRecord.objects.order_by("position")[:2]] == [
        "UNKNOWN_ACTION",
        "INVALID_PARAMS",
    ]
    assert tick(live_golem.golem).tier == "T0"


def test_a_dry_run_commits_nothing_a_planner_wants(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = WantedAction("swap", "uniswap", PARAMS, "cheap now")
    plan_with(monkeypatch, Deliberation(planner="scripted", summary="swap", wanted=(wanted, wanted)))
    record = think(live_golem, is_live=False)
    assert states_of(record) == ["REHEARSED"] and live_golem.mined_nonce() == 0


def test_what_a_planner_did_while_it_thought_is_in_the_record(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(situation: Situation) -> Deliberation:
        permit = live_golem.commit(live_golem.preview()["permit_id"])
        touched = TouchedPermit(UUID(permit["permit_id"]), "swap", "uniswap", PermitStep.COMMITTED)
        return Deliberation(planner="scripted", summary="did it", touched=(touched,), rounds=3)

    plan_with(monkeypatch, act)
    record = think(live_golem)
    assert states_of(record) == ["EXECUTED"]
    assert record.deliberation["touched"][0]["step"] == "COMMITTED" and record.deliberation["rounds"] == 3


def test_a_planner_that_breaks_fails_its_tick_and_not_the_golem(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(situation: Situation) -> Deliberation:
        raise ZeroDivisionError("secret words of a model")

    plan_with(monkeypatch, explode)
    record = think(live_golem)
    assert record.tick.status == "FAILED" and record.outcome == {"error_code": "INTERNAL_ERROR"}
    assert "secret words" not in str(record.__dict__)
    told = " ".join(tell_decision(record))
    assert "The tick failed before its end (INTERNAL_ERROR)" in told and "It wanted nothing." not in told
    newest = build_cockpit(live_golem.golem, now=clock.now()).decisions[0]
    assert "The tick failed before its end (INTERNAL_ERROR)" in newest.failure
    assert Heartbeat.objects.get(golem=live_golem.golem).lease_expires_at is None
    assert tick(live_golem.golem).tier == "T0"


def test_rules_go_on_where_a_model_is_wanted_and_none_is_set_up(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, planner="MODEL")
    record = tick(live_golem.golem)
    assert record.deliberation["rules_stood_in"] is True and states_of(record) == ["EXECUTED"]

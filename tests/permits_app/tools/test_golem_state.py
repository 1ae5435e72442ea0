"""What a golem is told of itself, and never of another."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.actions.update_vitality import VitalityFacts, update_vitality
from archetypes_app.models import Golem, Heartbeat, HeartbeatTick
from archetypes_app.models.tick import TickStatus
from archetypes_app.toolset import view_golem
from permits_app.actions.halt import halt_golem
from tests import factories
from tools_app.core import clock
from tools_app.runner import run_read
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

pytestmark = pytest.mark.django_db
NAMES = ("golem_get_health", "golem_get_mortality_state", "golem_get_vitality_score", "golem_get_heartbeat_stats")


def ask(golem: Golem, name: str) -> Any:
    tool = REGISTRY.get(name)
    assert isinstance(tool, ReadTool)
    return run_read(tool=tool, params={}, golem=view_golem(Golem.objects.get(pk=golem.pk)), now=clock.now()).data


def test_a_golem_is_told_its_own_ticks_and_vitality_and_not_anothers() -> None:
    mine, other = (factories.make_golem(owner=factories.make_owner(name=name)) for name in ("ada", "bo"))
    now = clock.now()
    update_vitality(golem_id=mine.pk, facts=VitalityFacts(1_000_000_000), now=now)
    Heartbeat.objects.create(golem=mine, is_on=True)
    for number, status in enumerate((TickStatus.COMPLETE, TickStatus.COMPLETE, TickStatus.FAILED)):
        HeartbeatTick.objects.create(
            golem=mine,
            number=number,
            fence=number,
            status=status,
            scheduled_at=now,
            started_at=now + timedelta(seconds=number),
            ended_at=now + timedelta(seconds=number + 1),
            duration_ms=100 * (number + 1),
            lateness_ms=30,
        )
    told = ask(mine, "golem_get_heartbeat_stats")
    assert (told["ticks"], told["completed"], told["failed"], told["is_on"]) == (3, 2, 1, True)
    assert (told["mean_duration_ms"], told["longest_duration_ms"], told["mean_lateness_ms"]) == (200, 300, 30)
    score = ask(mine, "golem_get_vitality_score")
    assert float(score["vitality"]) == pytest.approx(
        float(score["economic"]) * float(score["epistemic"]) * float(score["stochastic"]), abs=1e-6
    )
    assert score["is_epistemic_judged"] is False
    life = ask(mine, "golem_get_mortality_state")
    assert (life["death_state"], life["balance_usd"]) == (None, "1000.000000")
    assert ask(mine, "golem_get_health")["status"] == "WARNING", "a tick failed"
    strange = [ask(other, name) for name in NAMES]
    assert strange[3]["ticks"] == 0 and strange[2]["vitality"] is None and strange[1]["balance_usd"] is None
    assert "its vitality was never measured" in strange[0]["problems"]


def test_a_golem_that_is_halted_is_told_so_and_why() -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ada"))
    halt_golem(golem=golem, reason="a drill", actor="user:owner", now=clock.now())
    told = ask(golem, "golem_get_health")
    assert (told["status"], told["is_halted"], told["halted_because"]) == ("STOPPED", True, "a drill")
    assert "its owner resumes it" in told["problems"][0]


def test_the_names_of_the_first_documents_lead_to_these_reads() -> None:
    known = {alias: tool.name for tool in REGISTRY for alias in tool.aliases}
    assert [known[f"get_{name}"] for name in ("golem_health", "mortality_state", "vitality_score")] == list(NAMES[:3])
    assert known["get_heartbeat_stats"] == NAMES[3]
    assert known["simulate_transaction"] == "safety_simulate_transaction"
    assert known["subscribe_price_feed"] == known["stream_subscribe_price"] == "stream_price_feed"
    assert known["subscribe_trades"] == "stream_trades"
    assert known["get_token_balance"] == "wallet_get_status"

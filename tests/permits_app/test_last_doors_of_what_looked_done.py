"""What looked done, became true and was asked of functions alone: here by pages, requests, previews and ticks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES, BuiltinArchetype
from archetypes_app.models import ToolProfile
from archetypes_app.models.tick import PlannerKind
from archetypes_app.owner_group import ensure_owner_group
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.thinking import model_planner
from golem_project.pi.token_count import count_text
from memory_app.models import DreamJournal, Episode
from memory_app.tasks import dream_task
from tests.admin.rows import page
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.thinking.conftest import make_client
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.live_golem import LiveGolem
from tests.memory_app.test_run_dream import fake_imagine, four_runs, surprise
from tests.scripted_model import say, serve_model
from tools_app.core import clock, event_bus
from tools_app.core.models import OutboxEvent
from tools_app.core.taint import DataSink, clean_for
from tools_app.toolkit.enums import Category
from tools_app.toolkit.outside_services import SERVICES

NOTHING = {"venue": None, "token_in": None, "token_out": None, "amount": None}
LEAST, MOST = 20, 50


@pytest.fixture
def model_of_ticks() -> Iterator[Any]:
    yield model_planner.configure
    model_planner.configure(None)


def test_what_a_request_and_a_tick_tell_beyond_their_schemas_reaches_no_listener(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the server runs, where an undeclared member raises nothing."""
    plain = clean_for

    def smuggle(sink: DataSink, payload: Any) -> Any:
        return {**plain(sink, payload), "smuggled": "for whoever listens"}

    monkeypatch.setattr(event_bus, "_checks_payloads", False)
    monkeypatch.setattr(event_bus, "clean_for", smuggle)
    live_golem.commit(live_golem.preview()["permit_id"])
    turn_on(live_golem.golem, is_live=False)
    tick(live_golem.golem)
    rows = list(OutboxEvent.objects.filter(golem_id=live_golem.golem.pk))
    assert {"permit:created", "permit:committed", "heartbeat:tick"} <= {row.type for row in rows}
    assert [row.type for row in rows if "smuggled" in json.dumps(row.payload)] == []


def test_episodes_an_agent_tagged_are_replayed_together_and_its_owner_reads_so(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = live_golem.golem
    golem.profiles.set(ToolProfile.objects.filter(name="full"))
    for outcome, reflection in (
        ("a stranger's order took half of the pool", "wait until a large order has passed"),
        ("nobody answered our offer for a day", "offers need a price nearer to the market"),
    ):
        asked = {
            "action_type": "store_episode",
            "tool": "uniswap_execute_swap",
            "outcome": outcome,
            "reflection": reflection,
            "dream_tag": "orders",
        }
        done = live_golem.commit(live_golem.preview(**NOTHING, **asked)["permit_id"])
        assert done["status"] == "COMMITTED", done
    tagged = Episode.objects.filter(golem=golem, dream_tag="orders")
    before = dict(tagged.values_list("pk", "stability_days"))
    assert len(before) == 2
    surprise(golem)
    fake_imagine(monkeypatch, four_runs)
    dream_id = dream_task(golem_id=str(golem.pk))
    assert dream_id is not None
    journal = DreamJournal.objects.get(dream_id=dream_id, phase="NREM")
    groups = {each["dream_tag"]: set(each["episode_ids"]) for each in journal.entries if "dream_tag" in each}
    assert groups == {"orders": {str(pk) for pk in before}}
    assert all(days > before[pk] for pk, days in tagged.values_list("pk", "stability_days"))
    owner = Client()
    live_golem.owner.groups.add(ensure_owner_group())
    owner.force_login(live_golem.owner)
    assert "orders" in owner.get(page("memory_app.dreamjournal", "change", journal.pk)).content.decode()


def test_every_snippet_an_agent_is_sent_is_as_long_as_a_line_should_be(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=[category.value for category in Category])
    manifest = agent.get("manifest").json()
    listed = (*manifest["tools"], *manifest["actions"], *manifest["queries"])
    snippets = {each["snippet"] for each in listed if "snippet" in each}
    counted = {text: count_text(text, tokenizer="o200k_base") for text in snippets}
    assert len(counted) > 50
    assert {text: length for text, length in counted.items() if not LEAST <= length <= MOST} == {}


@pytest.mark.parametrize("archetype", BUILTIN_ARCHETYPES, ids=lambda each: each.name)
def test_every_archetypes_skill_says_what_it_is_and_how_it_works(archetype: BuiltinArchetype) -> None:
    answer = Client().get(f"/skills/{archetype.name}.md")
    assert answer.status_code == 200
    text = answer.content.decode()
    assert [part for part in (archetype.role, archetype.workflow, archetype.output_format) if part not in text] == []
    assert [line for line in archetype.safety_rules if line not in text] == []


def test_a_golems_model_is_told_all_that_its_archetype_knows(live_golem: LiveGolem, model_of_ticks: Any) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Look around.", actor="owner:1", now=clock.now())
    with serve_model([say("I looked.")]) as model:
        model_of_ticks(make_client(model.url))
        tick(live_golem.golem)
    archetype = live_golem.golem.archetype
    parts = (archetype.role, archetype.workflow, archetype.output_format, *archetype.expertise, *archetype.safety_rules)
    assert archetype.expertise and archetype.safety_rules
    assert [part for part in parts if part not in model.instructions] == []


def test_an_agent_without_anything_is_told_of_wallet_and_memory_and_of_no_key_that_no_tool_needs(
    make_agent: MakeAgent, settings: Any
) -> None:
    """What a server once could lend (a key of Uniswap's, the address of its limit orders) is no setting: its owner
    switches services on.
    """
    settings.GOLEM_MEMORY_ENABLED = False
    agent: Agent = make_agent(categories=[category.value for category in Category], address="", is_memory_enabled=False)
    left_out = agent.get("manifest").json()["left_out"]
    of_owners = set(SERVICES)
    assert {each["needs"] for each in left_out} - of_owners == {"wallet", "memory", "smart_wallet"}


@pytest.mark.parametrize("name", ["GOLEM_HEARTBEAT_CLAIM_SECONDS", "GOLEM_UNISWAP_API_KEY", "GOLEM_LIMIT_ORDERS_URL"])
def test_a_setting_without_effect_is_gone(name: str) -> None:
    assert not hasattr(settings, name)
    example = (settings.BASE_DIR / ".env.example").read_text(encoding="utf-8")
    assert name not in example

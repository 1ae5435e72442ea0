"""What an owner wrote once is told to the golem's model in every request: strategy, rule, and the agents' own notes."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Heartbeat
from golem_project.heartbeat.thinking.owner_instructions import read_standing_words
from memory_app.actions.update_directive import update_directive
from memory_app.models.directive import Document
from tests.golem_project.heartbeat.thinking.conftest import Think
from tests.live_golem import LiveGolem, World, make_live_golem
from tests.scripted_model import call, say
from tools_app.core import clock
from tools_app.core.models import AuditEntry

RULE = {"token_a": "USDC", "token_b": "WETH", "fee_tier": 500, "half_width_bps": 500, "target_micro_usd": 500_000_000}


def write(live: LiveGolem, section: str, text: str, *, document: Document = Document.STRATEGY) -> None:
    update_directive(
        golem_id=live.golem.pk,
        section=section,
        change=text,
        reason="as agreed",
        actor="user:1" if document is Document.STRATEGY else "key:1",
        now=clock.now(),
        document=document,
    )


def test_strategy_rule_and_playbook_stand_in_every_request_strategy_first_and_before_the_tools(
    live_golem: LiveGolem, think: Think
) -> None:
    write(live_golem, "Taste", "Never hold more than a third in WETH.")
    write(live_golem, "Gas", "Gas is cheap at night.", document=Document.PLAYBOOK)
    Heartbeat.objects.update_or_create(golem=live_golem.golem, defaults={"liquidity_rule": RULE})
    found, model = think(live_golem.golem, call("query_state", query="limits"), say("ok"))
    assert found.stopped_by == ""
    for request in model.requests:
        told = next(each["content"] for each in request["messages"] if each["role"] == "system")
        places = [
            told.index(words)
            for words in (
                "STRATEGY is your owner's standing word",
                "STRATEGY, by your owner (version 1):\n### Taste\nNever hold more than a third in WETH.",
                "one position of USDC and WETH in the pool of fee tier 500, 5% to each side, worth $500",
                "PLAYBOOK, noted by agents of this golem (version 1):\n### Gas\nGas is cheap at night.",
                "Your tools:",
            )
        ]
        assert places == sorted(places)
    assert found.directives == {"STRATEGY": 1, "PLAYBOOK": 1}
    (entry,) = AuditEntry.objects.filter(golem_id=live_golem.golem.pk, event="InferenceCall")
    assert entry.data["directives"] == {"STRATEGY": "1", "PLAYBOOK": "1"}


def test_a_changed_strategy_is_told_with_its_new_version_the_next_time(live_golem: LiveGolem, think: Think) -> None:
    write(live_golem, "Taste", "Hold WETH.")
    write(live_golem, "Taste", "Hold USDC.")
    found, model = think(live_golem.golem, say("ok"))
    assert "(version 2):\n### Taste\nHold USDC." in model.instructions
    assert "Hold WETH." not in model.instructions
    assert found.directives == {"STRATEGY": 2}


def test_who_wrote_nothing_is_told_nothing(live_golem: LiveGolem, think: Think) -> None:
    found, model = think(live_golem.golem, say("ok"))
    assert found.directives == {} and "(version" not in model.instructions
    assert "Your owner's rule" not in model.instructions


def test_another_golems_strategy_is_never_told(live_golem: LiveGolem, local_chain: World, think: Think) -> None:
    write(make_live_golem(local_chain, name="Other", owner_name="owner-b"), "Taste", "Only NEIGHBOUR tokens.")
    _, model = think(live_golem.golem, say("ok"))
    assert "NEIGHBOUR" not in model.instructions


def test_strategy_takes_the_room_before_playbook_and_what_found_none_is_named(
    live_golem: LiveGolem, think: Think, settings: Any
) -> None:
    settings.GOLEM_THINKING_STANDING_CHARACTERS = 400
    write(live_golem, "First", "a" * 300)
    write(live_golem, "Second", "b" * 300)
    write(live_golem, "Third", "short")
    write(live_golem, "Note", "c" * 100, document=Document.PLAYBOOK)
    found, model = think(live_golem.golem, say("ok"))
    told = model.instructions
    assert "a" * 300 in told and "### Third\nshort" in told
    assert "b" * 300 not in told and "c" * 100 not in told
    assert "(Without room here: Second. search_context finds them.)" in told
    assert "(Without room here: Note. search_context finds them.)" in told
    assert found.left_out == {"STRATEGY": ("Second",), "PLAYBOOK": ("Note",)}


def test_a_secret_in_a_strategy_does_not_reach_the_model(live_golem: LiveGolem, think: Think) -> None:
    key = "golem_" + "Ab3" * 16
    write(live_golem, "Keys", f"use {key} for the API")
    _, model = think(live_golem.golem, say("ok"))
    assert key not in model.instructions and "### Keys" in model.instructions


@pytest.mark.parametrize("stored", [{"token_a": 3}, {"fee_tier": 1}])
def test_a_rule_that_this_version_does_not_read_is_left_out_and_stops_nothing(
    live_golem: LiveGolem, stored: dict[str, Any]
) -> None:
    Heartbeat.objects.update_or_create(golem=live_golem.golem, defaults={"liquidity_rule": stored})
    assert read_standing_words(golem=live_golem.golem, most_characters=1_000).rule == ""

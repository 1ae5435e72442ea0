"""A watchdog looks at what others announced, and cancels it, in a tick of its own: claimed, thought and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype, Golem
from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.thinking import model_planner
from permits_app.actions.announce_warden_actions import turn_warden_on
from permits_app.doors.request_commit import request_commit
from tests import factories
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.thinking.conftest import Think, make_client
from tests.live_golem import LiveGolem
from tests.scripted_model import Answer, call, say, serve_model
from tools_app.core import clock
from tools_app.core.models import AuditEntry


@pytest.fixture
def announced(live_golem: LiveGolem, think: Think) -> Iterator[str]:
    """The id of a swap that a golem with a Warden announced; the ticks of this process ask a model."""
    sync_builtins()
    golem = live_golem.golem
    turn_warden_on(golem=golem, actor="owner:1", reason="I want to see it first", now=clock.now())
    permit_id: str = live_golem.preview()["permit_id"]
    key = live_golem.key.key
    request_commit(golem=golem, api_key=key, permit_id=UUID(permit_id), wait_seconds=0, request_id="announces")
    assert live_golem.permit(permit_id).status == "ANNOUNCED"
    yield permit_id
    model_planner.configure(None)


def make_dog(owner: Any, name: str = "Dog") -> Golem:
    """A watchdog that thinks with a model and was told to look."""
    kind = Archetype.objects.get(name="vault-watchdog")
    dog = factories.make_golem(owner=owner, name=name, archetype=kind)
    turn_on(dog, rule={}, planner=PlannerKind.MODEL)
    steer_golem(golem=dog, text="Look what is announced.", actor="owner:1", now=clock.now())
    return dog


def think_in_a_tick(dog: Golem, *script: Answer) -> list[dict[str, Any]]:
    """One whole tick with a model that says this; what its tools answered."""
    with serve_model(script) as model:
        model_planner.configure(make_client(model.url))
        record = tick(dog)
    assert len(model.requests) == len(script), record.gating_reason
    return [json.loads(message["content"]) for message in model.requests[-1]["messages"] if message["role"] == "tool"]


def test_a_watchdog_sees_what_is_announced_and_cancels_it_from_its_own_tick(
    live_golem: LiveGolem, announced: str
) -> None:
    dog = make_dog(live_golem.owner)
    stop = call("cancel_action", permit_id=announced, reason="it would drain the vault")
    seen, cancelled = think_in_a_tick(dog, call("query_state", query="permits"), stop, say("Stopped it."))
    assert [each["permit_id"] for each in seen["data"]["announced_by_others"]] == [announced]
    assert cancelled["status"] == "CANCELLED"
    assert live_golem.permit(announced).status == "CANCELLED"
    entry = AuditEntry.objects.get(golem_id=live_golem.golem.pk, event="PermitCancelled")
    assert entry.data["reason"] == "it would drain the vault"


def test_a_watchdog_of_somebody_else_sees_nothing_in_its_tick_and_cancels_nothing(
    live_golem: LiveGolem, announced: str
) -> None:
    dog = make_dog(factories.make_owner(name="somebody else"))
    stop = call("cancel_action", permit_id=announced, reason="not mine")
    seen, refused = think_in_a_tick(dog, call("query_state", query="permits"), stop, say("Nothing to see."))
    assert seen["data"]["announced_by_others"] == []
    assert "PERMIT_NOT_FOUND" in str(refused)
    assert live_golem.permit(announced).status == "ANNOUNCED"

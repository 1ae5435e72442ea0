"""A whole tick whose planner is a model: nine steps, one record, costs; and a worker killed while the model thinks."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models import ModelSpendDay
from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.decision_sentences import tell_decision
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.thinking import model_planner
from golem_project.heartbeat.thinking.delegate_thinker import ModelDelegateThinker
from golem_project.heartbeat.thinking.model_planner import ModelPlanner
from permits_app.actions.announce_warden_actions import execute_announced, turn_warden_on
from permits_app.actions.sweep_permits import sweep_permits
from permits_app.models import ActionPermit, Announcement, SpendEntry
from permits_app.models.action_record import ActionRecord
from permits_app.reviewers import delegate_to_archetype
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.test_known_market import read_decision
from tests.golem_project.heartbeat.thinking.conftest import Think, make_client, make_situation
from tests.golem_project.heartbeat.thinking.test_model_planner import assert_consistent, preview_swap
from tests.golem_project.heartbeat.thinking.test_owner_instructions import write
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass_until
from tests.scripted_model import Reply, call, commit_last, say, serve_model
from tools_app.core import clock
from tools_app.core.clock import Deadline


@pytest.fixture
def model_of_ticks() -> Iterator[Any]:
    """Sets the planner the ticks of this process ask."""
    yield model_planner.configure
    model_planner.configure(None)


def test_a_tick_thinks_with_the_model_and_keeps_what_it_did_and_cost(
    live_golem: LiveGolem, think: Think, model_of_ticks: Any
) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Swap a little.", actor="owner:1", now=clock.now())
    with serve_model([preview_swap(), commit_last(), say("Swapped as you asked.")]) as model:
        model_of_ticks(make_client(model.url))
        record = tick(live_golem.golem)
    assert record.tier == "T2"
    assert "Swap a little." in model.opening.split("The situation, as data:")[0]
    assert "Swapped as you asked." in str(record.deliberation)
    assert int(record.costs["model_micro_usd"]) == ModelSpendDay.objects.get(golem=live_golem.golem).spent_micro_usd
    (action,) = ActionRecord.objects.filter(golem=live_golem.golem)
    assert action.permit is not None and action.permit.status == "COMMITTED"
    assert_consistent(live_golem, committed=1)


def test_the_decision_says_what_the_model_was_told_asked_was_refused_and_cost_in_that_order(
    live_golem: LiveGolem, think: Think, model_of_ticks: Any
) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Swap a lot.", actor="owner:1", now=clock.now())
    script = [call("query_state", query="limits"), preview_swap(amount="10500000000"), say("It is too much.")]
    with serve_model(script) as model:
        model_of_ticks(make_client(model.url))
        record = tick(live_golem.golem)
    lines = tell_decision(record)
    starts = ["Its model was told about ", "It asked for: ", "Refused was ", "Thinking cost "]
    places = [next(place for place, line in enumerate(lines) if line.startswith(start)) for start in starts]
    assert places == sorted(places)
    told, asked, refused, cost = (lines[place] for place in places)
    assert "How this house works" in told and "The owner says" in told and "The situation, as data" in told
    titles = [title for title, _ in record.deliberation["told"]]
    assert titles[0] == f"You are {live_golem.golem.name}" and titles[-1] == "The situation, as data"
    assert not [title for title in titles if set(title) & set('.{"')], titles
    assert asked == "It asked for: query_state (limits), preview_action (swap)."
    assert "preview_action (swap): this could cost" in refused and "(SAFETY_SPENDING_LIMIT_EXCEEDED)." in refused
    assert "2,900 tokens were read and 160 written" in cost
    shares = [tokens for _, tokens in record.deliberation["told"]]
    assert abs(sum(shares) - len(model.instructions + model.opening) // 4) <= len(shares) * 2
    page = read_decision(live_golem.golem, record)
    on_page = [page.index(f"<p>{line}</p>") for line in lines]
    assert on_page == sorted(on_page), "the page says the sentences in their order, before what is stored"


def test_the_decision_says_which_version_of_its_owners_words_was_told_and_what_found_no_room(
    live_golem: LiveGolem, think: Think, model_of_ticks: Any, settings: Any
) -> None:
    settings.GOLEM_THINKING_STANDING_CHARACTERS = 100
    write(live_golem, "Taste", "Hold WETH.")
    write(live_golem, "Taste", "Hold USDC.")
    write(live_golem, "Long", "a" * 300)
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Look around.", actor="owner:1", now=clock.now())
    with serve_model([say("Nothing to do.")]) as model:
        model_of_ticks(make_client(model.url))
        page = read_decision(live_golem.golem, tick(live_golem.golem))
    assert "<p>It was told STRATEGY in version 3.</p>" in page
    assert "<p>Of STRATEGY there was no room for: Long.</p>" in page


def test_what_a_tick_cost_has_its_delegates_in_it(live_golem: LiveGolem, think: Think, model_of_ticks: Any) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Let somebody look.", actor="owner:1", now=clock.now())
    asked = call("preview_action", action_type="delegate", target="trade-executor", instruction="Look around")
    with serve_model([asked, commit_last(), say("Somebody looked.")]) as model, serve_model([say("Seen.")]) as other:
        model_of_ticks(make_client(model.url))
        delegate_to_archetype.configure(ModelDelegateThinker(make_client(other.url)))
        try:
            record = tick(live_golem.golem)
        finally:
            delegate_to_archetype.configure(None)
    assert len(other.requests) == 1
    spent = ModelSpendDay.objects.get(golem=live_golem.golem).spent_micro_usd
    assert int(record.costs["model_micro_usd"]) == spent
    assert 0 < int(record.costs["delegates_micro_usd"]) < spent
    assert record.costs["input_llm_tokens"] == 1_000 + 1_200 + 900 + 900
    assert record.costs["output_llm_tokens"] == 60 + 30 + 40 + 40


def test_a_tick_in_rehearsal_commits_nothing_whatever_the_model_asks(
    live_golem: LiveGolem, think: Think, model_of_ticks: Any
) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL, is_live=False)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Swap a little.", actor="owner:1", now=clock.now())
    with serve_model([preview_swap(), commit_last(), say("Rehearsed.")]) as model:
        model_of_ticks(make_client(model.url))
        record = tick(live_golem.golem)
    assert "GOLEM_IN_DRY_RUN" in str(record.deliberation)
    assert_consistent(live_golem)


def test_a_quiet_tick_asks_no_model(live_golem: LiveGolem, think: Think, model_of_ticks: Any) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    with serve_model([say("never asked")]) as model:
        model_of_ticks(make_client(model.url))
        tick(live_golem.golem)
        assert tick(live_golem.golem).tier == "T0"
    assert model.requests == []


def test_a_model_is_told_what_waits_and_what_became_of_it_and_cannot_ask_twice(
    live_golem: LiveGolem, think: Think, model_of_ticks: Any
) -> None:
    golem = live_golem.golem
    turn_warden_on(golem=golem, actor="owner:1", reason="I want to see it first", now=clock.now())
    turn_on(golem, rule={}, planner=PlannerKind.MODEL)
    tick(golem)
    steer_golem(golem=golem, text="Swap a little.", actor="owner:1", now=clock.now())
    with serve_model([preview_swap(), commit_last(), say("It is announced.")]) as model:
        model_of_ticks(make_client(model.url))
        tick(golem)
    (action,) = ActionRecord.objects.filter(golem=golem)
    assert action.permit is not None
    assert (action.state, action.permit.status) == ("WAITING", "ANNOUNCED")

    steer_golem(golem=golem, text="And again.", actor="owner:1", now=clock.now())
    with serve_model([preview_swap(), say("It comes by itself.")]) as model:
        model_of_ticks(make_client(model.url))
        tick(golem)
    assert read_situation(model.opening)["waiting_for_somebody"][0]["permit_id"] == str(action.permit_id)
    assert '"status":"ANNOUNCED"' in model.requests[1]["messages"][-1]["content"].replace('": "', '":"')
    assert ActionPermit.objects.filter(golem=golem).count() == ActionRecord.objects.filter(golem=golem).count() == 1

    due = Announcement.objects.get(permit=action.permit).executes_at
    execute_announced(permit_id=action.permit.pk, now=let_pass_until(due, chain=live_golem.world))
    with serve_model([say("Good.")]) as model:
        model_of_ticks(make_client(model.url))
        record = tick(golem)
        quiet = tick(golem)
    assert record.tier == "T1" and len(model.requests) == 1
    (ended,) = read_situation(model.opening)["ended_since_you_were_asked"]
    assert (ended["state"], ended["is_verified"], ended["permit_id"]) == ("EXECUTED", True, str(action.permit_id))
    assert quiet.tier == "T0", quiet.gating_reason
    assert_consistent(live_golem, committed=1)


def read_situation(opening: str) -> dict[str, Any]:
    """The data of the first message."""
    found: dict[str, Any] = json.loads(opening.split("The situation, as data:")[1])
    return found


def test_a_worker_killed_while_the_model_thinks_leaves_a_consistent_golem(shared_golem: LiveGolem) -> None:
    """The child dies in the middle of its second request: a permit is open, a reservation of the day is left."""
    child = 0

    def kill(request: dict[str, Any]) -> Reply:
        os.kill(child, signal.SIGKILL)
        return say("nobody hears this")(request)

    with serve_model([preview_swap(), kill, call("query_state", query="permits"), say("Going on.")]) as model:
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.read(read_end, 1)
                planner = ModelPlanner(make_client(model.url))
                planner.deliberate(
                    situation=make_situation(shared_golem.golem), deadline=Deadline.after_ms(30_000), now=clock.now()
                )
            finally:
                os._exit(0)
        os.write(write_end, b"x")
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        (permit,) = ActionPermit.objects.filter(golem=shared_golem.golem)
        day = ModelSpendDay.objects.get(golem=shared_golem.golem)
        assert permit.status == "CREATED"
        assert (day.requests, day.reserved_micro_usd > 0) == (2, True)

        planner = ModelPlanner(make_client(model.url))
        found = planner.deliberate(
            situation=make_situation(shared_golem.golem), deadline=Deadline.after_ms(30_000), now=clock.now()
        )
    assert (found.stopped_by, found.summary) == ("", "Going on.")
    later = ModelSpendDay.objects.get(golem=shared_golem.golem)
    assert later.reserved_micro_usd == day.reserved_micro_usd  # a bill nobody saw counts until the day ends
    sweep_permits(now=clock.now() + timedelta(minutes=5))
    permit.refresh_from_db()
    assert permit.status == "EXPIRED"
    assert not SpendEntry.objects.filter(permit=permit, state="RESERVED").exists()
    assert shared_golem.mined_nonce() == 0

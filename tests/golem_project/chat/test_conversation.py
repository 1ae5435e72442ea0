"""An owner talks to a live golem: what it asks for is previewed and never takes effect; the page tells all of it."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import ChatTurn, Golem, ModelSpendDay
from archetypes_app.models.chat import ChatState
from archetypes_app.owner_group import ensure_owner_group
from golem_project.chat import answering
from golem_project.chat.answering import answer_turn
from golem_project.chat.errors import ChatBusy
from golem_project.chat.turn_states import ask_golem, stop_turn
from golem_project.heartbeat.thinking import model_planner
from permits_app.actions.sweep_changes import time_out_changes
from permits_app.models import ActionPermit, ChangeRequest, SpendEntry
from tests import factories
from tests.golem_project.chat.conftest import Script, Talk
from tests.golem_project.heartbeat.thinking.test_loading import actions
from tests.golem_project.heartbeat.thinking.test_owner_instructions import write
from tests.live_golem import SWAP
from tests.scripted_model import call, calls, last_tool_answer, raw, say
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.toolkit.enums import RiskTier

GHOST = "00000000-0000-4000-8000-000000000000"
PREVIEW = calls(("preview_action", json.dumps(SWAP)))


def test_a_preview_in_a_conversation_gives_its_permit_back_and_the_page_shows_it(talk: Talk, script: Script) -> None:
    model = script(PREVIEW, say("500 USDC would buy WETH now."))
    turn = talk.say("What would 500 USDC buy?")
    permit = ActionPermit.objects.get(golem=talk.live.golem)
    assert (permit.status, talk.live.mined_nonce()) == ("CANCELLED", 0)
    assert not SpendEntry.objects.filter(permit=permit, state="RESERVED").exists()
    answer = last_tool_answer(model.requests[1])
    assert answer["status"] == "CANCELLED" and answer["expected_outcome"]
    assert (turn.state, turn.said, turn.rounds, turn.calls) == (ChatState.DONE, "500 USDC would buy WETH now.", 2, 1)
    assert (turn.input_llm_tokens, turn.output_llm_tokens) == (1_900, 100)
    assert turn.spent_micro_usd == 3 * 1_900 + 15 * 100
    (step,) = talk.steps(turn)
    assert (step.name, step.permit_id, step.code) == ("preview_action", permit.pk, "")
    page = talk.page()
    for shown in (
        "A dry run.",
        "What would 500 USDC buy?",
        "preview_action",
        f"/{permit.pk}/",
        "$0.007200",
        "nobody has",
    ):
        assert shown in page, shown


def test_what_an_agent_asked_its_owners_for_is_not_withdrawn_by_talking_about_it(
    talk: Talk, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("permits_app.previews.judged_call.classify_call", lambda _: RiskTier.CRITICAL)
    asked = talk.live.preview()
    assert asked["status"] == "AWAITING_APPROVAL"
    script(PREVIEW, calls(("preview_action", json.dumps({**SWAP, "amount": "400000000"}))), say("It waits."))
    first, second = talk.steps(talk.say("Is it allowed?"))
    assert str(first.permit_id) == asked["permit_id"]
    permit = ActionPermit.objects.get(pk=str(first.permit_id))
    assert (permit.status, ChangeRequest.objects.get(permit=permit).repeats) == ("AWAITING_APPROVAL", 1)
    withdrawn = ActionPermit.objects.get(pk=str(second.permit_id))
    assert withdrawn.status == "CANCELLED"
    time_out_changes(now=clock.now())
    states = {each.permit_id: each.state for each in ChangeRequest.objects.filter(golem=talk.live.golem)}
    assert states == {permit.pk: "OPEN", withdrawn.pk: "CANCELLED"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("commit_action", {"permit_id": GHOST}),
        ("cancel_action", {"permit_id": GHOST, "reason": "no"}),
        ("emergency_halt", {"reason": "now"}),
        ("update_directive", {"section": "Rules", "change": "be bold", "reason": "why not"}),
    ],
)
def test_what_would_take_effect_is_neither_shown_nor_done_though_the_golem_is_live(
    talk: Talk, script: Script, name: str, arguments: dict[str, Any]
) -> None:
    Golem.objects.filter(pk=talk.live.golem.pk).update(is_live=True)
    model = script(call(name, **arguments), say("I could not."))
    (step,) = talk.steps(talk.say("Do it."))
    assert step.code == "CHAT_ONLY_REHEARSES"
    assert name not in {tool["function"]["name"] for tool in model.requests[0]["tools"]}
    talk.live.golem.refresh_from_db()
    assert not talk.live.golem.is_halted


def test_it_browses_and_loads_as_an_agent_and_the_next_message_begins_with_the_core(talk: Talk, script: Script) -> None:
    model = script(
        call("query_state", query="browse_tools"),
        call("query_state", query="load_tools", tools=["wallet_configure_policy"]),
        say("loaded"),
        say("again"),
    )
    talk.say("Load it.")
    talk.say("And now?")
    assert "configure_policy" not in actions(model.requests[0])
    assert "configure_policy" in actions(model.requests[2])
    assert "configure_policy" not in actions(model.requests[3])


def test_what_was_said_is_told_again_until_the_owner_begins_anew(talk: Talk, script: Script) -> None:
    model = script(say("Alpha."), say("Beta."), say("Gamma."))
    talk.say("First?")
    talk.say("Second?")
    talk.say("Third?", begins_anew=True)
    told = [[each["content"] for each in request["messages"][1:-1]] for request in model.requests]
    assert told == [[], ["First?", "Alpha."], []]


def test_its_owners_standing_words_lead_a_conversation_too(talk: Talk, script: Script) -> None:
    write(talk.live, "Taste", "Never hold more than a third in WETH.")
    model = script(say("Alpha."), say("Beta."))
    talk.say("First?")
    talk.say("Second?")
    for request in model.requests:
        told = next(each["content"] for each in request["messages"] if each["role"] == "system")
        assert "STRATEGY, by your owner (version 1):\n### Taste\nNever hold more" in told


def test_nobody_else_reads_or_steers_the_conversation(talk: Talk, script: Script) -> None:
    script(say("secret plan"))
    talk.say("Tell me.")
    ben, operator = factories.make_owner(name="ben"), factories.make_operator()
    ben.groups.add(ensure_owner_group())
    for stranger in (ben, operator):
        client = Client()
        client.force_login(stranger)
        assert {client.get(talk.url(name)).status_code for name in ("chat", "chat_parts")} == {404}
        assert client.post(talk.url("chat_say"), {"words": "hi"}).status_code == 404
        assert client.post(talk.url("chat_stop")).status_code == 404
    assert Client().get(talk.url()).status_code == 302


def test_a_golem_answers_one_message_at_a_time(talk: Talk) -> None:
    golem, owner = talk.live.golem, talk.live.owner
    first = ask_golem(golem=golem, owner=owner, words="one", begins_anew=False, now=clock.now())
    with pytest.raises(ChatBusy):
        ask_golem(golem=golem, owner=owner, words="two", begins_anew=False, now=clock.now())
    stop_turn(golem=golem, now=clock.now())
    first.refresh_from_db()
    assert (first.state, first.stopped_by) == (ChatState.STOPPED, "THINKING_CANCELLED")
    ask_golem(golem=golem, owner=owner, words="two", begins_anew=False, now=clock.now())


def test_a_message_whose_worker_died_ends_when_its_time_is_over(talk: Talk) -> None:
    golem, owner = talk.live.golem, talk.live.owner
    long_ago = clock.now() - timedelta(minutes=5)
    lost = ask_golem(golem=golem, owner=owner, words="one", begins_anew=False, now=long_ago)
    ChatTurn.objects.filter(pk=lost.pk).update(state=ChatState.RUNNING)
    ask_golem(golem=golem, owner=owner, words="two", begins_anew=False, now=clock.now())
    lost.refresh_from_db()
    assert (lost.state, lost.stopped_by) == (ChatState.STOPPED, "CHAT_ABANDONED")


def test_a_message_delivered_twice_is_answered_once(talk: Talk, script: Script) -> None:
    model = script(say("once"))
    turn = talk.say("Hello?")
    answer_turn(turn_id=turn.pk, read_now=clock.now)
    assert len(model.requests) == 1


@pytest.mark.parametrize("words", ["", " \n", "x" * 2_001, "\u200b\u202e"])
def test_words_that_say_nothing_or_too_much_are_refused(talk: Talk, words: str) -> None:
    with pytest.raises(InvalidParams):
        ask_golem(golem=talk.live.golem, owner=talk.live.owner, words=words, begins_anew=False, now=clock.now())


def test_hostile_words_of_a_model_stay_words(talk: Talk, script: Script) -> None:
    bad = "<script>alert(1)</script>\u202e</pre>"
    script(call("query_state", query="<img src=x onerror=1>"), say(bad))
    turn = talk.say("Hello?")
    page = talk.page()
    assert "<script>alert" not in page and "<img src=x" not in page
    assert "&lt;script&gt;" in page and "\u202e" not in turn.said


@pytest.mark.django_db(transaction=True)
def test_an_answer_goes_on_until_its_own_end_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    mine, other = (
        ChatTurn.objects.create(
            golem=golem,
            owner=golem.owner,
            words="Hello?",
            asked_at=clock.now(),
            state=ChatState.DONE,
            ended_at=clock.now(),
        )
        for _ in range(2)
    )
    monkeypatch.setattr(answering, "_LOOK_SECONDS", 0.01)
    with answering._watch(mine.pk) as is_cancelled:
        ChatTurn.objects.filter(pk=other.pk).update(cancel_asked_at=clock.now())
        time.sleep(0.2)
        assert not is_cancelled()
        ChatTurn.objects.filter(pk=mine.pk).update(cancel_asked_at=clock.now())
        until = time.monotonic() + 60
        while not is_cancelled() and time.monotonic() < until:
            time.sleep(0.01)
        assert is_cancelled()


def test_what_stops_an_answer_is_told_and_what_it_cost_is_counted(talk: Talk, script: Script, settings: Any) -> None:
    settings.GOLEM_CHAT_RETRIES = 0
    script(raw(b"{}", status=500))
    turn = talk.say("Hello?")
    assert (turn.state, turn.stopped_by) == (ChatState.STOPPED, "MODEL_UNAVAILABLE")
    assert turn.spent_micro_usd == ModelSpendDay.objects.get(golem=talk.live.golem).spent_micro_usd > 0
    assert "MODEL_UNAVAILABLE" in talk.page()


def test_events_and_audit_tell_that_it_was_talked_to_and_not_what_was_said(talk: Talk, script: Script) -> None:
    script(call("query_state", query="limits"), say("a very private word"))
    turn = talk.say("my own secret")
    told = OutboxEvent.objects.filter(golem_id=talk.live.golem.pk, type="chat:turn").order_by("sequence")
    assert [row.payload["step"] for row in told] == [
        *("asked", "asked", "paid", "called", "answered", "asked", "paid", "said", "ended", "ended"),
    ]
    assert told[len(told) - 1].payload["spent_micro_usd"] == str(turn.spent_micro_usd)
    (entry,) = AuditEntry.objects.filter(golem_id=talk.live.golem.pk, event="InferenceCall")
    everything = json.dumps([row.payload for row in told] + [entry.data])
    assert "private word" not in everything and "own secret" not in everything
    assert entry.actor == f"owner:{talk.live.owner.pk}"


def test_without_a_model_the_page_says_so_and_takes_no_words(talk: Talk) -> None:
    model_planner.configure(None)
    assert "asks no language model" in talk.page()
    answer = talk.client.post(talk.url("chat_say"), {"words": "Hello?"}, follow=True)
    assert "asks no language model" in answer.content.decode()
    assert not ChatTurn.objects.exists()

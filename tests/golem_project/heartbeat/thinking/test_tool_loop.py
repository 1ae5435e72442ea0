"""The one loop by itself: a real endpoint over HTTP, and a desk whose calls can be watched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import pytest

from golem_project.heartbeat.thinking.errors import ThinkingTooDear
from golem_project.heartbeat.thinking.loop_values import (
    ConversationLimits,
    Exchange,
    Happening,
    HappeningKind,
    Transcript,
    never,
)
from golem_project.heartbeat.thinking.model_client import GolemPurse, ModelClient
from golem_project.heartbeat.thinking.tool_loop import hold_conversation
from tests import factories
from tests.golem_project.heartbeat.thinking.conftest import PRICE, make_client
from tests.scripted_model import Answer, Reply, ScriptedModel, call, calls, raw, say, serve_model, slow
from tools_app.core.clock import Deadline
from tools_app.core.errors import InvalidParams

pytestmark = pytest.mark.django_db

LIMITS = ConversationLimits(
    rounds=8,
    calls=20,
    identical_calls=9,
    argument_bytes=2_000,
    request_seconds=10,
    summary_characters=100,
    retry_seconds=0.01,
)
AWAY = raw(b"{}", status=500)


class Desk:
    """Answers with its own words; `read_*` change nothing, and meet at `meeting` where there is one."""

    is_over = False
    tools: tuple[Any, ...] = ()

    def __init__(self, meeting: threading.Barrier | None = None) -> None:
        self.meeting = meeting
        self.ran: list[str] = []

    def may_run_beside(self, *, name: str, arguments: Mapping[str, Any]) -> bool:
        return name.startswith("read_")

    def run(self, *, name: str, arguments: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
        self.ran.append(name)
        if name == "read_wrong":
            raise InvalidParams("wrong")
        if self.meeting is not None and name.startswith("read_"):
            self.meeting.wait(30)
        return {"name": name, **arguments}


class Played:
    """What came of one conversation."""

    def __init__(self, transcript: Transcript, told: list[Happening], model: ScriptedModel, purse: GolemPurse) -> None:
        self.transcript, self.told, self.model, self.purse = transcript, told, model, purse

    def kinds(self) -> list[str]:
        return [str(each.kind) for each in self.told]


Play = Callable[..., Played]


@pytest.fixture
def play() -> Play:
    golem = factories.make_golem(owner=factories.make_owner())

    def run(
        *script: Answer,
        desk: Desk | None = None,
        history: tuple[Exchange, ...] = (),
        most_micro_usd: int | None = None,
        is_cancelled: Callable[[], bool] = never,
        told: list[Happening] | None = None,
        **limits: Any,
    ) -> Played:
        told = [] if told is None else told
        purse = GolemPurse(
            golem_id=golem.pk,
            price=PRICE,
            most_output_llm_tokens=2_048,
            cap_micro_usd=10_000_000,
            most_micro_usd=most_micro_usd,
        )
        with serve_model(script) as model, open_dialogue(make_client(model.url), history) as dialogue:
            transcript = hold_conversation(
                dialogue=dialogue,
                desk=desk or Desk(),
                purse=purse,
                limits=replace(LIMITS, **limits),
                deadline=Deadline.after_ms(60_000),
                listen=told.append,
                is_cancelled=is_cancelled,
            )
        return Played(transcript, told, model, purse)

    return run


@contextmanager
def open_dialogue(client: ModelClient, history: tuple[Exchange, ...]) -> Iterator[Any]:
    model = next(iter(client.models.values()))
    with client.open(model=model, instructions="Be.", opening="Now?", tools=(), history=history) as dialogue:
        yield dialogue


def test_every_step_is_told_in_its_order_with_what_was_spent_so_far(play: Play) -> None:
    played = play(call("look", at=1), say("done"))
    assert played.kinds() == ["asked", "paid", "called", "answered", "asked", "paid", "said", "ended"]
    assert played.told[3].answer == {"name": "look", "at": 1}
    assert [each.spent_micro_usd for each in played.told][1] == 3 * 1_000 + 15 * 60
    assert played.told[-1].spent_micro_usd == played.purse.spent_micro_usd == 3 * 1_900 + 15 * 100


def test_reads_that_stand_together_run_beside_each_other_and_answer_in_the_order_they_were_asked(play: Play) -> None:
    desk = Desk(threading.Barrier(3))
    wanted = calls(("read_a", "{}"), ("read_b", "{}"), ("read_c", "{}"), ("write", "{}"), ("write", '{"x":1}'))
    played = play(wanted, say("done"), desk=desk, beside=3)
    answered = [each.answer or {} for each in played.told if each.kind is HappeningKind.ANSWERED]
    assert [each["name"] for each in answered] == ["read_a", "read_b", "read_c", "write", "write"]
    assert desk.ran[3:] == ["write", "write"]
    roles = [message["tool_call_id"] for message in played.model.requests[1]["messages"] if message["role"] == "tool"]
    assert [role.rpartition("_")[2] for role in roles] == [str(number) for number in range(5)]


def test_calls_beside_each_other_run_in_the_context_of_the_tick_that_asked(play: Play) -> None:
    """Their events carry its number, what they keep back is counted as its own, and their time ends with its time."""
    asking: ContextVar[str] = ContextVar("asking", default="nobody")

    class Curious(Desk):
        def run(self, **asked: Any) -> dict[str, Any]:
            return {**super().run(**asked), "asked_by": asking.get()}

    token = asking.set("tick 7")
    try:
        played = play(
            calls(("read_a", "{}"), ("read_b", "{}")), say("done"), desk=Curious(threading.Barrier(2)), beside=2
        )
    finally:
        asking.reset(token)
    answered = [each.answer or {} for each in played.told if each.kind is HappeningKind.ANSWERED]
    assert [each["asked_by"] for each in answered] == ["tick 7", "tick 7"]


def test_without_leave_for_it_no_call_runs_beside_another(play: Play) -> None:
    lonely = Desk(threading.Barrier(2))
    lonely.meeting = None
    played = play(calls(("read_a", "{}"), ("read_b", "{}")), say("done"), desk=lonely)
    assert lonely.ran == ["read_a", "read_b"]
    assert played.kinds()[2:6] == ["called", "answered", "called", "answered"]


def test_a_refused_read_among_others_is_answered_as_refused_and_the_others_go_on(play: Play) -> None:
    played = play(calls(("read_a", "{}"), ("read_wrong", "{}"), ("read_b", "{")), say("done"), beside=4)
    assert played.transcript.refusals == ["INVALID_PARAMS", "INVALID_PARAMS"]
    assert played.transcript.summary == "done"


def test_a_model_that_was_away_is_asked_again_and_each_request_is_paid_for(play: Play) -> None:
    played = play(AWAY, AWAY, say("here"), retries=2)
    assert (played.transcript.stopped_by, played.transcript.summary) == ("", "here")
    assert played.kinds().count("retried") == 2
    assert played.purse.spent_micro_usd > 2 * 15 * 2_048


def test_requests_that_were_turned_away_unread_are_free(play: Play) -> None:
    busy = raw(b"{}", status=503)
    played = play(busy, busy, say("here"), retries=2)
    assert played.kinds().count("retried") == 2
    assert played.purse.spent_micro_usd == 3 * 900 + 15 * 40


@pytest.mark.parametrize(
    ("script", "retries", "requests", "stopped_by"),
    [
        ((AWAY,), 0, 1, "MODEL_UNAVAILABLE"),
        ((AWAY,), 2, 3, "MODEL_UNAVAILABLE"),
        ((raw(b"{}", status=401),), 2, 1, "MODEL_UNAVAILABLE"),
        ((raw(b"{}"),), 2, 1, "MODEL_ANSWER_INVALID"),
    ],
)
def test_only_what_may_pass_is_asked_again_and_only_so_often(
    play: Play, script: tuple[Answer, ...], retries: int, requests: int, stopped_by: str
) -> None:
    played = play(*script, retries=retries)
    assert (played.transcript.stopped_by, len(played.model.requests)) == (stopped_by, requests)


def test_what_it_may_cost_bounds_the_worst_case_of_the_next_request(play: Play) -> None:
    played = play(call("look"), most_micro_usd=40_000)
    assert played.transcript.stopped_by == ThinkingTooDear.code
    assert played.purse.spent_micro_usd <= 40_000
    assert len(played.model.requests) >= 1


def test_so_many_tokens_and_no_more_are_read_and_written(play: Play) -> None:
    played = play(call("look", tokens=(600, 10)), llm_tokens=1_000)
    assert (played.transcript.stopped_by, played.transcript.rounds) == ("THINKING_TOO_LONG", 2)


def test_cancelled_between_two_calls_the_second_is_not_run(play: Play) -> None:
    desk = Desk()
    played = play(calls(("write", "{}"), ("write", '{"x":1}')), desk=desk, is_cancelled=lambda: bool(desk.ran))
    assert (played.transcript.stopped_by, desk.ran) == ("THINKING_CANCELLED", ["write"])


def test_cancelled_while_the_model_writes_it_ends_before_the_answer_and_the_request_counts_as_its_worst_case(
    play: Play,
) -> None:
    wish = threading.Event()

    def write_for_a_minute(request: dict[str, Any]) -> Reply:
        wish.set()
        return slow(60)(request)

    # Who looked for the wish only between two requests would be told that the time of this one is over.
    played = play(write_for_a_minute, is_cancelled=wish.is_set)
    assert played.transcript.stopped_by == "THINKING_CANCELLED"
    assert played.purse.spent_micro_usd > 15 * 2_048


def test_cancelled_while_it_waits_to_ask_again_nothing_more_is_asked(play: Play) -> None:
    told: list[Happening] = []

    def has_failed_once() -> bool:
        return any(each.kind is HappeningKind.RETRIED for each in told)

    before_it_would_ask = Deadline.after_ms(50_000)
    played = play(AWAY, retries=2, retry_seconds=60, is_cancelled=has_failed_once, told=told)
    assert (played.transcript.stopped_by, len(played.model.requests)) == ("THINKING_CANCELLED", 1)
    assert not before_it_would_ask.is_over


def test_what_was_said_before_is_told_before_the_new_words(play: Play) -> None:
    played = play(say("again"), history=(Exchange("Hello?", "Hello."),))
    messages = [(each["role"], each["content"]) for each in played.model.requests[0]["messages"]]
    assert messages[-3:] == [("user", "Hello?"), ("assistant", "Hello."), ("user", "Now?")]

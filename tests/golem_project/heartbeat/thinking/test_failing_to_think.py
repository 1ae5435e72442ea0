"""A model that fails: its owner reads that it failed and what it cost, rules act in its place, and people are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import AlertBatch, DecisionCycleRecord, Heartbeat, ModelSpendDay
from archetypes_app.models.tick import PlannerKind
from golem_project.cockpit.page_contents import build_cockpit
from golem_project.heartbeat.decision_sentences import tell_decision
from golem_project.heartbeat.model_failures import MOST_IN_A_ROW, SOURCE, THINKS_AGAIN, leave_time_for_rules
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.thinking import model_planner
from permits_app.actions.announce_warden_actions import turn_warden_on
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.golem_project.heartbeat.thinking.conftest import Think, make_client
from tests.golem_project.heartbeat.thinking.test_model_planner import assert_consistent, preview_swap
from tests.live_golem import LiveGolem
from tests.scripted_model import Answer, call, commit_last, raw, say, serve_model, slow
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.units import format_micro_usd


@pytest.fixture
def ask() -> Iterator[Any]:
    """Sets the model that ticks of this process ask, by its address."""
    yield lambda url: model_planner.configure(make_client(url))
    model_planner.configure(None)


def wake(live: LiveGolem, *, rule: dict[str, Any] | None = None, **columns: Any) -> None:
    """A golem that thinks with a model, after its first tick and a word that makes the next one think."""
    turn_on(live.golem, rule={}, planner=PlannerKind.MODEL, **columns)
    with serve_model([say("Nothing yet.")]) as model:
        model_planner.configure(make_client(model.url))
        tick(live.golem)
    Heartbeat.objects.filter(golem=live.golem).update(liquidity_rule=rule or {})
    say_to(live)


def say_to(live: LiveGolem) -> None:
    steer_golem(golem=live.golem, text="Look after it.", actor="owner:1", now=clock.now())


def spent(live: LiveGolem) -> int:
    day = ModelSpendDay.objects.filter(golem=live.golem).first()
    return 0 if day is None else day.spent_micro_usd + day.reserved_micro_usd


def words(record: DecisionCycleRecord) -> str:
    return " ".join(tell_decision(record))


FAILURES: list[tuple[Answer, str, str]] = [
    (raw(b"{}", status=429), "MODEL_UNAVAILABLE", "the language model did not answer."),
    (raw(b"{}", status=500), "MODEL_UNAVAILABLE", "the language model did not answer."),
    (raw(b"not json"), "MODEL_ANSWER_INVALID", "the language model's answer could not be read."),
    (call("query_state", query="limits"), "THINKING_LOOPS", "asked the same again and again."),
]


@pytest.mark.parametrize(
    ("answer", "code", "told"), FAILURES, ids=[f"{each[1]}-{n}" for n, each in enumerate(FAILURES)]
)
def test_a_tick_whose_model_failed_says_so_and_never_that_it_wanted_nothing(
    live_golem: LiveGolem, think: Think, ask: Any, answer: Answer, code: str, told: str
) -> None:
    wake(live_golem, rules_stand_in=False)
    with serve_model([answer]) as model:
        ask(model.url)
        record = tick(live_golem.golem)
    said = words(record)
    assert record.deliberation["stopped_by"] == code
    assert told in said and "Nobody acted in its place." in said
    assert "It wanted nothing." not in said and "What it would have wanted is not known." in said
    assert "That cost $" in said
    newest = build_cockpit(live_golem.golem, now=clock.now()).decisions[0]
    assert told in newest.failure and "Nobody acted in its place." in newest.failure


def test_a_model_that_thought_is_said_to_have_failed_nowhere(live_golem: LiveGolem, think: Think, ask: Any) -> None:
    wake(live_golem)
    with serve_model([say("Nothing to do.")]) as model:
        ask(model.url)
        record = tick(live_golem.golem)
    assert "could not think" not in words(record) and "It wanted nothing." in words(record)
    assert build_cockpit(live_golem.golem, now=clock.now()).decisions[0].failure == ""


def test_rules_act_where_the_model_does_not_answer_and_the_page_says_who_acted(
    live_golem: LiveGolem, think: Think, ask: Any, free_url: str
) -> None:
    wake(live_golem, rule=RULE)
    ask(free_url)
    record = tick(live_golem.golem)
    done = list(ActionRecord.objects.filter(golem=live_golem.golem, state="EXECUTED"))
    assert done and done[0].action_type == "add_liquidity"
    assert record.deliberation["rules_stood_in"] is True
    assert "The rules acted in its place." in words(record)
    assert record.deliberation["stopped_by"] == "MODEL_UNAVAILABLE"


def test_nobody_acts_where_the_owner_wants_nobody_to(
    live_golem: LiveGolem, think: Think, ask: Any, free_url: str
) -> None:
    wake(live_golem, rule=RULE, rules_stand_in=False)
    ask(free_url)
    record = tick(live_golem.golem)
    assert not ActionRecord.objects.filter(golem=live_golem.golem).exists()
    assert record.deliberation["rules_stood_in"] is False


def test_rules_do_not_act_beside_a_model_that_had_begun_something(
    live_golem: LiveGolem, think: Think, ask: Any
) -> None:
    wake(live_golem, rule=RULE)
    with serve_model([preview_swap(), commit_last(), raw(b"{}", status=500)]) as model:
        ask(model.url)
        record = tick(live_golem.golem)
    assert [each.action_type for each in ActionRecord.objects.filter(golem=live_golem.golem)] == ["swap"]
    assert "What it had begun by then is listed with the tick's actions." in words(record)
    assert_consistent(live_golem, committed=1)


def test_rules_have_time_left_when_a_model_uses_up_its_own(
    live_golem: LiveGolem, think: Think, ask: Any, settings: Any
) -> None:
    settings.GOLEM_MODEL_REQUEST_SECONDS = 600
    settings.GOLEM_HEARTBEAT_TICK_SECONDS = 24
    wake(live_golem, rule=RULE)
    with serve_model([slow(60)]) as model:
        ask(model.url)
        record = tick(live_golem.golem)
    assert record.deliberation["stopped_by"] == "MODEL_TIMED_OUT"
    assert ActionRecord.objects.filter(golem=live_golem.golem, state="EXECUTED").exists()


@pytest.mark.parametrize(("bought", "is_about_the_rule"), [("DAI", False), ("WETH", True)])
def test_what_waits_for_owners_holds_back_what_it_is_about_and_nothing_else(
    live_golem: LiveGolem, think: Think, ask: Any, free_url: str, bought: str, is_about_the_rule: bool
) -> None:
    """A model asked for something that owners decide; then it is away, and rules act in its place."""
    golem = live_golem.golem
    turn_warden_on(golem=golem, actor="owner:1", reason="I want to see it first", now=clock.now())
    wake(live_golem, rule=RULE)
    with serve_model([preview_swap(token_out=bought), commit_last(), say("It waits.")]) as model:
        ask(model.url)
        tick(golem)
    (waiting,) = ActionRecord.objects.filter(golem=golem)
    assert (waiting.state, waiting.action_type) == ("WAITING", "swap")
    say_to(live_golem)
    ask(free_url)
    tick(golem)
    wanted = ActionRecord.objects.filter(golem=golem, action_type="add_liquidity").exists()
    assert wanted is not is_about_the_rule


def test_a_server_without_a_model_is_a_model_that_fails(live_golem: LiveGolem, think: Think, ask: Any) -> None:
    wake(live_golem, rule=RULE, rules_stand_in=False)
    model_planner.configure(None)
    record = tick(live_golem.golem)
    assert "no language model is set up on this server. That cost $0" in words(record)
    assert not ActionRecord.objects.filter(golem=live_golem.golem).exists()
    Heartbeat.objects.filter(golem=live_golem.golem).update(rules_stand_in=True)
    say_to(live_golem)
    assert "The rules acted in its place." in words(tick(live_golem.golem))
    assert ActionRecord.objects.filter(golem=live_golem.golem, state="EXECUTED").exists()


@pytest.mark.parametrize(("left", "kept"), [(9_000, 3_000), (30_000, 10_000), (60_000, 10_000)])
def test_a_model_leaves_a_third_of_the_time_and_ten_seconds_at_most_to_the_rules(left: int, kept: int) -> None:
    whole = Deadline.after_ms(left)
    between = whole.remaining_ms() - leave_time_for_rules(whole).remaining_ms()
    assert kept - 50 < between < kept + 50


@pytest.mark.parametrize("status", [401, 429, 503])
def test_what_was_turned_away_costs_nothing(live_golem: LiveGolem, think: Think, status: int) -> None:
    found, _ = think(live_golem.golem, raw(b"{}", status=status))
    assert (found.stopped_by, found.cost_micro_usd, spent(live_golem)) == ("MODEL_UNAVAILABLE", 0, 0)


@pytest.mark.parametrize("answer", [raw(b"{}", status=500), raw(b"nothing")])
def test_what_may_have_been_read_costs_what_was_held(live_golem: LiveGolem, think: Think, answer: Answer) -> None:
    found, _ = think(live_golem.golem, answer)
    assert found.cost_micro_usd == spent(live_golem) > 0


def test_an_outage_of_any_length_leaves_the_days_budget_as_it_was(
    live_golem: LiveGolem, think: Think, ask: Any, free_url: str
) -> None:
    wake(live_golem)
    ask(free_url)
    for _ in range(5):
        assert tick(live_golem.golem).costs["model_micro_usd"] == "0"
        say_to(live_golem)
    assert spent(live_golem) == 0
    with serve_model([say("Here again.")]) as model:
        ask(model.url)
        assert tick(live_golem.golem).deliberation["stopped_by"] == ""


def test_people_are_told_with_the_third_failed_tick_once_and_once_when_it_thinks_again(
    live_golem: LiveGolem, think: Think, ask: Any, free_url: str
) -> None:
    wake(live_golem)
    ask(free_url)
    told = []
    for _ in range(MOST_IN_A_ROW + 2):
        tick(live_golem.golem)
        say_to(live_golem)
        told.append(AlertBatch.objects.filter(golem=live_golem.golem, source=SOURCE).count())
    assert told == [0, 0, 1, 1, 1]
    (batch,) = AlertBatch.objects.filter(golem=live_golem.golem, source=SOURCE)
    assert batch.alerts[0]["observed"] == "3 ticks in a row: the language model did not answer. That cost $0.00"
    with serve_model([say("Here again.")]) as model:
        ask(model.url)
        tick(live_golem.golem)
        say_to(live_golem)
        tick(live_golem.golem)
    newest = AlertBatch.objects.filter(golem=live_golem.golem, source=SOURCE).order_by("-window_start")
    assert [each.alerts[0]["observed"] for each in newest] == [THINKS_AGAIN, batch.alerts[0]["observed"]]


def test_people_are_told_what_the_failed_ticks_cost_and_the_next_row_begins_at_nothing(
    live_golem: LiveGolem, think: Think, ask: Any
) -> None:
    wake(live_golem)
    before = spent(live_golem)
    for _ in range(MOST_IN_A_ROW):
        with serve_model([raw(b"{}", status=500)]) as model:
            ask(model.url)
            tick(live_golem.golem)
        say_to(live_golem)
    cost = spent(live_golem) - before
    (batch,) = AlertBatch.objects.filter(golem=live_golem.golem, source=SOURCE)
    assert cost > 0 and batch.alerts[0]["observed"].endswith(f"That cost {format_micro_usd(cost)}")
    with serve_model([say("Here again.")]) as model:
        ask(model.url)
        tick(live_golem.golem)
    assert Heartbeat.objects.get(golem=live_golem.golem).state["failed_to_think_micro_usd"] == 0


def test_a_quiet_tick_between_two_failures_neither_counts_nor_clears(
    live_golem: LiveGolem, think: Think, ask: Any, free_url: str
) -> None:
    wake(live_golem)
    ask(free_url)
    tick(live_golem.golem)
    assert Heartbeat.objects.get(golem=live_golem.golem).state["failed_to_think"] == 1
    assert tick(live_golem.golem).tier == "T0"
    assert Heartbeat.objects.get(golem=live_golem.golem).state["failed_to_think"] == 1
    say_to(live_golem)
    with serve_model([say("Here.")]) as model:
        ask(model.url)
        tick(live_golem.golem)
    assert Heartbeat.objects.get(golem=live_golem.golem).state["failed_to_think"] == 0

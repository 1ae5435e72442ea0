"""Loop guard and circuit breaker at their boundaries, and over real permits."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.errors import PolicyRejected
from permits_app.models import ActionPermit
from permits_app.safety.call_records import PastCall, VenueOutcome
from permits_app.safety.loop_and_breaker_rules import (
    LOOP_HORIZON,
    Breaker,
    BreakerState,
    fold_breaker,
    judge_breaker,
    judge_loop,
    warn_same_tool,
)
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import NOW
from tools_app.core.errors import Recovery
from tools_app.toolkit.enums import ActionClass

OPENING = ActionClass.NEW_POSITION
SAME, OTHER = PastCall("swap", "0x1", NOW), PastCall("swap", "0x2", NOW)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def outcomes(marks: str, *, every: float = 1) -> list[VenueOutcome]:
    return [VenueOutcome(mark == "+", at(index * every)) for index, mark in enumerate(marks)]


@pytest.mark.parametrize(("before", "passes"), [(3, True), (4, False), (5, False)])
def test_the_fifth_identical_call_is_a_loop(before: int, passes: bool) -> None:
    earlier = [SAME] * before + [OTHER] * 10
    assert (judge_loop(earlier=earlier, action_hash="0x1", action_class=OPENING) is None) is passes


@pytest.mark.parametrize("before", [4, 6])
def test_a_loop_is_over_when_the_calls_that_make_it_one_are_an_hour_old(before: int) -> None:
    earlier = [PastCall("swap", "0x1", at(-minute * 60)) for minute in range(before)]
    refused = judge_loop(earlier=earlier, action_hash="0x1", action_class=OPENING)
    assert refused is not None
    free_at = datetime.fromisoformat(refused.resets_at)
    assert free_at == at(3_600 - 3 * 60), "an hour after the fourth newest"
    assert refused.would_pass.endswith(f"from {refused.resets_at} on")
    error = refused.as_error("rate_limiter").as_problem()
    assert (error["code"], error["status"], error["recovery"]) == ("ACTION_REPEATED", 429, "WAIT")
    still = [call for call in earlier if call.at > free_at - timedelta(seconds=1) - LOOP_HORIZON]
    assert judge_loop(earlier=still, action_hash="0x1", action_class=OPENING) is not None
    left = [call for call in earlier if call.at > free_at - LOOP_HORIZON]
    assert judge_loop(earlier=left, action_hash="0x1", action_class=OPENING) is None


def test_an_identical_call_outside_the_window_of_twenty_does_not_count() -> None:
    inside = [OTHER] * 15 + [SAME] * 4
    assert judge_loop(earlier=inside, action_hash="0x1", action_class=OPENING) is not None
    assert judge_loop(earlier=[OTHER, *inside], action_hash="0x1", action_class=OPENING) is None


@pytest.mark.parametrize("leaving", [ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION])
def test_getting_out_is_no_loop_and_needs_no_working_breaker(leaving: ActionClass) -> None:
    assert judge_loop(earlier=[SAME] * 19, action_hash="0x1", action_class=leaving) is None
    opened = Breaker(BreakerState.OPEN, 5, 10, at(30))
    assert judge_breaker(breaker=opened, venue="uniswap", is_tried=True, action_class=leaving) is None


@pytest.mark.parametrize(("same", "warns"), [(15, False), (16, True), (19, True)])
def test_more_than_four_fifths_of_one_tool_is_noted(same: int, warns: bool) -> None:
    earlier = [PastCall("swap", str(i), NOW) for i in range(same)]
    earlier += [PastCall("lp", str(i), NOW) for i in range(19 - same)]
    assert bool(warn_same_tool(earlier=earlier, tool_name="swap")) is warns
    assert warn_same_tool(earlier=earlier[:18], tool_name="swap") == ""


def test_the_note_counts_the_last_twenty_and_nothing_older() -> None:
    swaps, others = [SAME] * 19, [PastCall("lp", "0x2", NOW)] * 9
    assert warn_same_tool(earlier=[*swaps, *others], tool_name="swap") == "20 of the last 20 calls are swap"
    assert warn_same_tool(earlier=[*others, *swaps], tool_name="swap") == ""


@pytest.mark.parametrize(
    ("marks", "state"),
    [
        ("-----", BreakerState.CLOSED),
        ("-" * 9, BreakerState.CLOSED),
        ("++++++----", BreakerState.CLOSED),
        ("+++++-----", BreakerState.OPEN),
        ("-----+++++", BreakerState.OPEN),
        ("----++++++", BreakerState.CLOSED),
        ("+" * 20 + "-" * 4, BreakerState.CLOSED),
        ("+" * 20 + "-" * 5, BreakerState.OPEN),
    ],
)
def test_half_of_ten_failures_open_the_breaker(marks: str, state: BreakerState) -> None:
    found = outcomes(marks)
    assert fold_breaker(outcomes=found, now=found[-1].at).state is state


@pytest.mark.parametrize(
    ("after", "state"), [(29.999, BreakerState.OPEN), (30, BreakerState.HALF_OPEN), (31, BreakerState.HALF_OPEN)]
)
def test_an_open_breaker_is_half_open_after_thirty_seconds(after: float, state: BreakerState) -> None:
    found = outcomes("-" * 10)
    assert fold_breaker(outcomes=found, now=found[-1].at + timedelta(seconds=after)).state is state


@pytest.mark.parametrize(("seconds", "state"), [(-1, BreakerState.HALF_OPEN), (0, BreakerState.CLOSED)])
def test_the_try_that_closes_a_breaker_comes_when_it_is_half_open_and_not_before(
    seconds: int, state: BreakerState
) -> None:
    failed = outcomes("-" * 10)
    tried = VenueOutcome(True, failed[-1].at + timedelta(seconds=30 + seconds))
    assert fold_breaker(outcomes=[*failed, tried], now=at(100)).state is state


@pytest.mark.parametrize("marks", ["", "-", "++--+", "+++++++---", "+++++-----", "-" * 10])
def test_a_breaker_tells_how_many_of_the_last_failed(marks: str) -> None:
    breaker = fold_breaker(outcomes=outcomes(marks), now=at(10))
    assert (breaker.failures, breaker.requests) == (marks.count("-"), len(marks))


def test_one_try_decides_and_what_was_under_way_does_not() -> None:
    failed = outcomes("-" * 10)
    late = VenueOutcome(True, at(20))
    won, lost = VenueOutcome(True, at(45)), VenueOutcome(False, at(45))
    assert fold_breaker(outcomes=[*failed, late], now=at(25)).state is BreakerState.OPEN
    closed = fold_breaker(outcomes=[*failed, late, won], now=at(46))
    assert (closed.state, closed.failures) == (BreakerState.CLOSED, 0)
    again = fold_breaker(outcomes=[*failed, lost], now=at(46))
    assert (again.state, again.half_opens_at) == (BreakerState.OPEN, at(75))


def test_a_half_open_breaker_lets_exactly_one_try_through() -> None:
    half = Breaker(BreakerState.HALF_OPEN, 10, 10, at(0))
    assert judge_breaker(breaker=half, venue="uniswap", is_tried=False, action_class=OPENING) is None
    refused = judge_breaker(breaker=half, venue="uniswap", is_tried=True, action_class=OPENING)
    assert refused is not None
    assert refused.rule == "rate_limiter.circuit_breaker"
    assert (refused.resets_at, refused.would_pass) == ("", "the same action after the try that is under way")
    problem = refused.as_error("rate_limiter").as_problem()
    assert (problem["code"], problem["recovery"], problem["retry_after_seconds"]) == ("VENUE_FAILING", "WAIT", 5)


def test_an_open_breaker_says_what_failed_and_when_one_try_is_free() -> None:
    opened = Breaker(BreakerState.OPEN, 5, 10, at(30))
    refused = judge_breaker(breaker=opened, venue="uniswap", is_tried=False, action_class=OPENING)
    assert refused is not None
    assert (refused.observed, refused.limit) == ("5 of 10 failed", "fewer than 5 of 10 failed")
    assert refused.resets_at == at(30).isoformat()
    assert refused.would_pass == f"one try from {at(30).isoformat()} on"
    assert Breaker(BreakerState.CLOSED) == Breaker(BreakerState.CLOSED, failures=0, requests=0, half_opens_at=None)


@given(st.lists(st.booleans(), max_size=60))
def test_a_breaker_never_opens_before_ten_outcomes_and_never_with_few_failures(marks: list[bool]) -> None:
    found = [VenueOutcome(mark, at(index)) for index, mark in enumerate(marks)]
    state = fold_breaker(outcomes=found, now=at(len(marks))).state
    if len(marks) < 10 or marks.count(False) < 5:
        assert state is BreakerState.CLOSED


def test_a_real_golem_that_repeats_itself_is_stopped_at_the_fifth_call(live_golem: LiveGolem) -> None:
    for _ in range(4):
        live_golem.preview()
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview()
    assert refused.value.data["rule"] == "rate_limiter.loop"
    first = ActionPermit.objects.filter(golem=live_golem.golem).earliest("created_at")
    assert refused.value.data["resets_at"] == (first.created_at + LOOP_HORIZON).isoformat()
    assert refused.value.next_step is Recovery.WAIT
    assert live_golem.preview(amount="500000001")["status"] == "CREATED"


def test_a_venue_of_which_nothing_is_known_has_failed_at_nothing() -> None:
    known = fold_breaker(outcomes=(), now=NOW)
    assert known == Breaker(BreakerState.CLOSED)
    assert (known.failures, known.requests, known.half_opens_at) == (0, 0, None)

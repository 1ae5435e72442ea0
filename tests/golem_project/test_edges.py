"""What watches, feeds and doors decide by a number, just below, at and just above it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from golem_project.a2a.errors import NumberNotExact
from golem_project.a2a.message_parsing import _check_numbers
from golem_project.a2a.task_messages import _exact
from golem_project.alerts.timing import wait_after
from golem_project.chat.terminal import _short
from golem_project.heartbeat.debt_health import Alarm, ToldDebt, WatchedDebt, _is_news, _watch, keep_told
from golem_project.heartbeat.duties.monitor import Pulse, judge_pulse
from golem_project.heartbeat.duties.position_monitor import judge_positions
from golem_project.heartbeat.duties.sleepwalker import _is_news as is_news_again
from golem_project.pi import recent_toolsets
from golem_project.pi.lenient_values import is_one_slip, write_as
from golem_project.pi.parsers import _parse_integer
from golem_project.stream.deliveries import _next_attempt
from golem_project.stream.parameters import _read_limit
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.pages.plots import PlotLabel, _spread

NOW = datetime(2026, 11, 26, tzinfo=UTC)
USD = 10**6


@pytest.mark.parametrize(
    ("pulse", "told"),
    [
        (Pulse(balance=30 * USD, loss_a_day=USD), None),
        (Pulse(balance=30 * USD - 1, loss_a_day=USD), "runway"),
        (Pulse(interval_seconds=120, expected_seconds=60), None),
        (Pulse(interval_seconds=121, expected_seconds=60), "late"),
        (Pulse(actions=(True, True, False, False, False)), None),
        (Pulse(actions=(True,) * 3_999 + (False,) * 6_001), "success"),
        (Pulse(failed_ticks=5), None),
        (Pulse(failed_ticks=6), "errors"),
        (Pulse(gas=1_500, income=10_000), None),
        (Pulse(gas=1_501, income=10_000), "gas"),
        (Pulse(ticks_since_playbook=99), None),
        (Pulse(ticks_since_playbook=100), "playbook"),
    ],
)
def test_a_pulse_is_told_of_from_its_edge_on(pulse: Pulse, told: str | None) -> None:
    assert [each.rule for each in judge_pulse(pulse)] == ([told] if told else [])


@pytest.mark.parametrize(("tick", "is_near"), [(1_000, False), (999, True), (9_000, False), (9_001, True)])
def test_a_position_is_near_an_edge_within_a_tenth_of_its_range(tick: int, is_near: bool) -> None:
    row = {"liquidity": "1", "pool_tick": tick, "tick_lower": 0, "tick_upper": 10_000}
    found = judge_positions({"positions": [{**row, "position_id": "7", "in_range": True}]})
    assert bool(found) is is_near


def _debt(health: int, alarm: Alarm = Alarm.CALM) -> WatchedDebt:
    return WatchedDebt("ref", "a loan", health, 10_000, alarm)


@pytest.mark.parametrize(
    ("health", "alarm"),
    [(9_999, Alarm.UNDER), (10_000, Alarm.NEAR), (10_999, Alarm.NEAR), (11_000, Alarm.CALM), (0, Alarm.UNKNOWN)],
)
def test_a_debt_is_near_its_floor_within_a_tenth_above_it(health: int, alarm: Alarm) -> None:
    held: Any = SimpleNamespace(health_bps=health, ref="ref", position=SimpleNamespace(label="a loan"))
    assert _watch(held, 10_000, ()).alarm is alarm


@pytest.mark.parametrize(("health", "is_kept"), [(11_199, True), (11_200, False)])
def test_what_was_told_of_a_debt_is_forgotten_once_it_is_calm(health: int, is_kept: bool) -> None:
    told = {"ref": ToldDebt(Alarm.NEAR, 10_500)}
    assert bool(keep_told(told, [_debt(health)])) is is_kept


@pytest.mark.parametrize(("health", "is_news"), [(9_001, False), (9_000, True)])
def test_a_debt_under_its_floor_is_told_again_when_it_fell_by_five_percent(health: int, is_news: bool) -> None:
    assert _is_news(_debt(health, Alarm.UNDER), ToldDebt(Alarm.UNDER, 9_500)) is is_news


@pytest.mark.parametrize(
    ("age", "points", "is_news"),
    [
        (timedelta(days=1), 0, True),
        (timedelta(days=1) - timedelta(microseconds=1), 0, False),
        (timedelta(0), 4, False),
        (timedelta(0), 5, True),
        (timedelta(0), -5, True),
    ],
)
def test_a_finding_is_said_again_after_a_day_or_five_points(age: timedelta, points: int, is_news: bool) -> None:
    last: Any = SimpleNamespace(is_adverse=False, published_at=NOW - age, confidence_percent=80)
    finding: Any = SimpleNamespace(is_adverse=False, confidence_percent=80 + points)
    assert is_news_again(last, finding, NOW) is is_news


@pytest.mark.parametrize(("failures", "minutes"), [(1, 1), (2, 2), (6, 32), (7, 60), (99, 60)])
def test_an_alert_is_tried_again_after_an_hour_at_most(failures: int, minutes: int) -> None:
    assert wait_after(failures) == timedelta(minutes=minutes)


@pytest.mark.parametrize(("length", "is_cut"), [(159, False), (160, False), (161, True)])
def test_a_line_of_a_chat_has_a_hundred_and_sixty_letters(length: int, is_cut: bool) -> None:
    shown = _short("a" * length)
    assert (len(shown), shown.endswith("…")) == (min(length, 160), is_cut)


@pytest.mark.parametrize(("apart", "kept"), [(19, 1), (20, 2), (21, 2)])
def test_labels_are_drawn_that_do_not_cover_each_other(apart: int, kept: int) -> None:
    assert len(_spread([PlotLabel(0, 100, "a"), PlotLabel(0, 100 + apart, "b")])) == kept


@pytest.mark.parametrize(
    ("number", "is_taken"), [(2**53 - 1, True), (2**53, False), (1 - 2**53, True), (-(2**53), False)]
)
def test_a_number_of_another_agent_is_one_that_every_reader_reads_alike(number: int, is_taken: bool) -> None:
    assert _exact({"a": [number]}) == {"a": [number if is_taken else str(number)]}
    if is_taken:
        _check_numbers({"a": [number]})
        return
    with pytest.raises(NumberNotExact):
        _check_numbers({"a": [number]})


@pytest.mark.parametrize(
    ("one", "other", "is_slip"), [("ab", "abc", False), ("abc", "abcd", True), ("abc", "acb", True)]
)
def test_a_slip_is_guessed_in_words_of_three_letters_on(one: str, other: str, is_slip: bool) -> None:
    assert is_one_slip(one, other) is is_slip


@pytest.mark.parametrize(("value", "written"), [(float(2**53 - 1), str(2**53 - 1)), (float(2**53), float(2**53))])
def test_a_fraction_is_written_as_a_whole_number_while_it_is_exact(value: float, written: Any) -> None:
    assert write_as(value, {"string"}) == written


@pytest.mark.parametrize(("digits", "kind"), [(79, int), (80, int), (81, str)])
def test_a_body_holds_whole_numbers_of_eighty_digits(digits: int, kind: type) -> None:
    assert type(_parse_integer("1" * digits)) is kind


@pytest.mark.parametrize(("text", "limit"), [("1", 1), ("500", 500), ("501", None), ("0", None)])
def test_a_page_of_events_has_at_most_five_hundred(text: str, limit: int | None) -> None:
    if limit is not None:
        assert _read_limit(text) == limit
        return
    with pytest.raises(InvalidParams, match="between 1 and 500"):
        _read_limit(text)


def test_what_an_agent_was_shown_is_remembered_for_ten_seconds_and_of_256_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_toolsets, "_shown", {})
    monkeypatch.setattr(recent_toolsets, "_place", lambda key: key)
    keys: list[Any] = list(range(257))
    shelf: Any = object()
    monkeypatch.setattr(clock, "monotonic_ms", lambda: 0.0)
    for key in keys[:256]:
        recent_toolsets.remember(key, shelf)
    assert recent_toolsets.recall(keys[0]) == shelf
    recent_toolsets.remember(keys[256], shelf)
    assert [recent_toolsets.recall(keys[place]) for place in (0, 1, 256)] == [None, shelf, shelf]
    for at, found in ((10_000.0, shelf), (10_000.1, None)):
        monkeypatch.setattr(clock, "monotonic_ms", lambda at=at: at)
        assert recent_toolsets.recall(keys[1]) is found


@pytest.mark.parametrize(("asked", "waits"), [(3_599, 3_599), (3_600, 3_600), (3_601, 3_600)])
def test_a_receiver_that_asks_for_a_pause_is_given_an_hour_at_most(asked: int, waits: int) -> None:
    delivery: Any = SimpleNamespace(attempts=1, pk=UUID(int=0))
    answer: Any = SimpleNamespace(retry_after_seconds=asked)
    assert _next_attempt(delivery, answer, NOW, NOW) == NOW + timedelta(seconds=waits)


@pytest.mark.parametrize(("hours", "waits"), [(22, 3_600), (23, 3_600), (24, None), (23.5, 1_800)])
def test_a_delivery_is_tried_for_a_day(hours: float, waits: int | None) -> None:
    delivery: Any = SimpleNamespace(attempts=1, pk=UUID(int=0))
    answer: Any = SimpleNamespace(retry_after_seconds=3_600)
    following = None if waits is None else NOW + timedelta(seconds=waits)
    assert _next_attempt(delivery, answer, NOW - timedelta(hours=hours), NOW) == following

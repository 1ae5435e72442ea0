"""`manage.py golem tail`: the same events, as lines with bars or as JSON, and nothing that steers the terminal."""

from __future__ import annotations

import json
import threading
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from rich.console import Console

from golem_project.stream import terminal_feed as stream_tail
from golem_project.stream.terminal_feed import TailView, follow_log
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.stream.conftest import emit
from tools_app.core import clock, event_bus, event_log, event_ring
from tools_app.core.event_log import EventFilter, LogHead
from tools_app.core.events import Event, EventType
from tools_app.toolkit.registry import REGISTRY

pytestmark = pytest.mark.django_db(transaction=True)
SINCE = "2020-01-01T00:00:00Z"


class FailingRing:
    """A ring whose server is gone."""

    def xread(self, *_: object, **__: object) -> object:
        raise ConnectionError("gone")


def test_a_ring_that_fails_while_it_is_waited_for_is_left_alone_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_ring, "_open_client", FailingRing)
    monkeypatch.setattr(event_ring, "_rests_until_ms", 0.0)
    monkeypatch.setattr(stream_tail, "_PAUSE_SECONDS", 0)
    assert event_ring.open_ring() is not None
    stream_tail._wait_for_news(0, LogHead(log_id=uuid4(), position=0))
    assert event_ring.open_ring() is None


def tail(*arguments: str) -> str:
    out = StringIO()
    call_command("golem", "tail", *arguments, "--no-follow", stdout=out)
    return out.getvalue()


def test_json_lines_are_the_events_of_this_golem_alone(make_agent: MakeAgent) -> None:
    agent, other = make_agent(), make_agent()
    emit(agent.golem.pk, 1, 2)
    emit(other.golem.pk, 3)
    lines = [json.loads(line) for line in tail(str(agent.golem.pk), "--json", "--since", SINCE).splitlines()]
    assert [line["payload"]["duration_ms"] for line in lines] == [1, 2]
    assert tail(agent.golem.name, "--json") == ""
    assert tail(agent.golem.name, "--json", "--since", SINCE, "--types", "halt:*") == ""


def test_a_person_reads_lines_and_no_event_steers_the_terminal(make_agent: MakeAgent) -> None:
    agent = make_agent()
    reason = "storm \x1b[2J\x07 [bold]not markup[/bold]"
    event_bus.emit(golem_id=agent.golem.pk, event=Event(EventType.HALT_STARTED, {"reason": reason}), now=clock.now())
    text = tail(agent.golem.name, "--since", SINCE)
    assert "halt:started" in text
    assert "[bold]not markup[/bold]" in text
    assert "\x07" not in text
    assert "\x1b[2J" not in text


def test_a_running_tool_has_a_bar_that_moves_and_goes(make_agent: MakeAgent) -> None:
    agent = make_agent()
    call = {"tool_name": "uniswap_get_quote", "call_id": "00000000-0000-4000-8000-000000000001"}
    view = TailView(Console(file=StringIO(), force_terminal=True))
    steps = [{"step_name": f"step {n}", "step_index": n, "total_steps": 4} for n in range(4)]
    events = [
        Event(EventType.TOOL_START, {**call, "params_hash": "0x00"}),
        *(Event(EventType.TOOL_UPDATE, {**call, **step}) for step in steps),
        Event(EventType.TOOL_END, {**call, "success": True, "duration_ms": 5}),
    ]
    event_bus.emit_all(golem_id=agent.golem.pk, events=events, now=clock.now())
    seen = []
    for event in follow_log(0, wanted=EventFilter(), is_endless=False):
        view.show(event)
        seen.append([(task.description, task.completed, task.total) for task in view.progress.tasks])
    name = call["tool_name"]
    assert seen == [[(name, 0, 1)], *([(name, n, 4)] for n in range(4)), []]


def test_a_tool_that_starts_says_how_its_golem_looks_and_how_long_it_takes_at_most(make_agent: MakeAgent) -> None:
    agent = make_agent()
    head = event_log.read_head().position
    agent.post("query_state", {"query": "token_price", "token": "WETH"})
    started = [
        event for event in follow_log(head, wanted=EventFilter(), is_endless=False) if event.type == "tool:start"
    ]
    assert started, "the read ran no tool"
    payload = json.loads(started[0].body)["payload"]
    tool = REGISTRY.get(payload["tool_name"])
    assert (payload["sprite_trigger"], payload["budget_ms"]) == (tool.sprite_trigger.value, int(tool.tick_budget))
    view = TailView(Console(file=StringIO(), force_terminal=True))
    view.show(started[0])
    [task] = view.progress.tasks
    assert task.description == f"{tool.name} (thinking, at most {int(tool.tick_budget) / 1_000:g} s)"


def test_what_comes_while_it_waits_is_shown(make_agent: MakeAgent) -> None:
    agent = make_agent()
    events = follow_log(event_log.read_head().position, wanted=EventFilter())
    timer = threading.Timer(0.1, emit, args=(agent.golem.pk, 7))
    timer.start()
    assert json.loads(next(events).body)["payload"]["duration_ms"] == 7
    timer.join()


@pytest.mark.parametrize("arguments", [("nobody",), ("x", "--since", "yesterday"), ("x", "--types", "nonsense")])
def test_a_wrong_name_time_or_type_is_one_line(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        tail(*arguments)

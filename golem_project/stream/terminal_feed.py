"""Prints the events of one golem in a terminal, with a bar for each running tool."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from tools_app.core import event_log, event_ring
from tools_app.core.event_body import EventBody, read_body
from tools_app.core.event_log import EventFilter, LogHead
from tools_app.core.events import LoggedEvent
from tools_app.core.required_value import require
from tools_app.core.running_tool_words import word_start
from tools_app.core.stored_json import read_stored

_WAIT_MS = 1_000
_PAUSE_SECONDS = 0.25
_STYLES = {
    "tool": "cyan",
    "permit": "green",
    "policy": "yellow",
    "phase": "magenta",
    "halt": "bold red",
    "death": "bold red",
    "approval": "blue",
    "heartbeat": "dim",
    "grimoire": "bright_black",
    "dream": "bright_black",
    "stream": "dim",
}
_QUIET_FIELDS = frozenset({"call_id", "params_hash", "tool_name", "step_index", "total_steps"})
_LONGEST_LINE = 160


@dataclass(frozen=True, slots=True)
class RunningTool:
    """What an event says of a tool that runs; steps only where it is told of one."""

    tool_name: str | None = None
    call_id: str | None = None
    step_index: int | None = None
    total_steps: int | None = None
    step_name: str | None = None


def follow_log(position: int, *, wanted: EventFilter, is_endless: bool = True) -> Iterator[LoggedEvent]:
    """Events after `position`, and then those to come; without `is_endless` it stops at the head."""
    while True:
        head = event_log.read_head()
        page = event_log.read_after(position, head=head, wanted=wanted)
        yield from page.events
        position = page.reached
        if position >= head.position:
            if not is_endless:
                return
            _wait_for_news(position, head)


class TailView:
    """Draws events: tools that run have a bar, everything else is a line above them."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: dict[str, TaskID] = {}
        self.progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f}/{task.total:.0f} {task.fields[step]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )

    def show(self, event: LoggedEvent) -> None:
        """One event."""
        body = read_body(event.body)
        if event.type.startswith("tool:"):
            self._move_bar(event.type, read_stored(RunningTool, body.payload), word_start(body.payload))
            if event.type in ("tool:start", "tool:update"):
                return
        # Everything in an event is data, also when it looks like markup.
        self.progress.console.print(_draw_line(body), soft_wrap=True)

    def _move_bar(self, kind: str, tool: RunningTool, meanwhile: str) -> None:
        call = tool.call_id or str(tool.tool_name)
        if kind in ("tool:end", "tool:error"):
            bar = self._bars.pop(call, None)
            if bar is not None:
                self.progress.remove_task(bar)
            return
        if call not in self._bars:
            self._bars[call] = self.progress.add_task(_word_start(str(tool.tool_name), meanwhile), total=1, step="")
        if kind == "tool:update":
            self.progress.update(
                self._bars[call],
                completed=require(tool.step_index),
                total=require(tool.total_steps),
                step=require(tool.step_name),
            )


def _word_start(name: str, meanwhile: str) -> str:
    """The tool, and what is to be seen of it meanwhile."""
    return escape(f"{name} ({meanwhile})" if meanwhile else name)


def _draw_line(body: EventBody) -> Text:
    family = body.type.partition(":")[0]
    tool_name = body.payload.get("tool_name")
    facts = ", ".join(
        f"{name}={_short(value)}"
        for name, value in body.payload.items()
        if name not in _QUIET_FIELDS and value not in (None, "", [], {})
    )
    line = Text(f"{body.occurred_at[11:19]} {body.sequence:>6} ", style="dim")
    line.append(f"{body.type:<20} ", style=_STYLES.get(family, ""))
    line.append(f"{tool_name} " if tool_name else "", style="bold")
    line.append(_plain(facts)[:_LONGEST_LINE])
    return line


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return text if len(text) <= 48 else f"{text[:45]}…"


def _plain(text: str) -> str:
    """Without control characters: an event must not steer the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _wait_for_news(position: int, head: LogHead) -> None:
    ring: Any = event_ring.open_ring()  # Any: redis-py's answers have no types
    if ring is not None:
        try:
            ring.xread({event_ring.ring_key(head.log_id): f"{position}-0"}, count=1, block=_WAIT_MS)
        except (RedisError, OSError) as error:
            event_ring.rest_ring(error)
        else:
            return
    threading.Event().wait(_PAUSE_SECONDS)

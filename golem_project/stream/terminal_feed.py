"""Prints the events of one golem in a terminal, with a bar for each running tool."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

from redis.exceptions import RedisError
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from tools_app.core import event_log, event_ring
from tools_app.core.event_log import EventFilter, LogHead
from tools_app.core.events import LoggedEvent
from tools_app.core.running_tool_words import word_start

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
        body = json.loads(event.body)
        payload = body["payload"]
        if event.type.startswith("tool:"):
            self._move_bar(event.type, payload)
            if event.type in ("tool:start", "tool:update"):
                return
        # Everything in an event is data, also when it looks like markup.
        self.progress.console.print(_draw_line(body), soft_wrap=True)

    def _move_bar(self, kind: str, payload: dict[str, Any]) -> None:  # Any: JSON of an event
        call = str(payload.get("call_id") or payload.get("tool_name"))
        name = str(payload.get("tool_name"))
        if kind in ("tool:end", "tool:error"):
            bar = self._bars.pop(call, None)
            if bar is not None:
                self.progress.remove_task(bar)
            return
        if call not in self._bars:
            self._bars[call] = self.progress.add_task(_word_start(name, payload), total=1, step="")
        if kind == "tool:update":
            self.progress.update(
                self._bars[call],
                completed=payload["step_index"],
                total=payload["total_steps"],
                step=str(payload["step_name"]),
            )


def _word_start(name: str, payload: dict[str, object]) -> str:
    """The tool, and what is to be seen of it meanwhile."""
    told = word_start(payload)
    return escape(f"{name} ({told})" if told else name)


def _draw_line(body: dict[str, Any]) -> Text:  # Any: JSON of an event
    family = body["type"].partition(":")[0]
    payload = body["payload"]
    facts = ", ".join(
        f"{name}={_short(value)}"
        for name, value in payload.items()
        if name not in _QUIET_FIELDS and value not in (None, "", [], {})
    )
    line = Text(f"{body['occurred_at'][11:19]} {body['sequence']:>6} ", style="dim")
    line.append(f"{body['type']:<20} ", style=_STYLES.get(family, ""))
    line.append(f"{payload.get('tool_name', '')} " if payload.get("tool_name") else "", style="bold")
    line.append(_plain(facts)[:_LONGEST_LINE])
    return line


def _short(value: Any) -> str:  # Any: JSON of an event
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return text if len(text) <= 48 else f"{text[:45]}…"


def _plain(text: str) -> str:
    """Without control characters: an event must not steer the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _wait_for_news(position: int, head: LogHead) -> None:
    ring: Any = event_ring.open_ring()  # Any: JSON of an event
    if ring is not None:
        try:
            ring.xread({event_ring.ring_key(head.log_id): f"{position}-0"}, count=1, block=_WAIT_MS)
        except (RedisError, OSError) as error:
            event_ring.rest_ring(error)
        else:
            return
    threading.Event().wait(_PAUSE_SECONDS)

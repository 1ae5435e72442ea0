"""What a stranger may read: the queries its owner opened, one by one. Nothing they ask changes anything of a golem."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from archetypes_app.models import Golem
from archetypes_app.toolset import resolve_toolset
from golem_project.a2a.errors import NotForStrangers, TooManyTasks
from golem_project.a2a.models import OpenedRead, Task
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE, query_state
from tools_app.adapters import normalize_key
from tools_app.core.clock import AHEAD
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.tooldef import ReadTool

_MINUTE = timedelta(minutes=1)


def list_openable(golem: Golem) -> list[tuple[str, str]]:
    """Every query and venue that the golem's owner could open."""
    own = [(query.key, OWN_VENUE) for query in OWN_QUERIES]
    tools = [
        (tool.key, tool.venue)
        for tool in resolve_toolset(golem)
        if isinstance(tool, ReadTool) and tool.pi_tool is PiTool.QUERY_STATE
    ]
    return sorted({*own, *tools})


def check_pace(*, golem: Golem, visitor: str, now: datetime) -> None:
    """Raises TooManyTasks where this wallet, or all strangers together, asked enough for a minute."""
    rows = Task.objects.filter(
        golem=golem, api_key__isnull=True, created_at__gt=now - _MINUTE, created_at__lte=now + AHEAD
    )
    mine, all_of_them = settings.GOLEM_A2A_MOST_VISITS_PER_MINUTE, settings.GOLEM_A2A_MOST_STRANGERS_PER_MINUTE
    if rows.filter(visitor=visitor).count() >= mine or rows.count() >= all_of_them:
        raise TooManyTasks("strangers asked enough for this minute", limit=mine)


def answer_stranger(*, task: Task, now: datetime) -> dict[str, Any]:
    """The answer of an opened read. Raises NotForStrangers for whatever else is asked, and what the read raises."""
    params = dict(task.params)
    query, venue = params.pop("query", None), params.pop("venue", OWN_VENUE)
    if task.skill != PiTool.QUERY_STATE or not isinstance(query, str) or not isinstance(venue, str):
        raise _closed(task.golem)
    key, where = normalize_key(query), normalize_key(venue)
    if not OpenedRead.objects.filter(golem=task.golem, query=key, venue=where).exists():
        raise _closed(task.golem)
    cursor = params.pop("cursor", None)
    if cursor is not None and not isinstance(cursor, str):
        raise InvalidParams("the cursor is text", fields={"cursor": "text"})
    return query_state(golem=task.golem, query=key, venue=where, params=params, cursor=cursor, now=now)


def describe_opened(golem: Golem) -> list[str]:
    """The opened reads, as `query@venue`."""
    return [str(row) for row in OpenedRead.objects.filter(golem=golem).order_by("query", "venue")]


def _closed(golem: Golem) -> NotForStrangers:
    return NotForStrangers(
        "without a key of this golem only what its owner opened is answered", opened=describe_opened(golem)
    )

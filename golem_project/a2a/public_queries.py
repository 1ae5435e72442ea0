"""Keeps the list of queries that an owner opened to strangers. Answering one changes nothing of a golem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from archetypes_app.models import Golem
from archetypes_app.toolset import resolve_toolset
from golem_project.a2a.errors import NotForStrangers, TooManyTasks
from golem_project.a2a.models import OpenedRead, Task
from golem_project.a2a.publications import find_own_price
from golem_project.a2a.settle_paid_read import PAID_IN, Asker, Clock, SoldQuestion, sell
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE, query_state
from tools_app.core.clock import AHEAD
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.select_tool_for_venue import normalize_key
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.tooldef import ReadTool

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class PaidAnswer:
    """An answer, and the receipt of what was paid for it; empty where it is free."""

    answer: dict[str, object]
    receipt: dict[str, object]


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


def answer_stranger(*, task: Task, read_clock: Clock) -> PaidAnswer:
    """The answer of an opened read. Raises NotForStrangers for whatever else is asked, PaymentNeeded where it has a
    price that the task did not pay, and what the read raises.
    """
    params = dict(task.params)
    query, venue = params.pop("query", None), params.pop("venue", OWN_VENUE)
    if task.skill != PiTool.QUERY_STATE or not isinstance(query, str) or not isinstance(venue, str):
        raise _closed(task.golem)
    opened = find_opened(task.golem, query=query, venue=venue)
    if opened.price_micro_usdc is None:
        return PaidAnswer(_work_out(opened, params, read_clock()), {})
    url = f"urn:uuid:{task.pk}"
    payment, asker = task.payment.get("payload"), Asker(task.visitor)
    return sell_read(opened, params=params, url=url, payment=payment, asker=asker, read_clock=read_clock)


def sell_read(
    opened: OpenedRead, *, params: Mapping[str, object], url: str, payment: object, asker: Asker, read_clock: Clock
) -> PaidAnswer:
    """The answer of an opened read that has a price, to whoever pays. Raises what `selling.sell` raises."""
    price = max(opened.price_micro_usdc or 0, find_own_price(opened.golem, query=opened.query, params=params))
    question = SoldQuestion(opened.golem, opened.query, opened.venue, params, price, url, asker)
    sold = sell(
        question, payment=payment, work_out=lambda: _work_out(opened, params, read_clock()), read_clock=read_clock
    )
    return PaidAnswer(sold.answer, sold.receipt)


def find_opened(golem: Golem, *, query: str, venue: str) -> OpenedRead:
    """The read that the owner opened. Raises NotForStrangers."""
    key, where = normalize_key(query), normalize_key(venue)
    rows = OpenedRead.objects.select_related("golem__archetype", "golem__warden")
    opened = rows.filter(golem=golem, query=key, venue=where).first()
    if opened is None:
        raise _closed(golem)
    return opened


def _work_out(opened: OpenedRead, params: Mapping[str, object], now: datetime) -> dict[str, object]:
    asked = dict(params)
    cursor = asked.pop("cursor", None)
    if cursor is not None and not isinstance(cursor, str):
        raise InvalidParams("the cursor is text", fields={"cursor": "text"})
    return query_state(golem=opened.golem, query=opened.query, venue=opened.venue, params=asked, cursor=cursor, now=now)


def describe_opened(golem: Golem) -> list[str]:
    """The opened reads, as `query@venue`, with their prices."""
    return [describe_one(row) for row in OpenedRead.objects.filter(golem=golem).order_by("query", "venue")]


def describe_one(row: OpenedRead) -> str:
    """Such as `limits@golem for 0.05 USDC`."""
    price = row.price_micro_usdc
    return str(row) if price is None else f"{row} for {format_units(price, 6, PAID_IN)}"


def _closed(golem: Golem) -> NotForStrangers:
    return NotForStrangers(
        "without a key of this golem only what its owner opened is answered", opened=describe_opened(golem)
    )

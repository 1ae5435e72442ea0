"""Lists what golems were refused, with amounts and the rule; equal ones in a row are one line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from django.db.models import QuerySet
from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.models import DeniedCall
from permits_app.words.move_words import describe_move
from tools_app.pages.html import show_age
from tools_app.wording.address_names import name_addresses
from tools_app.wording.formats import format_usd

DAY: Final = timedelta(hours=24)
_LOOKED_AT: Final = 100


@dataclass(frozen=True, slots=True)
class RefusalLine:
    """One action that a rule refused, `times` in a row."""

    golem: Golem
    what: str
    worth: str
    why: str
    rule: str
    age: SafeString
    times: int


def list_refusals(rows: QuerySet[DeniedCall], *, now: datetime, most: int) -> tuple[RefusalLine, ...]:
    """The newest refusals of the last day among `rows`."""
    newest = rows.filter(denied_at__gt=now - DAY).select_related("golem").order_by("-denied_at")[:_LOOKED_AT]
    runs = groupby(newest, key=lambda row: (row.golem_id, row.action_type, row.rule or row.code, row.value_micro_usd))
    return tuple(_describe(list(run), now) for _, run in runs)[:most]


def count_refusals(rows: QuerySet[DeniedCall], *, now: datetime) -> int:
    """How many in the last day."""
    return rows.filter(denied_at__gt=now - DAY).count()


def _describe(run: list[DeniedCall], now: datetime) -> RefusalLine:
    row = run[0]
    why = name_addresses(row.detail, row.chain_id)
    return RefusalLine(
        golem=row.golem,
        what=describe_move(row.action_type, row.bounds),
        worth=format_usd(row.value_micro_usd),
        why=why[:1].upper() + why[1:],
        rule=row.rule or row.code,
        age=show_age(row.denied_at, now=now),
        times=len(run),
    )

"""The Safes of golems that stand open, in words, with the page on which owners sign what closes each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.models import ChangeRequest, SafeOpening
from permits_app.models.approval import LIVE_STATES
from permits_app.policy_cage.safe_fallback import CLOSE_SAFE, Openings, say_opening

_MOST_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class OpeningLine:
    """One Safe. `url` is the request that closes it, or the golem's page while there is none."""

    golem: Golem
    account: str
    sentence: str
    is_open: bool
    url: str
    is_asked: bool
    since: datetime


def list_opening_lines(golems: QuerySet[Golem] | Sequence[Golem]) -> tuple[OpeningLine, ...]:
    """Those of `golems`, the worst first."""
    rows = SafeOpening.objects.filter(golem__in=golems).select_related("golem").order_by("-is_open", "pk")[:_MOST_SHOWN]
    found = list(rows)
    asked = {
        (request.golem_id, request.change["account"]): request.pk
        for request in ChangeRequest.objects.filter(
            golem__in=[row.golem_id for row in found], kind=CLOSE_SAFE, state__in=LIVE_STATES
        ).order_by("created_at")
    }
    return tuple(_describe(row, asked.get((row.golem_id, row.account))) for row in found)


def _describe(row: SafeOpening, request_id: object | None) -> OpeningLine:
    page = "permits_app_changerequest_change" if request_id else "archetypes_app_golem_change"
    return OpeningLine(
        golem=row.golem,
        account=row.account,
        sentence=say_opening(row.account, Openings(row.handler, tuple(row.modules), row.is_open)),
        is_open=row.is_open,
        url=reverse(f"admin:{page}", args=[request_id or row.golem_id]),
        is_asked=request_id is not None,
        since=row.created_at,
    )

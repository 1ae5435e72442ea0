"""A golem's page of the index of logs: what is followed for it, since when, what is missing, what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from archetypes_app.roles import Power
from tools_app.admin.display import format_chain, group_digits, show_age
from tools_app.core import clock
from tools_app.history.overview import FollowedContract, look_over
from tools_app.models.history import FollowedChain, LogGap

MOST_GAPS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ContractLine:
    """One contract as a page shows it. `missing` are its newest gaps in words, `more` how many there are besides."""

    kind: str
    chain: str
    address: str
    because: str
    since: SafeString
    known_since: datetime
    logs: str
    missing: tuple[str, ...]
    more: int
    shared_with: int


@dataclass(frozen=True, slots=True)
class ChainLine:
    """The follower of one chain: how far it is, what it met, and what is spent of this minute's questions."""

    chain: str
    block: str
    read_until: datetime
    looked: SafeString
    problem: str
    lie: str
    rollbacks: int
    spent: int


class FollowedPages:
    """A page of the golem's admin that only tells: whoever sees the golem sees it."""

    def list_followed_urls(self, wrap: Callable[[Any], Any], name: str) -> list[Any]:
        """Its address."""
        return [path("<uuid:golem_id>/followed/", wrap(self.followed_view), name=f"{name}_followed")]

    def followed_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """What is followed for this golem. Reads rows; asks no node."""
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied("this page only tells")
        # The class it is mixed into is Django's admin, whose attributes nothing here declares.
        admin: Any = self
        golem: Golem = admin.find_golem_with(request, golem_id, Power.SEE)
        now = clock.now()
        found = look_over([str(golem.pk), *([golem.address] if golem.address else [])])
        context = {
            **admin.admin_site.each_context(request),
            "title": f"What is followed for {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "back_url": admin.page_of(golem),
            "overview": found,
            "contracts": [_describe(each, found.most_logs, now) for each in found.contracts],
            "chains": [_describe_chain(each, now) for each in found.chains],
        }
        return TemplateResponse(request, "admin/golem/followed.html", context)


def _describe(each: FollowedContract, most_logs: int, now: datetime) -> ContractLine:
    source, gaps = each.source, each.gaps
    return ContractLine(
        kind=source.get_kind_display(),
        chain=format_chain(source.chain_id),
        address=f"{source.address} of {source.manager}" if source.manager else source.address,
        because=each.because,
        since=show_age(source.added_at, now=now),
        known_since=each.known_since,
        logs=f"{group_digits(str(source.logs))} of at most {group_digits(str(most_logs))}",
        missing=tuple(map(_say_gap, gaps[:MOST_GAPS_SHOWN])),
        more=max(0, len(gaps) - MOST_GAPS_SHOWN),
        shared_with=each.shared_with,
    )


def _say_gap(gap: LogGap) -> str:
    since = f"{gap.since_time:%Y-%m-%d %H:%M}" if gap.since_time else "its beginning"
    blocks = f"blocks {group_digits(str(gap.from_block))} to {group_digits(str(gap.to_block))}"
    state = f"filled no more: {gap.closed_because}" if gap.closed_because else "being filled"
    return f"{blocks}, from {since} to {gap.until_time:%Y-%m-%d %H:%M} UTC ({gap.because}); {state}"


def _describe_chain(row: FollowedChain, now: datetime) -> ChainLine:
    lies = f"{row.lies}, the last: {row.last_lie}" if row.lies else ""
    return ChainLine(
        chain=format_chain(row.pk),
        block=group_digits(str(row.next_block - 1)),
        read_until=row.head_time,
        looked=show_age(row.followed_at, now=now),
        problem=row.last_error,
        lie=lies,
        rollbacks=row.rollbacks,
        spent=row.spent,
    )

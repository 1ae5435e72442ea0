"""The admin's first page: live golems, today's spending, permits, what needs a person. Scoped like every other page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from archetypes_app.admin.owner_scope import is_operator
from archetypes_app.admin.records import read_time
from archetypes_app.models import Golem
from archetypes_app.ownership import list_owned_golems
from permits_app.admin.golem_page import Meter, PermitLine, build_meters, describe_permits
from permits_app.approvals.inbox import Inbox, build_inbox
from permits_app.blockage import list_blocked_accounts, list_stuck_chains
from permits_app.models import ActionPermit, SpendingLimits
from permits_app.models.permit import PermitStatus
from tools_app.admin.display import format_chain, show_age, show_badge
from tools_app.core import clock
from tools_app.core.models import AuditEntry

LOCAL_CHAIN_ID = 31337
SHOWN_GOLEMS = 6
SHOWN_ROWS = 10
_NEEDS_PERSON = (PermitStatus.UNKNOWN, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number on top, linked to its rows."""

    name: str
    value: int
    url: str
    is_alert: bool = False


@dataclass(frozen=True, slots=True)
class GolemLine:
    """One golem with its limits."""

    golem: Golem
    state: SafeString
    meters: tuple[Meter, ...]


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One audit entry."""

    entry: AuditEntry
    golem_name: str
    age: SafeString


@dataclass(frozen=True, slots=True)
class StuckLine:
    """A chain or an account whose commits do not go on."""

    what: str
    why: str
    age: SafeString


@dataclass(frozen=True, slots=True)
class Board:
    """The first page."""

    now: datetime
    is_simulated_chain: bool
    may_add: bool
    figures: tuple[Figure, ...]
    stuck: tuple[StuckLine, ...]
    attention: tuple[PermitLine, ...]
    inbox: Inbox
    permits: tuple[PermitLine, ...]
    golems: tuple[GolemLine, ...]
    audit: tuple[AuditLine, ...]


def fill_dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Put the board into the index page's context."""
    context["board"] = build_board(request.user, now=clock.now())
    context["title"] = "Overview"
    return context


def describe_environment(request: HttpRequest) -> list[str] | None:
    """A label in the header while the local chain is configured."""
    return ["local chain", "info"] if LOCAL_CHAIN_ID in settings.GOLEM_RPC_URLS else None


def build_board(user: Any, *, now: datetime) -> Board:
    """What `user` may see of everything, as of `now`."""
    golems = Golem.objects.all() if is_operator(user) else list_owned_golems(user)
    permits = ActionPermit.objects.all()
    if not is_operator(user):
        permits = permits.filter(golem__in=golems)
    return Board(
        now=now,
        is_simulated_chain=LOCAL_CHAIN_ID in settings.GOLEM_RPC_URLS,
        may_add=bool(user.has_perm("archetypes_app.add_golem")),
        figures=_count_figures(golems, permits, now),
        stuck=_list_stuck(golems, now),
        attention=describe_permits(_match_attention(permits, now), now=now),
        inbox=build_inbox(user, now=now),
        permits=describe_permits(permits, now=now),
        golems=_list_golems(golems, now),
        audit=_list_audit(user, golems, now),
    )


def _count_figures(golems: QuerySet[Golem], permits: QuerySet[ActionPermit], now: datetime) -> tuple[Figure, ...]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = permits.filter(created_at__gte=midnight)
    by_status = {row["status"]: row["many"] for row in today.values("status").annotate(many=Count("pk"))}
    page = reverse("admin:permits_app_actionpermit_changelist")
    halted = golems.filter(halted_at__isnull=False).count()
    figures = [
        Figure(
            "at work",
            golems.filter(halted_at__isnull=True).count(),
            reverse("admin:archetypes_app_golem_changelist"),
        )
    ]
    if halted:
        figures.append(Figure("halted", halted, reverse("admin:archetypes_app_golem_changelist"), is_alert=True))
    for status, name in (
        (PermitStatus.CREATED, "open"),
        (PermitStatus.COMMITTED, "committed"),
        (PermitStatus.EXPIRED, "expired"),
    ):
        figures.append(Figure(name, by_status.get(status, 0), f"{page}?status__exact={status}"))
    for status, name in (
        (PermitStatus.REVERTED, "reverted"),
        (PermitStatus.BLOCKED, "blocked"),
        (PermitStatus.UNKNOWN, "unknown"),
    ):
        many = by_status.get(status, 0)
        figures.append(Figure(name, many, f"{page}?status__exact={status}", is_alert=many > 0))
    return tuple(figures)


def _list_stuck(golems: QuerySet[Golem], now: datetime) -> tuple[StuckLine, ...]:
    """What holds commits up: chains for everybody, accounts of `golems`."""
    chains = [
        StuckLine(
            format_chain(chain.chain_id),
            f"its node does not answer ({chain.reason})" if chain.is_node else "no commit worker follows it",
            show_age(chain.since, now=now),
        )
        for chain in list_stuck_chains(now=now)
    ]
    names = dict(golems.values_list("pk", "name"))
    accounts = [
        StuckLine(
            f"{names[account.golem_id]}, {format_chain(account.chain_id)}",
            f"nonce {account.nonce} of {account.address} was sent and is not mined; new commits wait for it",
            show_age(account.since, now=now),
        )
        for account in list_blocked_accounts(now=now)
        if account.golem_id in names
    ]
    return (*chains, *accounts)


def _match_attention(permits: QuerySet[ActionPermit], now: datetime) -> QuerySet[ActionPermit]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    blocked_today = Q(status=PermitStatus.BLOCKED, created_at__gte=midnight)
    return permits.filter(Q(status__in=[str(status) for status in _NEEDS_PERSON]) | blocked_today)


def _list_golems(golems: QuerySet[Golem], now: datetime) -> tuple[GolemLine, ...]:
    shown = list(golems.select_related("archetype").order_by("-updated_at")[:SHOWN_GOLEMS])
    limits = {row.golem_id: row for row in SpendingLimits.objects.filter(golem__in=shown)}
    return tuple(
        GolemLine(
            golem=golem,
            state=show_badge("halted", "bad") if golem.is_halted else show_badge(golem.phase),
            meters=build_meters(golem, limits.get(golem.pk) or SpendingLimits(golem=golem), now=now)[:1],
        )
        for golem in shown
    )


def _list_audit(user: Any, golems: QuerySet[Golem], now: datetime) -> tuple[AuditLine, ...]:
    entries = AuditEntry.objects.all()
    if not is_operator(user):
        entries = entries.filter(golem_id__in=golems.values("pk"))
    rows = list(entries.order_by("-timestamp_ms", "-seq")[:SHOWN_ROWS])
    names = dict(golems.filter(pk__in={row.golem_id for row in rows}).values_list("pk", "name"))
    return tuple(
        AuditLine(entry=row, golem_name=str(names.get(row.golem_id, "–")), age=show_age(read_time(row), now=now))
        for row in rows
    )

"""Builds the admin's first page: holdings with pictures, requests that need a person, announced actions, refusals, and
stuck accounts.

Scoped like every other page. Reads rows; asks no node.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from django.urls import reverse
from django.utils.safestring import SafeString
from redis import RedisError

from archetypes_app.demo_golems import read_set_apart, shorten_names
from archetypes_app.models import ApiKey, Golem, Heartbeat
from archetypes_app.ownership import is_operator, list_seen_golems
from archetypes_app.pages.demo_mark import show_maker
from permits_app.approval_pages.inbox import Inbox, build_inbox
from permits_app.limits import ledger
from permits_app.limits.owner_budget import find_limit
from permits_app.models import ActionPermit, DeniedCall, NavSnapshot, PendingRequest, SpendingLimits
from permits_app.models.pending_request import RequestState
from permits_app.models.permit import PermitStatus
from permits_app.pages.budget_lines import meter_budget, read_budget
from permits_app.pages.delegation_lines import list_delegation_lines
from permits_app.pages.exposed_safe_lines import list_opening_lines
from permits_app.pages.golem_figures import PermitLine, describe_permits, meter_day
from permits_app.pages.golem_state import GolemState, read_states
from permits_app.pages.leftover_dust_lines import TOLD_FOR, list_left_lines
from permits_app.pages.limit_meter import Meter
from permits_app.pages.money_pictures import MoneyPictures, draw_money
from permits_app.pages.portfolio_card import PositionSum, read_kept, sign_usd, sum_up_positions
from permits_app.pages.refusals import RefusalLine, RuleTally, count_by_rule, count_refusals, list_refusals
from permits_app.pages.request_lines import name_request, say_held
from permits_app.performance.profit_days import RecentWorth, read_worths
from permits_app.permits.blocked_commits import list_blocked_accounts, list_stuck_chains
from tools_app.core.audit_archives import list_newest
from tools_app.core.audit_log import read_time
from tools_app.core.liveness import BEAT, Silence, list_silent
from tools_app.core.models import AuditEntry
from tools_app.pages.html import show_age, show_badge
from tools_app.wording.formats import format_chain, format_usd

LOCAL_CHAIN_ID: Final = 31337
COUNTED_GOLEMS: Final = 100
"""Of so many golems, those that changed last, are figures and pictures: an operator sees everybody's."""
SHOWN_GOLEMS: Final = 6
SHOWN_ROWS: Final = 10
SHOWN_PERMITS: Final = 6
SHOWN_ENTRIES: Final = 6
SHOWN_REFUSALS: Final = 4
# In millionths of a dollar: less than that is not told as something to withdraw.
_CENT: Final = 10_000
# A heartbeat is late after two of its intervals and a minute.
_TWO_SECONDS: Final = timedelta(seconds=2)
_MINUTE: Final = timedelta(seconds=60)
_TELLS_ITSELF: Final = (RequestState.READY, RequestState.STUCK, RequestState.LOST)


@dataclass(frozen=True, slots=True)
class Owned:
    """The golems of a person together; texts are empty where nothing was measured yet."""

    value: str
    change: str
    debt: str
    unmeasured: int
    at_work: int
    stopped: int
    reads_only: int
    is_of_newest: bool = False
    """Whether there are more than COUNTED_GOLEMS."""

    @property
    def whose(self) -> str:
        """For people: of which golems these figures are."""
        return f"the {COUNTED_GOLEMS} golems that changed last" if self.is_of_newest else "all golems"


@dataclass(frozen=True, slots=True)
class GolemLine:
    """One golem with what it is worth and how much of its day is used."""

    golem: Golem
    maker: SafeString
    state: SafeString
    worth: str
    change: str
    positions: PositionSum
    meters: tuple[Meter, ...]


@dataclass(frozen=True, slots=True)
class NeedLine:
    """Something a person has to do that is no request."""

    what: str
    why: str
    url: str
    golem_name: str
    age: SafeString


@dataclass(frozen=True, slots=True)
class StuckLine:
    """A chain or an account whose commits do not go on."""

    what: str
    why: str
    age: SafeString | str


@dataclass(frozen=True, slots=True)
class SetUpStep:
    """One step from nothing to a golem that acts. `is_done` is read from rows."""

    words: str
    url: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One audit entry."""

    entry: AuditEntry
    golem_name: str
    age: SafeString


@dataclass(frozen=True, slots=True)
class Board:
    """The first page."""

    now: datetime
    is_simulated_chain: bool
    may_add: bool
    owned: Owned
    inbox: Inbox
    needs: tuple[NeedLine, ...]
    pictures: MoneyPictures
    refusals: tuple[RefusalLine, ...]
    refused_by: tuple[RuleTally, ...]
    refused: int
    stuck: tuple[StuckLine, ...]
    machinery: str
    machinery_tone: str
    steps: tuple[SetUpStep, ...]
    permits: tuple[PermitLine, ...]
    golems: tuple[GolemLine, ...]
    budget: tuple[Meter, ...]
    """What the golems that the person owns used of the budget they share; empty without one."""
    audit: tuple[AuditLine, ...]
    apart: tuple[str, ...]
    """Whom of the demo and of measurements there is; empty where there is nobody."""
    is_with_apart: bool


def build_board(
    user: Any,  # Any: which model accounts have is a setting
    *,
    now: datetime,
    is_with_apart: bool = False,
) -> Board:
    """What `user` may see of everything, as of `now`; of golems that are set apart where `is_with_apart`."""
    seen = list_seen_golems(user).filter(retired_at__isnull=True)
    apart = read_set_apart(seen)
    golems = seen if is_with_apart or not apart else seen.exclude(pk__in=apart)
    rows = list(golems.select_related("archetype").order_by("-updated_at", "pk")[: COUNTED_GOLEMS + 1])
    is_of_newest, rows = len(rows) > COUNTED_GOLEMS, rows[:COUNTED_GOLEMS]
    permits, denied, waiting = ActionPermit.objects.all(), DeniedCall.objects.all(), PendingRequest.objects.all()
    unknown = permits.filter(status=PermitStatus.UNKNOWN)
    shown: list[UUID] = []
    if not is_operator(user):
        # Ids and not a query of golems: behind that PostgreSQL looks through the rows of everybody's golems.
        shown = list(golems.values_list("pk", flat=True)) if is_of_newest else [row.pk for row in rows]
        # What needs a person is told of every golem.
        of_all = {*shown, *apart}
        permits, denied = permits.filter(golem_id__in=shown), denied.filter(golem_id__in=shown)
        waiting, unknown = waiting.filter(golem_id__in=of_all), unknown.filter(golem_id__in=of_all)
    elif apart and not is_with_apart:
        permits, denied = permits.exclude(golem__in=apart), denied.exclude(golem__in=apart)
    states = read_states(rows)
    worths = read_worths(golem_ids=[row.pk for row in rows], now=now)
    stuck = _list_stuck(None if is_operator(user) else list(seen.values_list("pk", flat=True)), now)
    return Board(
        now=now,
        is_simulated_chain=LOCAL_CHAIN_ID in settings.GOLEM_RPC_URLS,
        may_add=bool(user.has_perm("archetypes_app.add_golem")),
        owned=replace(_sum_up(rows, states, worths), is_of_newest=is_of_newest),
        inbox=build_inbox(user, now=now),
        needs=(
            *_list_open_safes(seen, now),
            *_list_delegated(seen, now),
            *_list_left(list_seen_golems(user), now),
            *_list_still_held(list_seen_golems(user), now),
            *_list_needs(unknown, waiting, now),
        ),
        pictures=draw_money(rows, now=now),
        refusals=list_refusals(denied, now=now, most=SHOWN_REFUSALS),
        refused_by=count_by_rule(denied, now=now),
        refused=count_refusals(denied, now=now),
        stuck=stuck,
        machinery=_say_machinery(stuck, seen, now),
        machinery_tone="bad" if stuck else "good",
        steps=_list_steps(golems, permits) if user.has_perm("archetypes_app.add_golem") else (),
        permits=describe_permits(permits, now=now)[:SHOWN_PERMITS],
        golems=_list_golems(rows[:SHOWN_GOLEMS], states, worths, now),
        budget=_meter_budget(user, now),
        audit=_list_audit(user, shown, apart if not is_with_apart else {}, now),
        apart=shorten_names(apart.values()),
        is_with_apart=is_with_apart,
    )


def _meter_budget(user: Any, now: datetime) -> tuple[Meter, ...]:  # Any: which model accounts have is a setting
    if find_limit(user.pk) is None:
        return ()
    return (meter_budget(read_budget(user.pk, now=now)),)


def _sum_up(
    rows: list[Golem],
    states: dict[object, GolemState],
    worths: dict[UUID, RecentWorth],
) -> Owned:
    known = list(worths.values())
    compared = [worth.parts.profit for worth in known if worth.has_history]
    debt = sum(worth.debt for worth in known)
    return Owned(
        value=format_usd(sum(worth.value for worth in known)) if known else "",
        change=sign_usd(sum(compared)) if compared else "",
        debt=format_usd(debt) if debt else "",
        unmeasured=sum(bool(row.address) and row.pk not in worths for row in rows),
        at_work=sum(state.is_at_work for state in states.values()),
        stopped=sum(state.is_stopped for state in states.values()),
        reads_only=sum(not state.is_stopped and not state.can_act for state in states.values()),
    )


def _list_open_safes(seen: QuerySet[Golem], now: datetime) -> tuple[NeedLine, ...]:
    """Safes that anybody can empty, before everything else."""
    return tuple(
        NeedLine(
            "Its Safe can be emptied by anybody" if line.is_open else "Its Safe is one step from open to anybody",
            line.sentence,
            line.url,
            line.golem.name,
            show_age(line.since, now=now),
        )
        for line in list_opening_lines(seen)
    )


def _list_delegated(seen: QuerySet[Golem], now: datetime) -> tuple[NeedLine, ...]:
    """Keys that somebody delegated to a contract."""
    return tuple(
        NeedLine(
            "One of its keys runs somebody's code",
            line.sentence,
            reverse("admin:archetypes_app_golem_change", args=[line.golem.pk]),
            line.golem.name,
            show_age(line.since, now=now),
        )
        for line in list_delegation_lines(seen)
        if not line.is_agreed
    )


def _list_left(golems: QuerySet[Golem], now: datetime) -> list[NeedLine]:
    """What only a person gets out of a golem that ends or was stopped, and what waits: however little it is."""
    return [
        NeedLine(line.what, f"it is not out: {line.why}", line.url, line.golem_name, show_age(line.since, now=now))
        for line in list_left_lines(golems, now=now)
    ]


def _list_still_held(golems: QuerySet[Golem], now: datetime) -> list[NeedLine]:
    """What the golems that ended last still hold, as it was measured last: nothing but its owner moves it."""
    ended = list(golems.filter(retired_at__isnull=False).order_by("-retired_at")[:SHOWN_ROWS])
    worths = read_worths(golem_ids=[golem.pk for golem in ended], now=now, over=TOLD_FOR) if ended else {}
    return [
        NeedLine(
            f"{format_usd(worths[golem.pk].value)} that it still holds",
            "it has ended, and nothing moves it but you: withdraw it",
            reverse("admin:archetypes_app_golem_change", args=[golem.pk]),
            golem.name,
            show_age(golem.retired_at, now=now),
        )
        for golem in ended
        if golem.pk in worths and worths[golem.pk].value >= _CENT
    ]


def _list_needs(
    unknown: QuerySet[ActionPermit], waiting: QuerySet[PendingRequest], now: datetime
) -> tuple[NeedLine, ...]:
    """Outcomes nobody knows, and what came out of a queue, or did not."""
    unknown = unknown.select_related("golem").order_by("-created_at")
    lines = [
        NeedLine(
            str(line.what),
            "nobody knows whether it was mined; the server goes on looking",
            reverse("admin:permits_app_actionpermit_change", args=[line.permit.pk]),
            line.golem_name,
            line.age,
        )
        for line in describe_permits(unknown, now=now)
    ]
    rows = waiting.filter(state__in=_TELLS_ITSELF).select_related("golem").order_by("updated_at")[:SHOWN_ROWS]
    lines += [
        NeedLine(
            f"{name_request(row)}, {say_held(row)}",
            row.get_state_display().lower(),
            reverse("admin:permits_app_pendingrequest_change", args=[row.pk]),
            row.golem.name,
            show_age(row.updated_at, now=now),
        )
        for row in rows
    ]
    return tuple(lines)


def _list_stuck(of: Collection[UUID] | None, now: datetime) -> tuple[StuckLine, ...]:
    """What does not go on: scheduled work, queues and chains for everybody, accounts of these golems; None is all."""
    chains = [
        StuckLine(
            format_chain(chain.chain_id),
            f"its node does not answer ({chain.reason})" if chain.is_node else "no commit worker follows it",
            show_age(chain.since, now=now),
        )
        for chain in list_stuck_chains(now=now)
    ]
    silent = [
        StuckLine(
            "scheduled work" if each.name == BEAT else each.name,
            each.reason,
            show_age(each.since, now=now) if each.since else "never seen",
        )
        for each in _list_silent(now)
    ]
    blocked = list_blocked_accounts(now=now, of=of)
    names = dict(
        Golem.objects.filter(pk__in={each.golem_id for each in blocked}, retired_at__isnull=True).values_list(
            "pk", "name"
        )
    )
    accounts = [
        StuckLine(
            f"{names[account.golem_id]}, {format_chain(account.chain_id)}",
            f"nonce {account.nonce} of {account.address} was sent and is not mined; new commits wait for it",
            show_age(account.since, now=now),
        )
        for account in blocked
        if account.golem_id in names
    ]
    return (*silent, *chains, *accounts)


def _list_silent(now: datetime) -> list[Silence]:
    try:
        return list_silent(now=now)
    except RedisError:
        # Without the broker nobody gives a sign, and none is seen.
        return [Silence(BEAT, since=None)]


def _say_machinery(stuck: tuple[StuckLine, ...], golems: QuerySet[Golem], now: datetime) -> str:
    beats = Heartbeat.objects.filter(golem__in=golems, is_on=True)
    counted = beats.annotate(
        waited=ExpressionWrapper(Value(now) - F("next_tick_at"), output_field=DurationField()),
        allowed=ExpressionWrapper(F("base_interval_seconds") * Value(_TWO_SECONDS), output_field=DurationField()),
    ).aggregate(late=Count("pk", filter=Q(waited__gt=F("allowed") + _MINUTE)), on=Count("pk"))
    late, on = counted.values()
    told = [f"{len(stuck)} thing{'s' if len(stuck) > 1 else ''} not going on"] if stuck else ["nothing is stuck"]
    if on:
        told.append(
            f"{late} of {on} golems that look by themselves are late"
            if late
            else "its golem looks by itself, on time"
            if on == 1
            else f"all {on} golems that look by themselves did so on time"
        )
    return "; ".join(told)


def _list_steps(golems: QuerySet[Golem], permits: QuerySet[ActionPermit]) -> tuple[SetUpStep, ...]:
    """From the first golem to live; empty once one is live."""
    if golems.filter(is_live=True).exists():
        return ()
    first = golems.order_by("-address", "created_at").first()
    page = reverse("admin:archetypes_app_golem_change", args=[first.pk]) if first else ""
    add = reverse("admin:archetypes_app_golem_add")
    here = page or add
    beats = Heartbeat.objects.filter(golem__in=golems)
    # What was committed was paid for, whether or not a heartbeat measured it since.
    is_funded = (
        NavSnapshot.objects.filter(golem__in=golems, value_micro_usd__gt=0).exists()
        or permits.filter(status=PermitStatus.COMMITTED).exists()
    )
    return (
        SetUpStep("Make a golem", add, first is not None),
        SetUpStep("Give it a wallet", here, first is not None and bool(first.address)),
        SetUpStep("Fund the wallet", here, is_funded),
        SetUpStep("Give its agent a key", here, ApiKey.objects.filter(golem__in=golems).exists()),
        SetUpStep("Preview a first action", here, permits.exists()),
        SetUpStep(
            "Turn its heartbeat on; it rehearses",
            _find_heartbeat(first, beats) if first is not None else add,
            beats.filter(is_on=True).exists(),
        ),
        SetUpStep("Let the heartbeat act", f"{page.removesuffix('change/')}live/" if page else add, False),
    )


def _find_heartbeat(golem: Golem, beats: QuerySet[Heartbeat]) -> str:
    """The page where the heartbeat of `golem` is set, or begun."""
    if beats.filter(golem=golem).exists():
        return reverse("admin:archetypes_app_heartbeat_change", args=[golem.pk])
    return f"{reverse('admin:archetypes_app_heartbeat_add')}?golem={golem.pk}"


def _list_golems(
    rows: list[Golem],
    states: dict[object, GolemState],
    worths: dict[UUID, RecentWorth],
    now: datetime,
) -> tuple[GolemLine, ...]:
    ids = [row.pk for row in rows]
    limits = {row.golem_id: row for row in SpendingLimits.objects.filter(golem__in=ids)}
    spent = ledger.sum_days(golem_ids=ids, now=now)
    kept = read_kept(ids, now=now)
    return tuple(
        GolemLine(
            golem=golem,
            maker=show_maker(golem),
            state=states[golem.pk].show(),
            worth=format_usd(worths[golem.pk].value) if golem.pk in worths else "",
            change=sign_usd(worths[golem.pk].parts.profit)
            if golem.pk in worths and worths[golem.pk].has_history
            else "",
            positions=sum_up_positions(kept.get(golem.pk, []), now=now),
            meters=(meter_day(spent.get(golem.pk, 0), limits.get(golem.pk) or SpendingLimits(golem=golem)),),
        )
        for golem in rows
    )


def _list_audit(user: object, golems: list[UUID], left_out: Collection[UUID], now: datetime) -> tuple[AuditLine, ...]:
    if is_operator(user):
        entries = AuditEntry.objects.exclude(golem_id__in=left_out) if left_out else AuditEntry.objects.all()
        rows = list(entries.order_by("-id")[:SHOWN_ENTRIES])
    else:
        rows = list_newest(golems, most=SHOWN_ENTRIES)
    names = dict(Golem.objects.filter(pk__in={row.golem_id for row in rows}).values_list("pk", "name"))
    return tuple(
        AuditLine(entry=row, golem_name=names.get(row.golem_id, "–"), age=show_age(read_time(row), now=now))
        for row in rows
    )


def show_machinery(board: Board) -> SafeString:
    """The health of the machinery as a badge."""
    return show_badge(board.machinery, board.machinery_tone)

"""Gathers what the cockpit and the fleet show, only of golems that the caller may see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Max
from django.utils.safestring import SafeString

from archetypes_app.demo_golems import read_set_apart, shorten_names
from archetypes_app.models import Golem, Heartbeat, VitalityRecord
from archetypes_app.models.archetype import InferenceTier
from archetypes_app.ownership import list_seen_golems
from archetypes_app.pages.demo_mark import show_maker
from golem_project.cockpit.chart_spans import Span
from golem_project.cockpit.history import plot_gas, plot_profit, plot_vitality
from golem_project.cockpit.live_feed import FeedLine, RunningCall, list_feed, list_running
from golem_project.heartbeat.debt_health import describe_dangers
from golem_project.heartbeat.decision_sentences import tell_trouble
from permits_app.limits import ledger
from permits_app.models import ChangeRequest, SpendingLimits
from permits_app.models.approval import ChangeState
from permits_app.pages.delegation_lines import DelegationLine, list_delegation_lines
from permits_app.pages.exit_lines import ExitLine, list_halt_exits
from permits_app.pages.exposed_safe_lines import OpeningLine, list_opening_lines
from permits_app.pages.golem_figures import build_meters, meter_day
from permits_app.pages.golem_state import read_state, read_states, say_contract
from permits_app.pages.golem_switches import show_heartbeat, show_keys
from permits_app.pages.limit_meter import Meter
from permits_app.pages.portfolio_card import (
    DayChange,
    PortfolioCard,
    PositionSum,
    describe_change,
    read_kept,
    read_kept_card,
    sign_usd,
    sum_up_positions,
)
from permits_app.pages.request_lines import RequestLine, list_request_lines
from permits_app.performance.profit_days import RecentWorth, read_worth, read_worths
from permits_app.permits.tick_decisions import list_decisions
from permits_app.words.address_book import read_book, read_page_of
from tools_app.core import event_log
from tools_app.core.models import OutboxEvent
from tools_app.core.stored_json import read_stored
from tools_app.models import SpeculationRecord
from tools_app.pages.html import show_badge
from tools_app.pages.plots import LinePlot
from tools_app.wording.address_names import name_addresses
from tools_app.wording.formats import format_age, format_chain, format_seconds, format_usd

SHOWN_DECISIONS: Final = 8
SHOWN_GOLEMS: Final = 200


@dataclass(frozen=True, slots=True)
class PulseWords:
    """The heartbeat in words; `next_tick_at` is None while it is off."""

    mode: SafeString
    keys: SafeString
    next_tick: str
    next_tick_at: datetime | None
    heartbeat_tick: int
    missed_ticks: int
    regime: str
    advice: str


@dataclass(frozen=True, slots=True)
class ShownDecisionAction:
    """One action of a decision as its record is told."""

    action_type: str
    state: str
    reason: str
    block_reason: str | None = None
    venue: str | None = None
    permit_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToldDecision:
    """One decision as its record is told, as far as the cockpit shows it."""

    heartbeat_tick: int
    decided_at: str
    tier: str
    reason: str
    is_live: bool
    deliberation: Mapping[str, object]
    costs: Mapping[str, object]
    outcome: Mapping[str, object]
    actions: tuple[ShownDecisionAction, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision with what became of it."""

    heartbeat_tick: int
    age: str
    tier: str
    reason: str
    is_live: bool
    failure: str
    """Why its model could not think and who acted in its place, or that the tick failed; empty where neither is so."""
    actions: tuple[tuple[str, SafeString, str, str, bool], ...]
    """What, its state, why, its permit, and whether why is in the words of its agent or model."""


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """How speculation serves the golems of one archetype: percent of the reads made ahead that were used."""

    state: SafeString
    advice: str
    used: int
    wasted: int
    used_percent: int


@dataclass(frozen=True, slots=True)
class Cockpit:
    """One golem."""

    golem: Golem
    now: datetime
    chain: str
    state: SafeString
    contract_notice: str
    openings: tuple[OpeningLine, ...]
    delegations: tuple[DelegationLine, ...]
    vitality: str
    vitality_parts: tuple[tuple[str, int], ...]
    worth: str
    change: DayChange | None
    portfolio: PortfolioCard | None
    requests: tuple[RequestLine, ...]
    exits: tuple[ExitLine, ...]
    pulse: PulseWords
    dangers: tuple[tuple[str, bool], ...]
    meters: tuple[Meter, ...]
    running: tuple[RunningCall, ...]
    decisions: tuple[Decision, ...]
    feed: tuple[FeedLine, ...]
    names: str
    """JSON of what addresses are called, for lines that come later."""
    cursor: str
    span: Span
    """How far back the plots go."""
    plots: tuple[tuple[str, LinePlot | None, str], ...]
    read_ahead: ReadAhead
    open_requests: int


@dataclass(frozen=True, slots=True)
class FleetLine:
    """One golem among the others."""

    golem: Golem
    maker: SafeString
    chain: str
    state: SafeString
    pulse: PulseWords
    vitality: str
    worth: str
    positions: PositionSum
    spent: Meter
    open_requests: int
    last_event: str


@dataclass(frozen=True, slots=True)
class Fleet:
    """Every golem a person may see."""

    now: datetime
    lines: tuple[FleetLine, ...]
    cursor: str
    hidden: int
    apart: tuple[str, ...]
    is_with_apart: bool


def build_cockpit(golem: Golem, *, now: datetime, span: Span = Span.ALL, has_book: bool = True) -> Cockpit:
    """The page of `golem` as of `now`, its plots over `span`. Reads rows only; no node is asked.

    Whoever only has a part in this golem has not the book of its owner, in which the others stand.
    """
    # Before the feed is read: an event in between is seen twice, and the page drops it by its id, rather than never.
    cursor = event_log.read_head().cursor()
    record: VitalityRecord | None = getattr(golem, "vitality_record", None)
    worth = read_worth(golem_id=golem.pk, now=now)
    heartbeat: Heartbeat | None = getattr(golem, "heartbeat", None)
    limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
    state, book, since = (
        read_state(golem),
        (read_book(golem.owner_id) if has_book else read_page_of(golem)),
        span.begins(now),
    )
    within = "" if since is None else f" within {span.words}"
    return Cockpit(
        golem=golem,
        now=now,
        chain=format_chain(golem.home_chain_id),
        state=state.show(),
        contract_notice=say_contract(state),
        openings=list_opening_lines([golem]),
        delegations=list_delegation_lines([golem]),
        vitality=_show_vitality(record),
        vitality_parts=_list_parts(record),
        worth=show_worth(worth),
        change=describe_change(worth, now=now),
        portfolio=read_kept_card(golem, worth, now=now),
        requests=list_request_lines(golem, now=now),
        exits=list_halt_exits(golem, now=now),
        pulse=_describe_pulse(golem, heartbeat, now=now),
        dangers=describe_dangers(heartbeat.state) if heartbeat is not None else (),
        meters=build_meters(golem, limits, now=now),
        running=list_running(golem, now=now),
        decisions=_list_decisions(golem, now=now),
        feed=list_feed(golem, book),
        names=json.dumps(book.list_names(golem.home_chain_id), sort_keys=True),
        cursor=cursor,
        span=span,
        plots=(
            (
                "Vitality and phase",
                plot_vitality(golem, since=since),
                f"Drawn from the second tick on that measured it{within}.",
            ),
            (
                "P&L, added up",
                plot_profit(golem, since=since),
                f"Drawn from the second committed action on that could be priced{within}.",
            ),
            (
                "Gas paid, added up",
                plot_gas(golem, since=since),
                f"Drawn from the second committed action on{within}.",
            ),
        ),
        read_ahead=_describe_read_ahead(golem.archetype.name),
        open_requests=ChangeRequest.objects.filter(golem=golem, state=ChangeState.OPEN).count(),
    )


def build_fleet(user: object, *, now: datetime, is_with_apart: bool = False) -> Fleet:
    """Every golem `user` may see, the ones in trouble first; those that are set apart where `is_with_apart`. A fixed
    number of queries however many there are.
    """
    cursor = event_log.read_head().cursor()
    visible = list_seen_golems(user).filter(retired_at__isnull=True)
    apart = read_set_apart(visible)
    if apart and not is_with_apart:
        visible = visible.exclude(pk__in=apart)
    golems = list(visible.select_related("archetype", "heartbeat", "vitality_record").order_by("name")[:SHOWN_GOLEMS])
    ids = [golem.pk for golem in golems]
    requests = dict(
        ChangeRequest.objects.filter(golem__in=ids, state=ChangeState.OPEN)
        .values_list("golem")
        .annotate(many=Count("pk"))
    )
    limits = {row.golem_id: row for row in SpendingLimits.objects.filter(golem__in=ids)}
    spent = ledger.sum_days(golem_ids=ids, now=now)
    worths = read_worths(golem_ids=ids, now=now)
    kept = read_kept(ids, now=now)
    states = read_states(golems)
    latest: dict[UUID, datetime] = dict(
        OutboxEvent.objects.filter(golem_id__in=ids, occurred_at__gt=now - timedelta(days=7))
        .values_list("golem_id")
        .annotate(at=Max("occurred_at"))
    )
    lines = [
        FleetLine(
            golem=golem,
            maker=show_maker(golem),
            chain=format_chain(golem.home_chain_id),
            state=states[golem.pk].show(),
            pulse=_describe_pulse(golem, getattr(golem, "heartbeat", None), now=now),
            vitality=_show_vitality(getattr(golem, "vitality_record", None)),
            worth=show_worth(worths.get(golem.pk)),
            positions=sum_up_positions(kept.get(golem.pk, []), now=now),
            spent=meter_day(spent.get(golem.pk, 0), limits.get(golem.pk) or SpendingLimits(golem=golem)),
            open_requests=requests.get(golem.pk, 0),
            last_event=format_age(latest[golem.pk], now=now) if golem.pk in latest else "none in 7 d",
        )
        for golem in golems
    ]
    lines.sort(key=lambda line: (not states[line.golem.pk].is_stopped, line.open_requests == 0, line.golem.name))
    return Fleet(
        now=now,
        lines=tuple(lines),
        cursor=cursor,
        hidden=visible.count() - len(lines) if len(lines) == SHOWN_GOLEMS else 0,
        apart=shorten_names(apart.values()),
        is_with_apart=is_with_apart,
    )


def show_worth(worth: RecentWorth | None) -> str:
    """The newest net asset value with the day's profit or loss; a dash before the first."""
    if worth is None:
        return "–"
    change = f" ({sign_usd(worth.parts.profit)} in 24 h)" if worth.has_history else ""
    return f"{format_usd(worth.value)}{change}"


def _show_vitality(record: VitalityRecord | None) -> str:
    return "–" if record is None else f"{record.value // 10_000}%"


def _list_parts(record: VitalityRecord | None) -> tuple[tuple[str, int], ...]:
    if record is None:
        return ()
    parts = (("money", record.economic), ("how true its predictions are", record.epistemic), ("age", record.stochastic))
    return tuple((name, value // 10_000) for name, value in parts)


def _describe_pulse(golem: Golem, heartbeat: Heartbeat | None, *, now: datetime) -> PulseWords:
    if heartbeat is None or not heartbeat.is_on:
        return PulseWords(
            mode=show_heartbeat(golem, is_beating=False),
            keys=show_keys(golem),
            next_tick="off",
            next_tick_at=None,
            heartbeat_tick=golem.heartbeat_tick,
            missed_ticks=heartbeat.missed_ticks if heartbeat else 0,
            regime="–",
            advice="Turn its heartbeat on under Heartbeats; it rehearses until the golem goes live.",
        )
    late = (now - heartbeat.next_tick_at).total_seconds()
    return PulseWords(
        mode=show_heartbeat(golem, is_beating=True),
        keys=show_keys(golem),
        next_tick=format_age(heartbeat.next_tick_at, now=now) if late < 0 else f"due since {format_seconds(late)}",
        next_tick_at=heartbeat.next_tick_at,
        heartbeat_tick=golem.heartbeat_tick,
        missed_ticks=heartbeat.missed_ticks,
        regime=heartbeat.get_regime_display().lower(),
        advice="The clock stands still: run a worker with the queue `heartbeat` and a beat." if late > 300 else "",
    )


def _describe_read_ahead(archetype: str) -> ReadAhead:
    row = SpeculationRecord.objects.filter(archetype=archetype).first() or SpeculationRecord(archetype=archetype)
    most = settings.GOLEM_SPECULATION_MOST_WASTE_BPS // 100
    if not settings.GOLEM_SPECULATION_IS_ON:
        state, advice = show_badge("off"), "Switched off for this server by GOLEM_SPECULATION_IS_ON."
    elif not row.is_on:
        state = show_badge("off", "warn")
        advice = f"Off by itself: more than {most}% was wasted. It begins again once enough new reads were seen."
    elif row.used + row.wasted:
        state, advice = show_badge("on", "good"), f"It goes off by itself when more than {most}% is wasted."
    else:
        state, advice = show_badge("on", "good"), "Nothing was read ahead yet: no read follows another often enough."
    return ReadAhead(state, advice, row.used, row.wasted, row.hit_rate_bps // 100)


def _list_decisions(golem: Golem, *, now: datetime) -> tuple[Decision, ...]:
    rows = (read_stored(ToldDecision, row) for row in list_decisions(golem=golem, limit=SHOWN_DECISIONS))
    return tuple(
        Decision(
            heartbeat_tick=row.heartbeat_tick,
            age=format_age(datetime.fromisoformat(row.decided_at), now=now),
            tier=InferenceTier(row.tier).label,
            reason=name_addresses(row.reason, golem.home_chain_id) or "quiet: nothing asked for thinking",
            is_live=row.is_live,
            failure=tell_trouble(row.deliberation, row.costs, row.outcome),
            actions=tuple(
                (
                    f"{each.action_type.replace('_', ' ')} {each.venue or ''}".strip(),
                    show_badge(each.state),
                    each.block_reason or each.reason,
                    each.permit_id or "",
                    bool(each.reason) and not each.block_reason,
                )
                for each in row.actions
            ),
        )
        for row in rows
    )

"""Builds the inbox of what waits for owners, highest risk first, and the page of one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Case, Model, QuerySet, When
from django.utils.safestring import SafeString

from archetypes_app.audit_actor_names import spell_actors
from archetypes_app.ownership import has_power, is_operator, list_deciders, list_golems_with
from archetypes_app.roles import Power
from permits_app.approvals.address_lines import split_warnings
from permits_app.approvals.request_sentences import describe_asked, foresee_refusal
from permits_app.approvals.second_factor import HeldFactors, find_held, has_second_factor
from permits_app.approvals.stale_requests import find_staleness
from permits_app.approvals.votes import count_all, read_standing
from permits_app.models import Announcement, ChangeComment, ChangeRequest, OwnerApproval
from permits_app.models.approval import LIVE_STATES, RISK_RANK, ChangeState
from permits_app.models.warden import AnnouncementState
from permits_app.permits.request_stages import RequestStage, Stage, find_mirrors, list_proposed, read_stage
from permits_app.words.move_words import describe_move
from tools_app.core.audit_archives import list_about
from tools_app.core.models import AuditEntry
from tools_app.pages.html import show_age, show_badge
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import format_age, format_seconds, format_usd

M = TypeVar("M", bound=Model)

SHOWN = 50
_MOST_ENTRIES = 50
"""How many lines a list has; one of tier CRITICAL is never among those it leaves out."""
OPENS_ALL = ("signer", "owners", "warden", "resume", "live", "keys_spend", "follow")
"""Operations after which everything the golem holds is within reach."""
_TONES = {
    Stage.DECIDE: "warn",
    Stage.COOLING: "busy",
    Stage.SIGNATURES: "warn",
    Stage.FUNDS: "bad",
    Stage.BLOCKED: "bad",
    Stage.EXECUTING: "busy",
    Stage.PROPOSED: "busy",
    Stage.ANNOUNCED: "busy",
    Stage.SENT: "busy",
    Stage.UNSEEN: "warn",
    Stage.EXECUTED: "good",
    Stage.NOT_CARRIED_OUT: "bad",
    Stage.REVERTED: "bad",
    Stage.REJECTED: "bad",
    Stage.FAILED: "bad",
}


@dataclass(frozen=True, slots=True)
class InboxLine:
    """One request in a list."""

    request: ChangeRequest
    title: str
    risk: SafeString
    state: SafeString
    worth: str
    age: SafeString
    due: SafeString
    given: int
    asker: str


@dataclass(frozen=True, slots=True)
class AnnouncedLine:
    """One announced permit. `doomed` is why it will not be executed, where that is known already."""

    announcement: Announcement
    what: str
    worth: str
    risk: SafeString
    due: SafeString
    doomed: str


@dataclass(frozen=True, slots=True)
class Inbox:
    """The whole page."""

    waiting: tuple[InboxLine, ...]
    hidden: int
    cooling: tuple[InboxLine, ...]
    hidden_cooling: int
    proposed: tuple[InboxLine, ...]
    announced: tuple[AnnouncedLine, ...]
    hidden_announced: int
    closed: tuple[InboxLine, ...]
    has_second_factor: bool


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """One request with everything an owner needs to decide it."""

    request: ChangeRequest
    risk: SafeString
    state: SafeString
    worth: str
    asked: SafeString
    deadline: str
    cooling: str
    due: str
    asker: str
    owners: tuple[str, ...]
    decisions: tuple[OwnerApproval, ...]
    comments: tuple[ChangeComment, ...]
    given: int
    required: int
    stale: str
    may_decide: bool
    may_approve: bool
    why_not: str
    may_cancel: bool
    may_comment: bool
    needs_device: bool
    held: HeldFactors
    asks_passkey: bool
    only_passkey: bool
    audit: tuple[tuple[AuditEntry, str], ...]
    refresh: bool
    warned: tuple[Mapping[str, object], ...]
    first_used: tuple[Mapping[str, object], ...]


def list_waiting(user: object) -> QuerySet[ChangeRequest]:
    """Open requests `user` may see, in the order of the inbox."""
    rows = _visible(user).filter(state=ChangeState.OPEN).select_related("golem", "asked_by", "api_key", "permit")
    return rows.order_by("-risk_rank", "created_at")


def build_inbox(user: object, *, now: datetime) -> Inbox:
    """The inbox of `user` as of `now`."""
    waiting, hidden = _cut(list_waiting(user))
    seen = _visible(user).select_related("golem", "asked_by", "api_key", "permit")
    cooling, hidden_cooling = _cut(seen.filter(state=ChangeState.APPROVED).order_by("-risk_rank", "executes_at"))
    announced, hidden_announced = _cut(_list_announced(user))
    proposed = list_proposed(seen)
    closed = seen.exclude(state__in=LIVE_STATES).exclude(pk__in=[row.pk for row in proposed]).order_by("-closed_at")
    parts = [list(waiting), list(cooling), proposed, list(closed[:20])]
    # Read together: whose approvals count and what contracts say is asked once for all of them.
    lines = iter(_lines([row for part in parts for row in part], now))
    told = [tuple(islice(lines, len(part))) for part in parts]
    return Inbox(
        waiting=told[0],
        hidden=hidden,
        cooling=told[1],
        hidden_cooling=hidden_cooling,
        proposed=told[2],
        announced=tuple(_describe_announced(row, now) for row in announced),
        hidden_announced=hidden_announced,
        closed=told[3],
        has_second_factor=has_second_factor(user),
    )


def build_decision_page(
    request: ChangeRequest,
    user: Any,  # Any: an account, whose model is a setting of Django's
    *,
    now: datetime,
) -> DecisionPage:
    """The page of one request as `user` sees it."""
    decisions = tuple(request.decisions.select_related("owner").order_by("decided_at"))
    owners = list_deciders(request.golem)
    is_open = request.state == ChangeState.OPEN
    mine = has_power(request.golem, user, Power.DECIDE)
    has_decided = any(each.owner_id == user.pk and each.ended_at is None for each in decisions)
    standing = read_standing(request)
    is_barred = standing.barred_owner_id == user.pk
    stale = find_staleness(request) if is_open else ""
    may_decide = is_open and mine and not has_decided and not stale
    held = find_held(user)
    warned, first_used = split_warnings(request.shown)
    return DecisionPage(
        request=request,
        risk=show_badge(request.risk_tier),
        state=show_stage(read_stage(request, now=now, mirror=find_mirrors({request.golem_id}).get(request.golem_id))),
        worth=show_stake(request),
        asked=show_age(request.created_at, now=now),
        deadline=f"{request.deadline_at:%Y-%m-%d %H:%M} UTC, {format_age(request.deadline_at, now=now)}",
        cooling=format_seconds(request.cooling_seconds) if request.cooling_seconds else "",
        due=format_age(request.executes_at, now=now) if request.executes_at else "",
        asker=name_asker(request),
        owners=tuple(person.get_username() for person in owners),
        decisions=decisions,
        comments=tuple(request.comments.select_related("author")),
        given=standing.given,
        required=standing.required if is_open else request.required_approvals,
        stale=stale,
        may_decide=may_decide,
        may_approve=may_decide and not is_barred,
        why_not=_why_not(mine=mine, is_barred=is_barred, has_decided=has_decided),
        may_cancel=mine and request.state in LIVE_STATES,
        may_comment=mine,
        needs_device=request.needs_second_factor and not held.is_usable,
        held=held,
        asks_passkey=may_decide and not is_barred and request.needs_second_factor and held.has_passkey,
        only_passkey=request.needs_second_factor and held.has_passkey and not held.has_code,
        audit=_list_audit(request),
        refresh=request.state == ChangeState.APPROVED and not request.cooling_seconds,
        warned=tuple(warned),
        first_used=tuple(first_used),
    )


def _list_audit(request: ChangeRequest) -> tuple[tuple[AuditEntry, str], ...]:
    """What the audit log tells of it, oldest first, and by whom."""
    rows = list_about(
        request.golem_id,
        facts={"request_id": str(request.pk), "permit_id": str(request.permit_id or request.pk)},
        since=request.created_at,
        until=request.updated_at,
        most=_MOST_ENTRIES,
    )
    people = spell_actors(row.actor for row in rows)
    return tuple((row, people[row.actor]) for row in rows)


def name_asker(request: ChangeRequest) -> str:
    """Who asked, for people."""
    if request.asked_by is not None:
        return f"{request.asked_by.get_username()}, an owner"
    if request.api_key is not None:
        label = f" ({request.api_key.label})" if request.api_key.label else ""
        return f"the agent with key {request.api_key}{label}"
    return request.asker


def _visible(user: object) -> QuerySet[ChangeRequest]:
    rows = ChangeRequest.objects.all()
    return rows if is_operator(user) else rows.filter(golem__in=list_golems_with(user, Power.SEE))


def show_stake(request: ChangeRequest) -> str:
    """What may be lost by it, at most; said where nothing was measured or no money is in it."""
    if stakes := request.shown.get("stakes"):
        # What its own calls may cost is the least of it: whoever owes may lose what covers the loan.
        return f"{stakes['cover']} that covers {stakes['owed']} owed; {stakes['calls']} at most by the calls"
    if request.value_micro_usd:
        return format_usd(request.value_micro_usd)
    return "all it holds, not measured yet" if request.kind in OPENS_ALL else "no money"


def show_stage(found: RequestStage) -> SafeString:
    """The shared word as a badge."""
    return show_badge(found.stage, _TONES.get(found.stage, "quiet"))


def _lines(listed: Sequence[ChangeRequest], now: datetime) -> tuple[InboxLine, ...]:
    counts = count_all(row.pk for row in listed)
    mirrors = find_mirrors({row.golem_id for row in listed})
    lines = []
    for row in listed:
        found = read_stage(row, now=now, mirror=mirrors.get(row.golem_id))
        lines.append(
            InboxLine(
                request=row,
                title=describe_asked(row),
                risk=show_badge(row.risk_tier),
                state=show_stage(found),
                worth=show_stake(row),
                age=show_age(row.created_at, now=now),
                due=show_age(found.until if not found.is_over else row.closed_at, now=now),
                given=counts.get(row.pk, 0),
                asker=name_asker(row),
            )
        )
    return tuple(lines)


def _describe_announced(row: Announcement, now: datetime) -> AnnouncedLine:
    permit = row.permit
    return AnnouncedLine(
        announcement=row,
        what=describe_move(permit.action_type, permit.bounds),
        worth=format_usd(permit.value_micro_usd),
        risk=show_badge(permit.risk_tier),
        due=show_age(row.executes_at, now=now),
        doomed=foresee_refusal(permit),
    )


def _list_announced(user: object) -> QuerySet[Announcement]:
    rows = Announcement.objects.select_related("permit__golem").filter(state=AnnouncementState.WAITING)
    if not is_operator(user):
        rows = rows.filter(permit__golem__in=list_golems_with(user, Power.SEE))
    ranks = [When(permit__risk_tier=tier, then=rank) for tier, rank in RISK_RANK.items()]
    return rows.annotate(risk_rank=Case(*ranks, default=0)).order_by("-risk_rank", "executes_at")


def _cut(rows: QuerySet[M]) -> tuple[QuerySet[M], int]:
    """The first of `rows`, which go by risk, and how many are left out: none of tier CRITICAL, however many."""
    found = rows.count()
    shown = max(SHOWN, rows.filter(risk_rank=RISK_RANK[RiskTier.CRITICAL]).count()) if found > SHOWN else SHOWN
    return rows[:shown], max(0, found - shown)


def _why_not(*, mine: bool, is_barred: bool, has_decided: bool) -> str:
    if not mine:
        return (
            "Only owners and approvers of this golem decide. An operator of the server sees requests and decides none."
        )
    if has_decided:
        return "Your decision is recorded."
    if is_barred:
        return "You asked for this, or an agent with your key did. Another owner has to approve it."
    return ""

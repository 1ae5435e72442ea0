"""One permit as a story for a page: request, plan, simulation, hooks, risk, permit, commit, outcome, audit, memory.

Everything is read from rows; nothing here asks a node or decides anything. Texts that came from an agent or a chain
stay data and are escaped by the template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory_app.models import Episode
from permits_app.admin.outcome_table import OutcomeTable, build_outcome_table
from permits_app.admin.story_details import describe_details
from permits_app.admin.story_facts import (
    Fact,
    describe_allowances,
    describe_plan,
    describe_price,
    describe_problem,
    describe_request,
    describe_review,
    describe_seal,
    describe_worth,
    show_value,
    spell,
)
from permits_app.admin.story_lines import (
    DID_NOT_RUN,
    CallLine,
    FlowArrow,
    HookLine,
    SentLine,
    describe_commit,
    describe_flow,
    describe_simulation,
    list_calls,
    list_deltas,
    list_hooks,
    list_sent,
    list_surprises,
)
from permits_app.approvals.loan_risk import say_growth
from permits_app.approvals.simulated_loss import say_loss_briefly
from permits_app.models import ActionPermit, OutcomeRecord
from permits_app.models.permit import PermitStatus
from permits_app.permits.kept_bounds import KeptFlow, read_bounds
from permits_app.permits.stored_calls import read_planned_calls
from tools_app.core.audit_archives import list_about
from tools_app.core.models import AuditEntry
from tools_app.pages.html import show_badge
from tools_app.wording.address_names import name_address
from tools_app.wording.formats import format_chain, format_usd

S = PermitStatus
_MOST_ENTRIES = 50
_OPEN = frozenset({S.CREATED, S.AWAITING_APPROVAL, S.ANNOUNCED})


@dataclass(frozen=True, slots=True)
class StoryStep:
    """A dot on the rail at the top."""

    key: str
    title: str
    tone: str
    note: str


@dataclass(frozen=True, slots=True)
class Story:
    """All of it, in the order the page shows it."""

    permit: ActionPermit
    headline: str
    status: SafeString
    risk: SafeString
    value: str
    chain: str
    is_simulated_chain: bool
    venue_name: str
    spends: tuple[FlowArrow, ...]
    receives: tuple[FlowArrow, ...]
    steps: tuple[StoryStep, ...]
    request: tuple[Fact, ...]
    soft_params: tuple[Fact, ...]
    memory_note: str
    calls: tuple[CallLine, ...]
    plan: tuple[Fact, ...]
    details: tuple[Fact, ...]
    allowances: tuple[Fact, ...]
    simulation: tuple[Fact, ...]
    deltas: tuple[Fact, ...]
    surprises: tuple[str, ...]
    hooks: tuple[HookLine, ...]
    review: tuple[Fact, ...]
    worth: tuple[Fact, ...]
    prices: tuple[Fact, ...]
    seal: tuple[Fact, ...]
    expires_seconds: int
    life_percent: int
    commit: tuple[Fact, ...]
    sent: tuple[SentLine, ...]
    outcome: OutcomeTable | None
    problem: tuple[Fact, ...]
    audit: tuple[AuditEntry, ...]
    episode: Episode | None
    episode_url: str
    can_end: bool
    can_shorten: bool


def build_story(permit: ActionPermit, *, now: datetime) -> Story:
    """The story of `permit` as of `now`; its relations should be selected already."""
    outcome = permit.outcome
    entry = permit.spend_entry
    audit = _list_audit(permit)
    episode = _find_episode(permit)
    is_open = PermitStatus(permit.status) in _OPEN
    bounds = read_bounds(permit.bounds)
    return Story(
        permit=permit,
        headline=_headline(permit),
        status=show_badge(permit.status),
        risk=show_badge(permit.risk_tier),
        value=format_usd(permit.value_micro_usd),
        chain=format_chain(permit.chain_id),
        is_simulated_chain=permit.chain_id == 31337,
        venue_name=_venue_name(permit),
        spends=tuple(describe_flow(flow, permit, sign=-1) for flow in bounds.spends),
        receives=tuple(describe_flow(flow, permit, sign=1) for flow in bounds.receives),
        steps=_steps(permit, outcome, episode is not None, audit),
        request=describe_request(permit),
        soft_params=_list_soft_changes(permit),
        memory_note=str((permit.soft_params or {}).get("note", "")).rstrip("."),
        calls=list_calls(permit),
        plan=describe_plan(permit),
        details=describe_details(permit),
        allowances=describe_allowances(permit),
        simulation=describe_simulation(permit, now),
        deltas=list_deltas(permit),
        surprises=list_surprises(permit),
        hooks=list_hooks(permit),
        review=describe_review(permit),
        worth=describe_worth(permit, entry),
        prices=tuple(describe_price(price) for price in permit.prices),
        seal=describe_seal(permit, now),
        expires_seconds=max(0, int((permit.expires_at - now).total_seconds())) if is_open else 0,
        life_percent=_life_percent(permit, now) if is_open else 0,
        commit=describe_commit(permit),
        sent=list_sent(permit, now),
        outcome=build_outcome_table(permit, outcome) if outcome is not None else None,
        problem=describe_problem(permit),
        audit=audit,
        episode=episode,
        episode_url=reverse("admin:memory_app_episode_change", args=[episode.pk]) if episode else "",
        can_end=is_open,
        can_shorten=permit.status == S.CREATED,
    )


def _headline(permit: ActionPermit) -> str:
    words = permit.action_type.replace("_", " ").capitalize()
    bounds = read_bounds(permit.bounds)
    told = (say_growth(permit.expected_outcome.get("positions", [])), say_loss_briefly(permit.expected_outcome))
    more = "".join(f", {each}" for each in told if each)
    if bounds.spends and bounds.receives:
        return f"{words} {_symbols(bounds.spends)} for {_symbols(bounds.receives)}{more}"
    return f"{words} {_symbols(bounds.flows)}".strip() + more


def _list_soft_changes(permit: ActionPermit) -> tuple[Fact, ...]:
    soft = permit.soft_params or {}
    behind = soft.get("behind") or {}
    return tuple(
        Fact(spell(name), show_value(value), hint=_link_episodes(behind.get(name, ())))
        for name, value in (soft.get("changes") or {}).items()
    )


def _link_episodes(episode_ids: Sequence[str]) -> SafeString | str:
    """The memories behind a change, the first ten as links."""
    if not episode_ids:
        return ""
    links = format_html_join(
        ", ",
        '<a class="gx-link" href="{}">{}</a>',
        ((reverse("admin:memory_app_episode_change", args=[pk]), f"episode {pk[:8]}") for pk in episode_ids[:10]),
    )
    more = len(episode_ids) - 10
    return format_html("because of {}{}", links, f" and {more} more" if more > 0 else "")


def _symbols(flows: Sequence[KeptFlow]) -> str:
    return " and ".join(flow.token.symbol for flow in flows)


def _venue_name(permit: ActionPermit) -> str:
    calls = read_planned_calls(permit.plan_calls)
    known = name_address(permit.chain_id, calls[-1].to) if calls else ""
    return known or permit.venue.capitalize()


def _steps(
    permit: ActionPermit, outcome: OutcomeRecord | None, has_episode: bool, audit: Sequence[AuditEntry]
) -> tuple[StoryStep, ...]:
    status = PermitStatus(permit.status)
    simulated = bool(permit.simulation)
    sent = permit.transactions.exists()
    permit_tone = {S.EXPIRED: "quiet", S.CANCELLED: "quiet", S.BLOCKED: "bad"}.get(status, "good")
    commit_tone, commit_note = "todo", "not used"
    if status in (S.COMMITTED, S.REVERTED):
        commit_tone, commit_note = "good", "mined" if sent else "done"
    elif status == S.COMMITTING:
        commit_tone, commit_note = "busy", "under way"
    elif status == S.UNKNOWN:
        commit_tone, commit_note = "warn", "not seen yet"
    elif status == S.BLOCKED and permit.committing_at:
        commit_tone, commit_note = "bad", "refused"
    outcome_tone, outcome_note = "todo", "–"
    if outcome is not None:
        is_verified = outcome.is_verified
        outcome_tone, outcome_note = ("good", "as predicted") if is_verified else ("warn", "differs")
    if status == S.REVERTED:
        outcome_tone, outcome_note = "bad", "reverted"
    elif permit.is_local and status == S.COMMITTED:
        outcome_tone, outcome_note = "good", "done"
    return (
        StoryStep("request", "Request", "good", permit.created_at.strftime("%H:%M:%S")),
        StoryStep("plan", "Plan", "good", "local write" if permit.is_local else _count(len(permit.plan_calls), "call")),
        StoryStep("simulation", "Simulation", "good" if simulated else "quiet", _fidelity(permit)),
        StoryStep("hooks", "Safety hooks", *_judge_hooks(permit)),
        StoryStep(
            "risk", "Risk", "good" if permit.risk_tier in ("ROUTINE", "STANDARD") else "warn", permit.risk_tier.lower()
        ),
        StoryStep("permit", "Permit", permit_tone, status.label.lower()),
        StoryStep("commit", "Commit", commit_tone, commit_note),
        StoryStep("outcome", "Outcome", outcome_tone, outcome_note),
        StoryStep("audit", "Audit", "good" if audit else "todo", _count(len(audit), "entry", "entries")),
        StoryStep("memory", "Memory", "good" if has_episode else "todo", "remembered" if has_episode else "–"),
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _fidelity(permit: ActionPermit) -> str:
    return str(permit.simulation.get("engine") or "no transaction") if permit.simulation else "no transaction"


def _life_percent(permit: ActionPermit, now: datetime) -> int:
    whole = (permit.expires_at - permit.created_at).total_seconds() or 1
    return max(0, min(100, int((permit.expires_at - now).total_seconds() * 100 / whole)))


def _list_audit(permit: ActionPermit) -> tuple[AuditEntry, ...]:
    facts = {"permit_id": str(permit.pk)}
    return tuple(
        list_about(permit.golem_id, facts=facts, since=permit.created_at, until=permit.updated_at, most=_MOST_ENTRIES)
    )


def _find_episode(permit: ActionPermit) -> Episode | None:
    return Episode.objects.filter(golem_id=permit.golem_id, permit_id=permit.pk).first()


def _judge_hooks(permit: ActionPermit) -> tuple[str, str]:
    """A tick only where every hook has spoken; hooks that did not run are counted as that."""
    lines = list_hooks(permit)
    if any(line.tone == "bad" for line in lines):
        return "bad", "refused"
    missed = sum(line.verdict == DID_NOT_RUN for line in lines)
    if missed == 0:
        return "good", _count(len(permit.hook_decisions), "verdict")
    return ("warn", f"{missed} of {len(lines)} did not run") if permit.hook_decisions else ("quiet", "none ran")

"""list_decisions: what a golem's last ticks saw, decided and did, for a page or a program.

What agents do belongs to the tick after which they do it: it is read from its permits and from what was refused before
there was one, so that no second row can say otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery

from archetypes_app.models import DecisionCycleRecord, Golem
from permits_app.models import ActionPermit, DeniedCall
from permits_app.models.action_record import ActionRecord, ActionState
from permits_app.models.permit import PermitStatus
from permits_app.permits.read_tick_archives import fill_laid_away
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd

LARGEST_PAGE = 100
_STATES: Final[Mapping[str, ActionState]] = {
    PermitStatus.CREATED: ActionState.PREVIEWED,
    PermitStatus.AWAITING_APPROVAL: ActionState.WAITING,
    PermitStatus.ANNOUNCED: ActionState.WAITING,
    PermitStatus.COMMITTING: ActionState.COMMITTING,
    PermitStatus.UNKNOWN: ActionState.COMMITTING,
    PermitStatus.COMMITTED: ActionState.EXECUTED,
    PermitStatus.REVERTED: ActionState.REVERTED,
    PermitStatus.BLOCKED: ActionState.BLOCKED,
    PermitStatus.CANCELLED: ActionState.DEFERRED,
    PermitStatus.EXPIRED: ActionState.DEFERRED,
}
_Acts = Sequence[tuple[datetime, dict[str, object]]]


def list_decisions(
    *,
    golem: Golem,
    limit: int = 20,
    before_tick: int | None = None,
    only_thinking: bool = False,
    with_agents: bool = False,
) -> list[JsonObject]:
    """The newest decisions first, at most 100, older than `before_tick`; quiet ones left out with `only_thinking`.

    Each with its actions and the outcomes of their permits, and `with_agents` with what agents did until the next, the
    newest 100.
    Amounts in micro-USD are decimal strings, USD beside them. Raises ArchiveBroken and AuditArchiveBroken of ticks that
    were laid away.
    """
    rows = _with_actions(DecisionCycleRecord.objects.filter(golem=golem)).order_by("-heartbeat_tick")
    if before_tick is not None:
        rows = rows.filter(heartbeat_tick__lt=before_tick)
    if only_thinking:
        rows = rows.exclude(tier="T0")
    if with_agents:
        rows = rows.annotate(next_at=Subquery(_find_next()))
    page = list(rows[: max(1, min(limit, LARGEST_PAGE))])
    fill_laid_away(page)
    return [_with_agents(row) if with_agents else describe_decision(row) for row in page]


def describe_with_agents(row: DecisionCycleRecord) -> JsonObject:
    """One decision as JSON, with what agents did until the next."""
    known = _with_actions(DecisionCycleRecord.objects.filter(pk=row.pk)).annotate(next_at=Subquery(_find_next()))
    found = known.get()
    fill_laid_away([found])
    return _with_agents(found)


def describe_decision(row: DecisionCycleRecord) -> dict[str, object]:
    """One decision as JSON."""
    return {
        "decision_id": str(row.pk),
        "heartbeat_tick": row.heartbeat_tick,
        "decided_at": row.decided_at.isoformat(),
        "status": row.tick.status,
        "lateness_ms": row.tick.lateness_ms,
        "duration_ms": row.tick.duration_ms,
        "missed_before": row.tick.missed_before,
        "is_live": row.is_live,
        "tier": row.tier,
        "reason": row.gating_reason,
        "prediction_error_millionths": row.prediction_error,
        "threshold_millionths": row.threshold,
        "observation": row.observation,
        "regime": row.regime,
        "probes": row.probes,
        "anomalies": row.anomalies,
        "pad_before": row.pad_before,
        "pad_after": row.pad_after,
        "context_summary": row.context_summary,
        "interventions": row.interventions,
        "deliberation": row.deliberation,
        "outcome": row.outcome,
        "episodes_written": row.episodes_written,
        "mutations": row.mutations,
        "vitality_millionths": row.vitality,
        "phase": row.phase,
        "costs": row.costs,
        "actions": [_describe_action(each) for each in row.tick.actions.all()],
    }


def _with_actions(rows: QuerySet[DecisionCycleRecord]) -> QuerySet[DecisionCycleRecord]:
    """With what each needs to be told, however many actions it has."""
    outcomes = Prefetch("permit__outcomes", to_attr="known_outcomes")
    actions = ActionRecord.objects.select_related("permit").prefetch_related(outcomes).order_by("position")
    return rows.select_related("tick").prefetch_related(Prefetch("tick__actions", queryset=actions))


def _find_next() -> Any:  # Any: a query of values
    later = DecisionCycleRecord.objects.filter(
        golem_id=OuterRef("golem_id"), heartbeat_tick__gt=OuterRef("heartbeat_tick")
    )
    return later.order_by("heartbeat_tick").values("decided_at")[:1]


def _with_agents(row: Any) -> dict[str, object]:  # Any: a DecisionCycleRecord with its `next_at` annotated
    """`row` has `next_at`, when the tick after it decided; None for the newest."""
    acts = [*_list_permits(row.golem_id, row.decided_at, row.next_at)]
    acts += _list_refusals(row.golem_id, row.decided_at, row.next_at)
    acts.sort(key=lambda act: act[0])
    return {
        **describe_decision(row),
        "agent_actions": [{"at": at.isoformat(), **told} for at, told in acts[-LARGEST_PAGE:]],
    }


def _between(name: str, since: datetime, until: datetime | None) -> Q:
    found = Q(**{f"{name}__gte": since})
    return found if until is None else found & Q(**{f"{name}__lt": until})


def _list_permits(golem_id: UUID, since: datetime, until: datetime | None) -> _Acts:
    wanted = ActionRecord.objects.filter(permit=OuterRef("pk"))
    rows = (
        ActionPermit.objects.filter(_between("created_at", since, until), golem_id=golem_id, halt_epoch__isnull=True)
        .exclude(Exists(wanted))
        .prefetch_related(Prefetch("outcomes", to_attr="known_outcomes"), "transactions")
        .order_by("-created_at")[:LARGEST_PAGE]
    )
    return [(row.created_at, _describe_permit(row)) for row in rows]


def _list_refusals(golem_id: UUID, since: datetime, until: datetime | None) -> _Acts:
    """What hooks refused before there was a permit; what ticks wanted stands with them."""
    rows = DeniedCall.objects.filter(
        _between("denied_at", since, until), golem_id=golem_id, api_key_id__isnull=False
    ).order_by("-denied_at")[:LARGEST_PAGE]
    return [
        (
            row.denied_at,
            _tell(
                action_type=row.action_type,
                venue=row.venue,
                tool=row.tool_name,
                state=ActionState.BLOCKED,
                block_reason=f"{row.code}: {row.detail}" if row.detail else row.code,
            ),
        )
        for row in rows
    ]


def _describe_permit(permit: ActionPermit) -> dict[str, object]:
    state = _STATES[permit.status]
    has_ended_badly = state in (ActionState.BLOCKED, ActionState.DEFERRED, ActionState.REVERTED)
    return _tell(
        action_type=permit.action_type,
        venue=permit.venue,
        tool=permit.tool_name,
        state=state,
        block_reason=permit.status_reason if has_ended_badly else "",
        permit=permit,
        tx_hashes=[each.tx_hash for each in permit.transactions.all() if each.tx_hash],
    )


def _describe_action(action: ActionRecord) -> dict[str, object]:
    return {
        "params": action.params,
        "reason": action.reason,
        **_tell(
            action_type=action.action_type,
            venue=action.venue,
            tool=action.tool_name,
            state=action.state,
            block_reason=action.block_reason,
            permit=action.permit,
            tx_hashes=action.tx_hashes,
            gas=action.gas_micro_usd,
        ),
    }


def _tell(
    *,
    action_type: str,
    venue: str,
    tool: str,
    state: str,
    block_reason: str,
    permit: ActionPermit | None = None,
    tx_hashes: Sequence[str] = (),
    gas: int | None = None,
) -> dict[str, object]:
    outcome = permit.outcome if permit is not None else None
    if gas is None and outcome is not None and "gas" in outcome.pnl_parts:
        # A loss among the parts, a cost here.
        gas = -int(outcome.pnl_parts["gas"])
    return {
        "action_type": action_type,
        "venue": venue or None,
        "tool": tool or None,
        "state": str(state),
        "block_reason": block_reason or None,
        "permit_id": str(permit.pk) if permit is not None else None,
        "tx_hashes": list(tx_hashes),
        "gas_micro_usd": None if gas is None else str(gas),
        "gas_usd": None if gas is None else format_micro_usd(gas),
        "outcome": None
        if outcome is None
        else {
            "verified": outcome.is_verified,
            "expected": outcome.expected.get("balance_deltas", []),
            "actual": outcome.actual.get("balance_deltas", []),
            "pnl_micro_usd": None if outcome.pnl_micro_usd is None else str(outcome.pnl_micro_usd),
            "pnl_parts": outcome.pnl_parts,
            "ground_truth_source": outcome.ground_truth_source,
        },
    }

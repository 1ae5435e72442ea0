"""REFLECT: episodes, vitality, mood, the next tick, the decision's record. The tick's end commits with its event."""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from archetypes_app.actions.update_vitality import VitalityFacts, update_vitality
from archetypes_app.models import DecisionCycleRecord
from archetypes_app.models.tick import TickStatus
from golem_project.heartbeat import tick_claims
from golem_project.heartbeat.broken_ticks import remember_broken, tell_broken
from golem_project.heartbeat.cycle_state import ACTOR, CycleState, describe_observation
from golem_project.heartbeat.debt_health import keep_told, write_debts
from golem_project.heartbeat.delegate_costs import DelegateCosts, read_delegate_costs
from golem_project.heartbeat.duties.position_monitor import tell_locked, tell_pegs, tell_still
from golem_project.heartbeat.memory_caution import HeldBack
from golem_project.heartbeat.model_failures import has_failed, remember_failures, tell_failures
from golem_project.heartbeat.mood import MoodSigns, update_mood
from golem_project.heartbeat.refused_wish_backoff import write_waits
from golem_project.heartbeat.regime import choose_theta
from golem_project.heartbeat.schedule import NextTick, plan_next_tick
from golem_project.heartbeat.tick_events import make_complete_event, make_opening_events
from memory_app.insights import reinforce_insights
from permits_app.actions.note_other_chains import record_elsewhere
from permits_app.actions.record_nav import record_nav
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.models import OutcomeRecord
from permits_app.models.action_record import ActionRecord, ActionState
from permits_app.performance.slash_text import list_slash_events
from tools_app.core import event_bus
from tools_app.core.errors import GolemError
from tools_app.core.storable_text import make_plain
from tools_app.core.transaction_retry import retry_aborted
from tools_app.portfolio.issuer_and_bridge_risk import list_failed_oracles

logger = logging.getLogger(__name__)

REINFORCED_EVERY = timedelta(hours=1)
_RAN = (ActionState.EXECUTED, ActionState.REVERTED)
_REFUSED = (ActionState.BLOCKED, ActionState.REVERTED)


def reflect(state: CycleState, *, duration_ms: int, error: GolemError | None = None) -> DecisionCycleRecord | None:
    """Close the tick; its decision, or None when another one took over, and then nothing of this one is written."""
    now = state.now()
    remember_ended(state, now)
    return _close(state, list(state.mutations), now, duration_ms=duration_ms, error=error)


@retry_aborted
def _close(
    state: CycleState, mutations: list[str], now: datetime, *, duration_ms: int, error: GolemError | None
) -> DecisionCycleRecord | None:
    # What an attempt that was given up had noted did not happen.
    state.mutations[:] = mutations
    with transaction.atomic():
        measure_vitality(state, now)
        next_tick, theta = plan_next(state, now)
        record = make_record(state, now, error)
        end = tick_claims.TickEnd(
            status=TickStatus.FAILED if error is not None else TickStatus.COMPLETE,
            duration_ms=duration_ms,
            next_tick_at=next_tick.at,
            missed=next_tick.missed,
            regime=state.analysis.regime.value,
            state={**remember(state, theta, now), **remember_broken(state, error)},
            steers_used=len(state.begun.steers),
        )
        if not tick_claims.end_tick(begun=state.begun, end=end, record=record, now=now):
            transaction.set_rollback(True)
            return None
        reinforce_recalled(state, now)
        tell_stuck(state, record, now)
        tell_failures(state)
        tell_broken(state, error)
        events = [
            *list_slash_events(state.kept_values),
            make_complete_event(state, record=record, end=end, theta_seconds=theta, error=error),
        ]
        if state.is_quiet:
            # A quiet tick is over before anybody could have watched it begin: its events travel together.
            events = [*make_opening_events(state), *events]
        event_bus.emit_all(golem_id=state.golem.pk, events=events, now=now, heartbeat_tick=state.begun.number)
    return record


def tell_stuck(state: CycleState, record: DecisionCycleRecord, now: datetime) -> None:
    """The owner has it with the tick that saw it; a tick that could not read what the golem holds tells nothing."""
    is_quiet = not has_locked(state) and state.begun.memory.has_locked is False
    if state.observation.whole is not None and not is_quiet:
        tell_locked(golem=state.golem, probes=record.probes, now=now)
        tell_pegs(golem=state.golem, probes=record.probes, now=now)
        tell_still(golem=state.golem, probes=record.probes, now=now)


def has_locked(state: CycleState) -> bool | None:
    """Whether something it holds or may draw cannot be taken out now, takes nothing in, has no price, stands still or
    left its peg; as before where nobody could read it.
    """
    whole = state.observation.whole
    if whole is None:
        return state.begun.memory.has_locked
    is_stuck = any(each.position.locked for each in whole.positions)
    is_still = bool(state.still) or bool(state.permits.stuck_rights)
    return is_stuck or is_still or bool(state.off_peg) or bool(list_failed_oracles(whole))


def remember_ended(state: CycleState, now: datetime) -> None:
    """Episodes of the actions that ended, so that the record can name them; memory alone fails open."""
    for action in (*state.actions, *state.followed):
        if action.permit_id is None or action.state not in _RAN:
            continue
        try:
            # The model that makes vectors stays with the memory worker.
            remember_outcome(permit_id=action.permit_id, now=now, use_model=False)
        except GolemError as error:
            logger.warning("the episode of permit %s is stored later: %s", action.permit_id, error.code)


def measure_vitality(state: CycleState, now: datetime) -> None:
    """Vitality and phase from what was seen; without a balance nothing is measured."""
    balance = state.observation.total_micro_usd
    # What an attempt that was given up had kept is not there.
    state.kept_values = ()
    if balance is None:
        return
    keep_value(state, now)
    # What is owed beyond what is held is no balance; nothing is left then.
    balance = max(0, balance)
    state.vitality = update_vitality(
        golem_id=state.golem.pk,
        facts=VitalityFacts(
            balance_micro_usd=balance,
            predictions=state.permits.predictions,
            correct_predictions=state.permits.correct_predictions,
        ),
        now=now,
        actor=ACTOR,
    )
    if state.vitality is not None and state.vitality.transition is not None:
        state.mutations.append(f"phase {state.vitality.phase_before.value} to {state.vitality.phase.value}")


def keep_value(state: CycleState, now: datetime) -> None:
    """Keep what the golem is worth, for what it earns by the day; its slashes are told with the tick's end."""
    seen = state.observation
    if seen.whole is not None and seen.block is not None:
        at_home = seen.at_home or seen.whole
        chain_id = state.golem.home_chain_id
        home = record_nav(golem=state.golem, chain_id=chain_id, block=seen.block, holdings=at_home, now=now)
        others = record_elsewhere(golem=state.golem, elsewhere=seen.elsewhere, now=now)
        state.kept_values = (*([home] if home is not None else []), *others)


def plan_next(state: CycleState, now: datetime) -> tuple[NextTick, int]:
    """When the golem ticks next, and the interval behind it in seconds."""
    theta = choose_theta(base_seconds=state.begun.base_seconds, regime=state.analysis.regime)
    planned = plan_next_tick(
        golem_id=state.golem.pk,
        heartbeat_tick=state.begun.number,
        scheduled_at=state.begun.scheduled_at,
        theta_seconds=theta,
        jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
        now=now,
    )
    return planned, theta


def remember(state: CycleState, theta: int, now: datetime) -> dict[str, object]:
    """What the next tick starts from. Expected is that nothing changes."""
    analysis, seen = state.analysis, state.observation
    before = state.begun.memory
    price = seen.price if seen.price is not None else before.expected_price
    total = seen.total_micro_usd if seen.total_micro_usd is not None else before.total_micro_usd
    state.mood_after = update_mood(state.mood, _read_signs(state))
    return {
        "theta_seconds": theta,
        "has_locked": has_locked(state),
        "phase": state.vitality.phase.value if state.vitality else state.golem.phase,
        "prices": [str(each) for each in analysis.prices],
        "base_fees": [str(each) for each in analysis.base_fees],
        "expected_price": None if price is None else str(price),
        # A regime without a price of its own is the one before, said again.
        "regime_seen_at": now.isoformat() if seen.price is not None else before.regime_seen_at,
        "total_micro_usd": None if total is None else str(total),
        "known_positions": dict(seen.known_positions),
        "pressure_ticks": analysis.pressure_ticks,
        "mood": state.mood_after.as_dict(),
        "waits": write_waits(state.waits, now=now),
        "health": write_debts(state.debts, keep_told(state.told, state.debts)),
        # Kept until a planner was asked and has heard it.
        "unheard": [] if state.deliberations else state.unheard,
        **remember_failures(state),
    }


def make_record(state: CycleState, now: datetime, error: GolemError | None) -> DecisionCycleRecord:
    """The decision, complete; not saved."""
    analysis = state.analysis
    state.mood_after = update_mood(state.mood, _read_signs(state))
    return DecisionCycleRecord(
        tick_id=state.begun.id,
        golem_id=state.golem.pk,
        heartbeat_tick=state.begun.number,
        decided_at=now,
        is_live=state.golem.is_live,
        observation=describe_observation(state),
        regime=analysis.regime.value,
        probes=state.as_probes(),
        anomalies=list(state.anomalies),
        pad_before=state.mood.as_dict(),
        pad_after=state.mood_after.as_dict(),
        prediction_error=state.verdict.prediction_error,
        threshold=state.verdict.threshold,
        tier=state.verdict.tier.value,
        gating_reason=state.verdict.reason,
        context_summary=_word_context(state),
        interventions=[
            *state.begun.steers,
            *({"due": key} for key in analysis.due),
            *({"ended": each} for each in analysis.news),
            *({"held_back": describe_held_back(each)} for each in analysis.held_back),
            *({"doubted": asdict(each)} for each in analysis.entries_held),
        ],
        deliberation=_describe_thinking(state),
        outcome=_describe_outcome(state, error),
        episodes_written=_list_episodes(state),
        mutations=list(state.mutations),
        vitality=state.vitality.vitality.value if state.vitality else None,
        phase=state.vitality.phase.value if state.vitality else state.golem.phase,
        costs=_sum_costs(state),
    )


def _read_signs(state: CycleState) -> MoodSigns:
    ended = [*state.actions, *state.followed]
    return MoodSigns(
        executed=_count(ended, ActionState.EXECUTED),
        refused=sum(_count(ended, each) for each in _REFUSED),
        range_bps=state.analysis.range_bps,
        anomalies=len(state.anomalies),
        vitality=state.vitality.vitality.value if state.vitality else None,
    )


def _count(actions: list[ActionRecord], wanted: ActionState) -> int:
    return sum(1 for each in actions if each.state == wanted)


def _word_context(state: CycleState) -> str:
    """What waits for the market, and what memory said of the situation and changed; words no outcome stands behind are
    counted.
    """
    doubts = [f"{each.action_type} waits: {each.words}" for each in state.analysis.entries_held]
    if not state.recalled:
        return make_plain("; ".join([*doubts, "nothing recalled"]))
    verified = [f"{each.text} ({each.confidence_percent}%)" for each in state.recalled if each.is_verified]
    said = len(state.recalled) - len(verified)
    told = [*verified, *([f"{said} that were only said"] if said else [])]
    waits = [f"{each.action_type} waits, for memory warns: {each.text}" for each in state.analysis.held_back]
    return make_plain("; ".join([*doubts, *waits, f"recalled: {', '.join(told)}"]))


def describe_held_back(held: HeldBack) -> dict[str, object]:
    """What waits, and what memory said of it; the text is data."""
    return {
        "action_type": held.action_type,
        "insight_id": str(held.insight_id),
        "text": make_plain(held.text),
        "confidence_percent": held.confidence_percent,
    }


def reinforce_recalled(state: CycleState, now: datetime) -> None:
    """A memory that a thinking tick was given, or that changed one, lasts longer; once an hour at most."""
    used = [each.pk for each in state.recalled] if state.deliberations else []
    used += [each.insight_id for each in state.analysis.held_back]
    if used:
        reinforce_insights(golem_id=state.golem.pk, insight_ids=used, now=now, not_since=now - REINFORCED_EVERY)


def _describe_thinking(state: CycleState) -> dict[str, object]:
    if not state.deliberations:
        return {}
    last = state.deliberations[-1]
    thought = next((each for each in state.deliberations if each.model or each.stopped_by), last)
    return {
        "planner": thought.planner,
        "model": thought.model,
        "directives": dict(thought.directives),
        "told": [[title, tokens] for title, tokens in thought.told],
        "asked": [each.as_json() for each in thought.asked],
        "left_out": {name: list(titles) for name, titles in thought.left_out.items()},
        "rules_stood_in": last is not thought and has_failed(thought),
        "rounds": sum(each.rounds for each in state.deliberations) or len(state.deliberations),
        "summary": "; ".join(each.summary for each in state.deliberations if each.summary),
        "refusals": [code for each in state.deliberations for code in each.refusals],
        "stopped_by": thought.stopped_by,
        "doubted_bills": thought.doubted_bills,
        "dearer_bills": thought.dearer_bills,
        "touched": [
            {"permit_id": str(each.permit_id), "action_type": each.action_type, "step": each.step.value}
            for deliberation in state.deliberations
            for each in deliberation.touched
        ],
    }


def _describe_outcome(state: CycleState, error: GolemError | None) -> dict[str, object]:
    counted = {each.value.lower(): _count(state.actions, each) for each in ActionState}
    found: dict[str, object] = {name: number for name, number in counted.items() if number}
    if state.followed:
        found["earlier"] = [
            {
                "action_type": each.action_type,
                "heartbeat_tick": each.tick.number,
                "state": str(each.state),
                "permit_id": str(each.permit_id),
                "reason": each.block_reason,
            }
            for each in state.followed
        ]
    if error is not None:
        found["error_code"] = error.code
    return found


def _list_episodes(state: CycleState) -> list[str]:
    permits = [each.permit_id for each in (*state.actions, *state.followed) if each.permit_id is not None]
    if not permits:
        return []
    rows = OutcomeRecord.live.filter(permit_id__in=permits, episode_id__isnull=False)
    return [str(each) for each in rows.values_list("episode_id", flat=True)]


def _sum_costs(state: CycleState) -> dict[str, object]:
    """What the tick cost, with all whom its model asked."""
    delegates = DelegateCosts()
    if any(each.model for each in state.deliberations):
        began = state.begun.scheduled_at + timedelta(milliseconds=state.begun.lateness_ms)
        delegates = read_delegate_costs(golem_id=state.golem.pk, heartbeat_tick=state.begun.number, since=began)
    own = sum(each.cost_micro_usd for each in state.deliberations)
    return {
        "model_micro_usd": str(own + delegates.micro_usd),
        "delegates_micro_usd": str(delegates.micro_usd),
        "gas_micro_usd": str(sum(each.gas_micro_usd or 0 for each in (*state.actions, *state.followed))),
        "input_llm_tokens": sum(each.input_llm_tokens for each in state.deliberations) + delegates.input_llm_tokens,
        "output_llm_tokens": sum(each.output_llm_tokens for each in state.deliberations) + delegates.output_llm_tokens,
    }

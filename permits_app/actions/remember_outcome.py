"""remember_outcome: an episode of memory from a finished permit. Memory alone fails open."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from memory_app.actions.store_episode import store_episode
from memory_app.importance import judge_importance
from memory_app.models import Episode
from memory_app.reflection import reflect
from permits_app.models import ActionPermit, OutcomeRecord
from permits_app.models.action_record import RESCUE_KEY, ActionRecord
from permits_app.permits.balance_deltas import read_deltas
from permits_app.permits.market_defaults import fill_regime, read_regime
from permits_app.permits.plan_store import decode_flows
from permits_app.permits.stored_calls import read_planned_calls
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.prepared_statements import Prepared, fetch_together
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import TokenMeta

_JUDGED: CompiledQuery[OutcomeRecord] = CompiledQuery(
    lambda permit_id: OutcomeRecord.objects.select_related("permit__golem").filter(permit_id=permit_id).order_by("-pk"),
    UUID(int=0),
)
_NOTE = Prepared(
    "note_episode",
    f"UPDATE {OutcomeRecord._meta.db_table} SET episode_id = %(episode)s"  # noqa: S608  (the table's own name)
    " WHERE id = %(outcome)s AND episode_id IS NULL",
)
_WHAT_HAPPENED: Final = ("succeeded", "balance_deltas", "is_verified", "findings")


def remember_outcome(*, permit_id: UUID, now: datetime, use_model: bool = True) -> UUID | None:
    """Store the episode once and note its id on the outcome; None when there is no outcome or memory is off.

    Judged again after a rollback, it is another episode, which takes the place of the first in every answer.
    Without `use_model` the memory worker adds the episode's vector later.
    """
    judged = list(_JUDGED.fetch(permit_id))
    outcome = next((each for each in judged if each.taken_back_at is None), None)
    if outcome is None:
        # Nothing is known, or a rollback took back what was: it is judged anew first.
        return None
    if outcome.episode_id is not None:
        return UUID(str(outcome.episode_id))
    permit: ActionPermit = outcome.permit
    if not permit.golem.is_memory_enabled or permit.halt_epoch is not None:
        return None
    told = {
        **outcome.actual,
        **_name_market(permit.golem_id, now),
        "findings": outcome.findings,
        "is_verified": outcome.is_verified,
        "ground_truth_source": outcome.ground_truth_source,
    }
    before = next((each.episode_id for each in judged if each.episode_id is not None), None)
    corrected = Episode.objects.filter(pk=before).first() if before is not None else None
    if corrected is not None and _says_same(corrected.outcome, told):
        return _note(outcome, corrected)
    symbols = [token.symbol for token in _list_tokens(permit)]
    episode = store_episode(
        golem_id=permit.golem_id,
        permit_id=permit.pk,
        tool_name=permit.tool_name,
        action_type=permit.action_type,
        venue=permit.venue,
        chain_id=permit.chain_id,
        tokens=_name_tokens(permit),
        prediction=outcome.expected,
        outcome=told,
        summary=_summarize(permit, outcome, symbols),
        importance=judge_importance(
            reflection=reflect(prediction=outcome.expected, outcome=told),
            is_verified=outcome.is_verified,
            lowered_a_debt_in_danger=_is_rescue(permit),
            was_taken_back=corrected is not None,
        ),
        provenance={
            "tool": permit.tool_name,
            "permit_id": str(permit.pk),
            "block_number": outcome.actual.get("block_number"),
            "written_by": "runtime",
        },
        params=permit.params,
        calls=[
            {"to": call.to, "data": call.data, "value": str(call.value), "sender": permit.account}
            for call in read_planned_calls(permit.plan_calls)
        ],
        now=now,
        use_model=use_model,
        corrects=corrected.pk if corrected is not None else None,
    )
    return _note(outcome, episode)


def _name_market(golem_id: UUID, now: datetime) -> dict[str, str]:
    """The regime in which it happened, where the golem's heartbeat looked lately."""
    (rows,) = fetch_together(fill_regime(golem_id))
    seen = read_regime(rows)
    return {"regime": seen.regime.value} if seen is not None and seen.is_fresh(now=now) else {}


def _is_rescue(permit: ActionPermit) -> bool:
    """Whether the health tripwire asked for it: a debt under its owner's floor."""
    tool = REGISTRY.get(permit.tool_name)
    wished = ActionRecord.objects.filter(permit=permit, wish_key__startswith=RESCUE_KEY)
    return isinstance(tool, WriteTool) and tool.is_rescue and wished.exists()


def _name_tokens(permit: ActionPermit) -> list[str]:
    """Symbols of registered tokens, addresses of all others: anybody may call a token as he likes."""
    tokens = _list_tokens(permit)
    return list(dict.fromkeys(each.symbol if each.is_registered else each.address for each in tokens))


def _list_tokens(permit: ActionPermit) -> list[TokenMeta]:
    return [flow.token for flow in decode_flows([*permit.bounds["spends"], *permit.bounds["receives"]])]


def _note(outcome: OutcomeRecord, episode: Episode) -> UUID:
    _NOTE.fetch(episode=episode.pk, outcome=outcome.pk)
    return UUID(str(episode.pk))


def _says_same(before: Mapping[str, object], told: Mapping[str, object]) -> bool:
    """Whether what memory keeps still holds: the same moved, in whatever block and for whatever gas."""
    return all(before.get(name) == told.get(name) for name in _WHAT_HAPPENED)


def _summarize(permit: ActionPermit, outcome: OutcomeRecord, symbols: list[str]) -> str:
    moved = ", ".join(delta.units for delta in read_deltas(outcome.actual)) or "nothing"
    result = "went as predicted" if outcome.is_verified else "did not go as predicted"
    return (
        f"{permit.action_type} at {permit.venue} on chain {permit.chain_id} with {' and '.join(symbols)}: "
        f"{moved}; worst cost {format_micro_usd(permit.value_micro_usd)}; gas {outcome.gas_used}; {result}"
    )

"""remember_outcome: an episode of memory from a finished permit. Memory alone fails open.

Seed: 002, "Memory lifecycle" (REFLECT, STORE).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from memory_app.actions.store_episode import store_episode
from permits_app.models import ActionPermit, OutcomeRecord
from tools_app.core.units import format_micro_usd


def remember_outcome(*, permit_id: UUID, now: datetime, use_model: bool = True) -> UUID | None:
    """Store the episode once and note its id on the outcome; None when there is no outcome or memory is off.

    Without `use_model` the memory worker adds the episode's vector later.
    """
    outcome = OutcomeRecord.objects.select_related("permit__golem").filter(permit_id=permit_id).first()
    if outcome is None:
        return None
    if outcome.episode_id is not None:
        return UUID(str(outcome.episode_id))
    permit: ActionPermit = outcome.permit
    if not permit.golem.is_memory_enabled or permit.halt_epoch is not None:
        return None
    symbols = [flow["token"]["symbol"] for flow in (*permit.bounds["spends"], *permit.bounds["receives"])]
    episode = store_episode(
        golem_id=permit.golem_id,
        permit_id=permit.pk,
        tool_name=permit.tool_name,
        action_type=permit.action_type,
        venue=permit.venue,
        chain_id=permit.chain_id,
        tokens=list(dict.fromkeys(symbols)),
        prediction=outcome.expected,
        outcome={**outcome.actual, "findings": outcome.findings, "is_verified": outcome.is_verified},
        summary=_summarize(permit, outcome, symbols),
        importance="base" if outcome.is_verified else "notable",
        provenance={
            "tool": permit.tool_name,
            "permit_id": str(permit.pk),
            "block_number": outcome.actual.get("block_number"),
            "written_by": "runtime",
        },
        params=permit.params,
        calls=[
            {"to": call["to"], "data": call["data"], "value": call["value"], "sender": permit.account}
            for call in permit.plan_calls
        ],
        now=now,
        use_model=use_model,
    )
    OutcomeRecord.objects.filter(pk=outcome.pk, episode_id__isnull=True).update(episode_id=episode.pk)
    return UUID(str(episode.pk))


def _summarize(permit: ActionPermit, outcome: OutcomeRecord, symbols: list[str]) -> str:
    deltas: list[dict[str, Any]] = outcome.actual.get("balance_deltas", [])
    moved = ", ".join(str(delta["units"]) for delta in deltas) or "nothing"
    result = "went as predicted" if outcome.is_verified else "did not go as predicted"
    return (
        f"{permit.action_type} at {permit.venue} on chain {permit.chain_id} with {' and '.join(symbols)}: "
        f"{moved}; worst cost {format_micro_usd(permit.value_micro_usd)}; gas {outcome.gas_used}; {result}"
    )

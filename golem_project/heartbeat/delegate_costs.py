"""Adds up what the delegates of a tick cost: all whom its model asked, and whom those asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from tools_app.core.models import AuditEntry
from tools_app.core.stored_json import read_stored

_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class DelegateCosts:
    """Micro-USD and tokens of a language model."""

    micro_usd: int = 0
    input_llm_tokens: int = 0
    output_llm_tokens: int = 0


@dataclass(frozen=True, slots=True)
class EndedDelegation:
    """What the audit log says a delegation cost."""

    cost_micro_usd: int | None = None
    input_llm_tokens: int | None = None
    output_llm_tokens: int | None = None


def read_delegate_costs(*, golem_id: UUID, heartbeat_tick: int, since: datetime) -> DelegateCosts:
    """Of the delegations that ended in a tick, as the audit log has them. A delegate may run in another process, so the
    time tells which they are: what an agent asked beside the tick is counted too, and nothing of it is left out.
    """
    rows = AuditEntry.objects.filter(golem_id=golem_id, event="DelegationEnded", heartbeat_tick=heartbeat_tick)
    recent = rows.filter(timestamp_ms__gte=int(since.timestamp() * 1_000)).order_by("-seq")
    ended = [read_stored(EndedDelegation, data) for data in recent.values_list("data", flat=True)[:_MOST]]
    return DelegateCosts(
        micro_usd=sum(each.cost_micro_usd or 0 for each in ended),
        input_llm_tokens=sum(each.input_llm_tokens or 0 for each in ended),
        output_llm_tokens=sum(each.output_llm_tokens or 0 for each in ended),
    )

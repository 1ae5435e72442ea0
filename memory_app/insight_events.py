"""Sends events about insights. The text of an insight never travels, only its hash."""

from __future__ import annotations

from datetime import datetime

from memory_app.models import Insight
from memory_app.models.insight import Kind
from tools_app.core import event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical

_TYPES = {
    Kind.INSIGHT: EventType.GRIMOIRE_INSIGHT,
    Kind.WARNING: EventType.GRIMOIRE_WARNING,
    Kind.HEURISTIC: EventType.GRIMOIRE_HEURISTIC,
    Kind.CAUSAL_LINK: EventType.GRIMOIRE_CAUSAL_LINK,
}


def announce_insight(insight: Insight, *, change: str, now: datetime, reason: str = "") -> None:
    """Emit grimoire:insight, warning, heuristic or causal_link in the caller's transaction. `change` is one word."""
    payload = {
        "insight_id": str(insight.pk),
        "kind": str(insight.kind),
        "category": str(insight.category),
        "change": change,
        "confidence_bps": insight.confidence_percent * 100,
        "episode_count": len(insight.episode_ids),
        "source": str(insight.source),
        "content_hash": hash_canonical({"text": insight.text}),
        "is_pinned": insight.is_pinned,
        "is_archived": insight.archived_at is not None,
        "is_quarantined": insight.is_quarantined,
    }
    if reason:
        payload["reason"] = reason[:500]
    if insight.kind == Kind.CAUSAL_LINK:
        payload |= {"link_id": str(insight.pk), "cause_id": str(insight.cause_id), "effect_id": str(insight.effect_id)}
    event_bus.emit(golem_id=insight.golem_id, event=Event(_TYPES[Kind(insight.kind)], payload), now=now)

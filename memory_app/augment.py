"""Augment: what memory may do to an action before it is previewed, which is slippage, timing and route, and no more.

That is a type: `SoftParams` has no other member. For now memory changes nothing and names the episodes that
resemble the action; a later tuner fills the type. It never loads the embedding model, because it runs inside the
simulation worker on the way of every preview: like episodes are those of the same tool and tokens, by index.
Memory fails open: a database that is slow or away costs the augmentation, not the preview.
Seed: 002, "Grimoire" (RETRIEVE, AUGMENT); decisions, "Memory".
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error, connection, transaction

from memory_app.decay import retention_at
from memory_app.filters import EpisodeFilters, select_episodes

logger = logging.getLogger(__name__)

_MOST_EPISODES = 5
_RECENT = 50
NOTHING_LEARNED = "like episodes are shown; nothing has been learned from them that would change a parameter"
NO_EPISODES = "this golem remembers nothing like it"
UNAVAILABLE = "memory did not answer in time; the action goes on without it"


@dataclass(frozen=True, slots=True)
class SoftParams:
    """The only parameters memory can touch. None leaves what was asked for.

    Slippage in basis points, deadline in seconds from the preview, route a fee tier or router as the tool names it.
    """

    slippage_bps: int | None = None
    deadline_seconds: int | None = None
    route_hint: str | None = None


@dataclass(frozen=True, slots=True)
class Augmentation:
    """What memory says about one action: soft parameters, the episodes behind them, and why."""

    soft_params: SoftParams = field(default_factory=SoftParams)
    episode_ids: tuple[UUID, ...] = ()
    note: str = NO_EPISODES
    is_available: bool = True

    @property
    def changes(self) -> dict[str, int | str]:
        """The soft parameters that memory sets, by name."""
        return {name: value for name, value in asdict(self.soft_params).items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form for the permit."""
        return {
            "changes": self.changes,
            "episode_ids": [str(episode_id) for episode_id in self.episode_ids],
            "note": self.note,
            "is_available": self.is_available,
        }


def augment(*, golem_id: UUID, tool_name: str, params: Mapping[str, Any], now: datetime) -> Augmentation:
    """Up to five of this tool's last fifty episodes, same tokens first, then the best retained. Never raises.

    Waits at most GOLEM_MEMORY_AUGMENT_TIMEOUT_MS for the database and changes nothing in it.
    """
    if not settings.GOLEM_MEMORY_ENABLED:
        return Augmentation(note="memory is switched off", is_available=False)
    try:
        found = _find_alike(golem_id, tool_name, _read_tokens(params), now)
    except Error:
        logger.warning("augmentation was skipped", exc_info=True)
        return Augmentation(note=UNAVAILABLE, is_available=False)
    return Augmentation(episode_ids=found, note=NOTHING_LEARNED if found else NO_EPISODES)


def _find_alike(golem_id: UUID, tool_name: str, tokens: frozenset[str], now: datetime) -> tuple[UUID, ...]:
    filters = EpisodeFilters(tool_name=tool_name)
    with transaction.atomic():
        with connection.cursor() as cursor:
            timeout = f"{settings.GOLEM_MEMORY_AUGMENT_TIMEOUT_MS}ms"
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [timeout])
        rows = select_episodes(golem_id=golem_id, filters=filters).order_by("-occurred_at")
        recent = list(rows.values_list("pk", "token_keys", "last_accessed_at", "stability_days")[:_RECENT])
        # Nothing was written; rolling back also takes the timeout off an outer transaction.
        transaction.set_rollback(True)
    ranked = sorted(
        (-len(tokens & set(keys)), -retention_at(last_accessed_at=accessed, stability_days=stability, now=now), pk)
        for pk, keys, accessed, stability in recent
    )
    return tuple(pk for _, _, pk in ranked[:_MOST_EPISODES])


def _read_tokens(params: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        value.lower() for name, value in params.items() if name.startswith("token") and isinstance(value, str)
    )

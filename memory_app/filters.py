"""EpisodeFilters: which of a golem's episodes a question is about.

The golem is no filter: every query names it apart from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_datetime

from memory_app.decay import Importance
from memory_app.models import Episode
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject

_MOST_TOKENS = 8


@dataclass(frozen=True, slots=True)
class EpisodeFilters:
    """Empty members filter nothing. All of `tokens` must be in an episode; times are half-open [since, until)."""

    chain_id: int | None = None
    tokens: tuple[str, ...] = ()
    tool_name: str = ""
    action_type: str = ""
    venue: str = ""
    importance: tuple[Importance, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    include_archived: bool = False
    include_quarantined: bool = False


def select_episodes(*, golem_id: UUID, filters: EpisodeFilters) -> QuerySet[Episode]:
    """The golem's episodes that pass `filters`, unordered."""
    wanted = Q(golem_id=golem_id)
    if filters.chain_id is not None:
        wanted &= Q(chain_id=filters.chain_id)
    if filters.tokens:
        wanted &= Q(token_keys__contains=[token.lower() for token in filters.tokens])
    for name in ("tool_name", "action_type", "venue"):
        if getattr(filters, name):
            wanted &= Q(**{name: getattr(filters, name)})
    if filters.importance:
        wanted &= Q(importance__in=[importance.value for importance in filters.importance])
    if filters.since is not None:
        wanted &= Q(occurred_at__gte=filters.since)
    if filters.until is not None:
        wanted &= Q(occurred_at__lt=filters.until)
    if not filters.include_archived:
        wanted &= Q(archived_at__isnull=True)
    if not filters.include_quarantined:
        wanted &= Q(is_quarantined=False)
    return Episode.objects.filter(wanted)


def parse_filters(raw: Mapping[str, Any]) -> EpisodeFilters:  # Any: JSON, as agents see it
    """Filters as an agent writes them. Nulls count as left out. Raises InvalidParams naming every bad field.

    Known: chain_id, tokens (list or `A/B`), token_pair (the same), tool_name or tool, action_type, venue,
    importance (one or a list), since and until (RFC 3339), include_archived.
    """
    given = {name: value for name, value in raw.items() if value is not None}
    problems: dict[str, str] = {}
    values: JsonObject = {}
    for name, value in given.items():
        target, read = _READERS.get(name, (None, None))
        if target is None or read is None:
            problems[f"filters.{name}"] = "this filter does not exist here"
        elif target in values:
            problems[f"filters.{name}"] = f"says the same as another filter ({target})"
        else:
            try:
                values[target] = read(value)
            except ValueError as error:
                problems[f"filters.{name}"] = str(error)
    if problems:
        raise InvalidParams(
            "; ".join(f"{field}: {text}" for field, text in problems.items()), fields=problems, allowed=sorted(_READERS)
        )
    return EpisodeFilters(**values)


def _read_chain_id(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**53:
        raise ValueError("a chain id is a whole number of at least 1")
    return value


def _read_tokens(value: object) -> tuple[str, ...]:
    parts = value.split("/") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) and part.strip() for part in parts):
        raise ValueError("tokens are a list of symbols or addresses, or a pair such as USDC/WETH")
    if len(parts) > _MOST_TOKENS:
        raise ValueError(f"at most {_MOST_TOKENS} tokens")
    return tuple(part.strip() for part in parts)


def _read_name(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= 96:
        raise ValueError("a name of 1 to 96 characters")
    return value.strip()


def _read_importance(value: object) -> tuple[Importance, ...]:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not parts:
        raise ValueError("one or a list of " + ", ".join(Importance))
    return tuple(read_importance(part) for part in parts)


def read_importance(value: object) -> Importance:
    """An importance by its name in any case; `routine` is another word for BASE. Raises ValueError."""
    name = value.upper() if isinstance(value, str) else ""
    name = "BASE" if name == "ROUTINE" else name
    if name not in Importance.__members__:
        raise ValueError("one of " + ", ".join(Importance))
    return Importance[name]


def _read_time(value: object) -> datetime:
    found = parse_datetime(value) if isinstance(value, str) else None
    if found is None or found.tzinfo is None:
        raise ValueError("a time with its zone, such as 2026-11-21T06:00:00Z")
    return found


def _read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


_READERS: dict[str, tuple[str, Any]] = {  # Any: JSON, as agents see it
    "chain_id": ("chain_id", _read_chain_id),
    "tokens": ("tokens", _read_tokens),
    "token_pair": ("tokens", _read_tokens),
    "tool_name": ("tool_name", _read_name),
    "tool": ("tool_name", _read_name),
    "action_type": ("action_type", _read_name),
    "venue": ("venue", _read_name),
    "importance": ("importance", _read_importance),
    "since": ("since", _read_time),
    "until": ("until", _read_time),
    "include_archived": ("include_archived", _read_flag),
}
FILTER_NAMES = frozenset(_READERS)
"""Every word that names a filter."""

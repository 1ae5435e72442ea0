"""Reads which events a caller asks for: golems, types, and the place to start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from uuid import UUID

from golem_project.stream.callers import EventFollower
from golem_project.stream.errors import GolemUnknown
from tools_app.core.errors import InvalidParams
from tools_app.core.event_log import EventFilter, LogHead, find_position
from tools_app.core.events import EventType

MOST_PER_PAGE = 500
DEFAULT_PER_PAGE = 100
_KINDS_OF_FAMILIES = {
    family: [kind.partition(":")[2] for kind in kinds]
    for family, kinds in groupby(sorted(EventType), key=lambda kind: kind.partition(":")[0])
}
_FAMILIES = frozenset(f"{family}:*" for family in _KINDS_OF_FAMILIES)
_KNOWN_TYPES = frozenset(str(kind) for kind in EventType) | _FAMILIES


def _list_of(word: str) -> str:
    """The pattern of words separated by commas."""
    # The word stands once: that of event types is three thousand characters long.
    return f"^({word}(,|$))+$"


# As the API's document says them; what is refused below breaks one of these, or is nobody's to see.
GOLEMS_PATTERN = _list_of("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
TYPES_PATTERN = _list_of(
    "({})".format(
        "|".join(f"{family}:({'|'.join(('[*]', *kinds))})" for family, kinds in sorted(_KINDS_OF_FAMILIES.items()))
    )
)
CURSOR_PATTERN = "^[0-9a-f]{8}-[0-9]{1,18}$"


@dataclass(frozen=True, slots=True)
class EventQuestion:
    """The parsed query: a filter, and either a cursor or a time to start from."""

    wanted: EventFilter
    cursor: str | None
    since: datetime | None
    limit: int = DEFAULT_PER_PAGE

    def start(self, *, head: LogHead, default: int) -> int:
        """The position to start after. Raises CursorUnknown, CursorExpired."""
        if self.cursor is not None:
            return head.parse_cursor(self.cursor)
        if self.since is not None:
            return find_position(self.since, head=head)
        return default


def read_question(
    query: Mapping[str, str], *, caller: EventFollower, last_event_id: str | None = None
) -> EventQuestion:
    """Parse the query. `Last-Event-ID` wins over `cursor`, which wins over `since`.

    Raises InvalidParams, GolemUnknown.
    """
    unknown = set(query) - {"golem", "types", "since", "cursor", "last_event_id", "limit"}
    if unknown:
        raise InvalidParams(f"unknown parameters: {', '.join(sorted(unknown))}", fields=sorted(unknown))
    return EventQuestion(
        wanted=EventFilter(
            golem_ids=choose_golems(_read_golems(query), caller=caller), types=read_types(query.get("types"))
        ),
        cursor=last_event_id or query.get("last_event_id") or query.get("cursor") or None,
        since=read_since(query.get("since")),
        limit=_read_limit(query.get("limit")),
    )


def choose_golems(named: Iterable[str], *, caller: EventFollower) -> frozenset[str] | None:
    """The golems to follow: the named ones of the caller's, or all of the caller's. Raises GolemUnknown."""
    chosen = set()
    for word in named:
        try:
            golem_id = str(UUID(word))
        except ValueError:
            raise InvalidParams("`golem` is an id (UUID), several separated by commas", golem=word[:40]) from None
        if caller.golem_ids is not None and golem_id not in caller.golem_ids:
            raise GolemUnknown("none of the golems you may follow has this id", golem_id=golem_id)
        chosen.add(golem_id)
    return frozenset(chosen) if chosen else caller.golem_ids


def read_types(text: str | None) -> frozenset[str] | None:
    """Wire names or families (`tool:*`), separated by commas. Raises InvalidParams."""
    names = frozenset(_words(text))
    strange = sorted(names - _KNOWN_TYPES)
    if strange:
        raise InvalidParams(
            "`types` names event types or families, separated by commas",
            unknown=strange[:10],
            families=sorted(_FAMILIES),
        )
    return names or None


def read_since(text: str | None) -> datetime | None:
    """An RFC 3339 time; one without offset is UTC. Raises InvalidParams."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.strip().replace(" ", "+"))
    except ValueError:
        raise InvalidParams("`since` is an RFC 3339 time such as 2026-01-31T12:00:00Z", since=text[:40]) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _read_golems(query: Mapping[str, str]) -> list[str]:
    """The ids that are named. A name that is left empty is a mistake of the caller, who would hear of all golems."""
    named = _words(query.get("golem"))
    if "golem" in query and not named:
        raise InvalidParams("`golem` is empty; leave it out for all golems that you may follow")
    return named


def _read_limit(text: str | None) -> int:
    if not text:
        return DEFAULT_PER_PAGE
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:6]) <= MOST_PER_PAGE:
        raise InvalidParams(f"`limit` is between 1 and {MOST_PER_PAGE}", limit=text[:10])
    return int(text)


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]

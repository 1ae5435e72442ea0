"""Heuristics as TOML and back: what tunes, by how much, how sure it is, and the episodes behind it.

The document is the owner's view of the rows; an edited one is applied to them, and the database holds every bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from archetypes_app.models import Golem
from memory_app.errors import MemoryOwnerUnknown
from memory_app.insight_events import announce_insight
from memory_app.json_text import dump_toml
from memory_app.models import Insight
from memory_app.models.insight import InsightCategory, Kind, Tunable
from memory_app.models.provenance import Source, Trust
from memory_app.text_cleaning import clean_text
from tools_app.core import audit_log
from tools_app.core.bounded_parsing import read_toml
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.core.transaction_retry import retry_aborted

_MOST = 500
_MOST_BYTES = 1_000_000
_PLAIN = (
    "tool_name",
    "chain_id",
    "token_keys",
    "parameter",
    "factor_bps",
    "confidence_percent",
    "is_pinned",
    "text",
    "route",
    "route_from",
)


@dataclass(frozen=True, slots=True)
class HeuristicTable:
    """One `[[heuristic]]` as an owner wrote it; numbers and marks are checked where they are read."""

    tool_name: str
    token_keys: list[object]
    parameter: str
    text: str
    episode_ids: list[str]
    category: str
    confidence_percent: object
    factor_bps: object
    identity_hash: object
    chain_id: object = None
    is_pinned: object = False
    route: object = ""
    route_from: object = ""
    is_archived: object = False


@dataclass(frozen=True, slots=True)
class HeuristicEdit:
    """One heuristic as its owner wants it: what its row is to hold."""

    tool_name: str
    chain_id: object
    token_keys: list[str]
    parameter: Tunable
    factor_bps: int
    confidence_percent: int
    is_pinned: bool
    text: str
    route: str
    route_from: str
    episode_ids: list[UUID]
    category: InsightCategory
    identity_hash: str
    is_archived: bool

    def list_columns(self) -> dict[str, object]:
        """The row's columns; when it is archived is a time of its own."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "is_archived"}


def render_heuristics(rows: Iterable[Insight]) -> str:
    """One `[[heuristic]]` a row, in the order of tool, tokens and parameter."""
    ordered = sorted(rows, key=lambda row: (row.tool_name, row.chain_id or 0, row.token_keys, row.parameter))
    parts = []
    for row in ordered:
        values = {
            **{name: getattr(row, name) for name in _PLAIN if getattr(row, name) is not None},
            "episode_ids": [str(episode_id) for episode_id in row.episode_ids],
            "category": str(row.category),
            "identity_hash": row.identity_hash,
            "is_archived": row.archived_at is not None,
        }
        parts.append(f"[[heuristic]]\n{dump_toml(values)}")
    return "\n".join(parts)


def list_heuristics(*, golem_id: UUID) -> list[Insight]:
    """The golem's heuristics that are not quarantined, archived ones too."""
    return list(Insight.objects.filter(golem_id=golem_id, kind=Kind.HEURISTIC, is_quarantined=False))


@retry_aborted
def apply_heuristics(*, golem_id: UUID, text: str, actor: str, reason: str, now: datetime) -> int:
    """Make the golem's heuristics what the TOML says, in one transaction; those it leaves out are archived.

    Returns how many rows changed. A value the database refuses (more slippage than was asked, fewer than five
    episodes, another parameter) refuses the whole text. Raises InvalidParams, MemoryOwnerUnknown.
    """
    wanted = _parse(text)
    changed = 0
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        rows = Insight.objects.select_for_update(no_key=True, of=("self",))
        known = {row.identity_hash: row for row in rows.filter(golem_id=golem_id, kind=Kind.HEURISTIC).order_by("pk")}
        for edit in wanted:
            row = known.pop(edit.identity_hash, None)
            changed += _apply(golem_id, row, edit, actor, reason, now)
        for row in known.values():
            if row.archived_at is None and not row.is_quarantined:
                row.archived_at = now
                row.save(update_fields=["archived_at", "updated_at"])
                announce_insight(row, change="archive", now=now, reason=reason)
                changed += 1
        if changed:
            audit_log.append(
                golem_id=golem_id,
                event="HeuristicsEdited",
                actor=actor,
                now=now,
                data={"changed": str(changed), "reason": reason[:500]},
            )
    return changed


def _apply(golem_id: UUID, row: Insight | None, edit: HeuristicEdit, actor: str, reason: str, now: datetime) -> int:
    is_archived, columns = edit.is_archived, edit.list_columns()
    if row is None:
        row = Insight(
            golem_id=golem_id,
            kind=Kind.HEURISTIC,
            source=Source.OWNER,
            trust=Trust.REPORTED,
            recorded_by=actor,
            last_accessed_at=now,
        )
    elif (row.archived_at is not None) == is_archived and all(
        getattr(row, name) == value for name, value in columns.items()
    ):
        return 0
    for name, value in columns.items():
        setattr(row, name, value)
    row.archived_at = (row.archived_at or now) if is_archived else None
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise InvalidParams(
            f"the heuristic of {row.tool_name} asks for what none may", fields={"text": "inside the bounds of tuning"}
        ) from None
    announce_insight(row, change="revised", now=now, reason=reason)
    return 1


def _parse(text: str) -> list[HeuristicEdit]:
    try:
        rows = read_toml(text, most_bytes=_MOST_BYTES).get("heuristic", [])
        if not isinstance(rows, list) or len(rows) > _MOST:
            raise ValueError(f"at most {_MOST} [[heuristic]] tables")
        return [_read(row) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidParams(f"no valid heuristics: {error}", fields={"text": "TOML of heuristics"}) from None


def _read(table: dict[str, object]) -> HeuristicEdit:
    unknown = set(table) - {*_PLAIN, "episode_ids", "category", "identity_hash", "is_archived"}
    if unknown:
        raise ValueError(f"unknown keys {', '.join(sorted(unknown))}")
    row = read_stored(HeuristicTable, table)
    percent, factor = row.confidence_percent, row.factor_bps
    if not isinstance(percent, int) or not isinstance(factor, int) or not 0 <= percent <= 100:
        raise ValueError("confidence_percent is 0 to 100 and factor_bps a whole number")
    return HeuristicEdit(
        tool_name=clean_text(row.tool_name, longest=96),
        chain_id=row.chain_id,
        token_keys=[str(key)[:64] for key in row.token_keys],
        parameter=Tunable(row.parameter),
        factor_bps=factor,
        confidence_percent=percent,
        is_pinned=bool(row.is_pinned),
        text=clean_text(row.text, longest=2_000),
        route=str(row.route)[:96],
        route_from=str(row.route_from)[:64].lower(),
        episode_ids=[UUID(found) for found in row.episode_ids],
        category=InsightCategory(row.category),
        identity_hash=str(row.identity_hash)[:66],
        is_archived=bool(row.is_archived),
    )

"""Write a golem's episodes and insights to one signed file. Quarantined memories stay where they are.

Secrets are taken out of every text. Strategies are confidential: they leave by an owner's own hand alone
with a code of theirs (`manage.py strategic_files`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from memory_app.archive_file import SUFFIX, Archive, write_archive
from memory_app.models import Episode, Insight, Strategy
from tools_app.core import audit_log
from tools_app.core.page_through import page_through
from tools_app.core.taint import DataSink, TaintLabel, clean_for

EPISODE_COLUMNS = (
    "chain_id",
    "tool_name",
    "action_type",
    "venue",
    "tokens",
    "summary",
    "prediction",
    "outcome",
    "reflection",
    "params",
    "prediction_error_bps",
    "importance",
    "stability_days",
    "dream_tag",
    "source",
    "trust",
    "recorded_by",
    "block_number",
    "block_hash",
    "content_hash",
)
INSIGHT_COLUMNS = (
    "kind",
    "text",
    "category",
    "confidence_percent",
    "tool_name",
    "chain_id",
    "token_keys",
    "upvotes",
    "downvotes",
    "parameter",
    "factor_bps",
    "route",
    "route_from",
    "source",
    "trust",
    "recorded_by",
    "identity_hash",
)


@dataclass(frozen=True, slots=True)
class GrimoireExport:
    """The file, how many rows of each kind it holds, and how many strategies stayed behind."""

    archive: Archive
    episodes: int
    insights: int
    strategies_withheld: int
    size_bytes: int


def export_grimoire(
    *,
    golem_id: UUID,
    include_decayed: bool,
    min_percent: int,
    actor: str,
    now: datetime,
    stem: str = "",
) -> GrimoireExport:
    """The golem's memory as an archive under GOLEM_GRIMOIRE_DIR. `include_decayed` adds archived memories, `stem` names
    the file instead of the time.

    Insights under `min_percent` stay out, and strategies do: TaintViolationBlocked says how many. Writes an audit entry
    with the file's hash.
    """
    counts = {"episode": 0, "insight": 0}

    def list_rows() -> Iterator[dict[str, Any]]:  # Any: a line of an archive, checked member by member
        for row in _list_rows(golem_id, include_decayed, min_percent):
            counts[row["row"]] += 1
            yield row

    archive = write_archive(
        folder=archive_folder(golem_id),
        stem=stem or f"grimoire-{now:%Y%m%dT%H%M%S%f}",
        header={"golem_id": str(golem_id), "exported_at": now.isoformat()},
        rows=list_rows(),
    )
    audit_log.append(
        golem_id=golem_id,
        event="GrimoireExported",
        actor=actor,
        now=now,
        data={"file": archive.path.name, "sha256": archive.sha256, **{name: str(n) for name, n in counts.items()}},
    )
    withheld = _withhold_strategies(golem_id, actor, now)
    return GrimoireExport(archive, counts["episode"], counts["insight"], withheld, archive.path.stat().st_size)


def _withhold_strategies(golem_id: UUID, actor: str, now: datetime) -> int:
    """How many strategies an export may not hold, told once in the audit log."""
    withheld = Strategy.objects.filter(golem_id=golem_id, is_quarantined=False).count()
    if withheld:
        facts = {
            "label": TaintLabel.STRATEGY_CONFIDENTIAL.value,
            "sink": DataSink.EXPORT.value,
            "what": "strategies",
            "count": str(withheld),
        }
        audit_log.append(golem_id=golem_id, event="TaintViolationBlocked", actor=actor, data=facts, now=now)
    return withheld


def list_archives(golem_id: UUID) -> list[Path]:
    """This golem's archives, the newest first."""
    return sorted(archive_folder(golem_id).glob("*" + SUFFIX), reverse=True)


def archive_folder(golem_id: UUID) -> Path:
    """Where this golem's archives lie."""
    return Path(settings.GOLEM_GRIMOIRE_DIR) / str(golem_id)


def _list_rows(
    golem_id: UUID,
    include_decayed: bool,
    min_percent: int,
) -> Iterator[dict[str, Any]]:  # Any: a line of an archive, checked member by member
    episodes = Episode.objects.filter(golem_id=golem_id, is_quarantined=False)
    insights = Insight.objects.filter(golem_id=golem_id, is_quarantined=False, confidence_percent__gte=min_percent)
    if not include_decayed:
        episodes, insights = episodes.filter(archived_at__isnull=True), insights.filter(archived_at__isnull=True)
    known = episodes.values("pk", "origin_id", "occurred_at", *EPISODE_COLUMNS)
    for found in page_through(known, by=("occurred_at", "pk")):
        yield _describe("episode", found, occurred_at=found["occurred_at"].isoformat())
    for found in page_through(insights.values("pk", "origin_id", *INSIGHT_COLUMNS), by=("pk",)):
        yield _describe("insight", found)


def _describe(
    kind: str,
    found: dict[str, Any],  # Any: a line of an archive, checked member by member
    **times: str,
) -> dict[str, Any]:  # Any: a line of an archive, checked member by member
    columns = {name: value for name, value in found.items() if name not in ("pk", "origin_id", "occurred_at")}
    cleaned: dict[str, object] = clean_for(DataSink.EXPORT, columns)
    # Under one name wherever it goes on to, so that it is known where it comes home.
    return {"row": kind, "id": str(found["origin_id"] or found["pk"]), **times, **cleaned}

"""Write a golem's episodes, insights and strategies to one signed file. Quarantined memories stay where they are.

Secrets are taken out of every text, and what is confidential does not leave. Seed: tool `memory_export_grimoire`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from memory_app.archive_file import Archive, write_archive
from memory_app.models import Episode, Insight, Strategy
from tools_app.core import audit_log
from tools_app.core.taint import DataSink, clean_for

_CHUNK = 1_000
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
STRATEGY_COLUMNS = (
    "name",
    "version",
    "parameters",
    "description",
    "chains",
    "token_pairs",
    "source",
    "trust",
    "recorded_by",
)


@dataclass(frozen=True, slots=True)
class Export:
    """The file and how many rows of each kind it holds."""

    archive: Archive
    episodes: int
    insights: int
    strategies: int
    size_bytes: int


def export_grimoire(*, golem_id: UUID, include_decayed: bool, min_percent: int, actor: str, now: datetime) -> Export:
    """The golem's memory as an archive under GOLEM_GRIMOIRE_DIR. `include_decayed` adds archived memories.

    Insights under `min_percent` stay out. Writes an audit entry with the file's hash.
    """
    counts = {"episode": 0, "insight": 0, "strategy": 0}

    def list_rows() -> Iterator[dict[str, Any]]:
        for row in _list_rows(golem_id, include_decayed, min_percent):
            counts[row["row"]] += 1
            yield row

    archive = write_archive(
        folder=archive_folder(golem_id),
        stem=f"grimoire-{now:%Y%m%dT%H%M%S%f}",
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
    return Export(archive, counts["episode"], counts["insight"], counts["strategy"], archive.path.stat().st_size)


def archive_folder(golem_id: UUID) -> Path:
    """Where this golem's archives lie."""
    return Path(settings.GOLEM_GRIMOIRE_DIR) / str(golem_id)


def _list_rows(golem_id: UUID, include_decayed: bool, min_percent: int) -> Iterator[dict[str, Any]]:
    episodes = Episode.objects.filter(golem_id=golem_id, is_quarantined=False).order_by("occurred_at", "pk")
    insights = Insight.objects.filter(
        golem_id=golem_id, is_quarantined=False, confidence_percent__gte=min_percent
    ).order_by("pk")
    if not include_decayed:
        episodes, insights = episodes.filter(archived_at__isnull=True), insights.filter(archived_at__isnull=True)
    for found in episodes.values("pk", "occurred_at", *EPISODE_COLUMNS).iterator(chunk_size=_CHUNK):
        yield _describe("episode", found, occurred_at=found["occurred_at"].isoformat())
    for found in insights.values("pk", *INSIGHT_COLUMNS).iterator(chunk_size=_CHUNK):
        yield _describe("insight", found)
    strategies = Strategy.objects.filter(golem_id=golem_id, is_quarantined=False).order_by("name", "version")
    for found in strategies.values("pk", "created_at", *STRATEGY_COLUMNS).iterator(chunk_size=_CHUNK):
        yield _describe("strategy", found, created_at=found["created_at"].isoformat())


def _describe(kind: str, found: dict[str, Any], **times: str) -> dict[str, Any]:
    columns = {name: value for name, value in found.items() if name not in ("pk", "occurred_at", "created_at")}
    cleaned: dict[str, Any] = clean_for(DataSink.EXPORT, columns)
    return {"row": kind, "id": str(found["pk"]), **times, **cleaned}

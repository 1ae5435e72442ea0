"""ToolCheckpoint: how far a tool came before its time was over, for the next call with the same parameters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.db import models

LIFE = timedelta(minutes=10)
"""What an older checkpoint says of a chain may not be so any more."""


class ToolCheckpoint(models.Model):
    """One per golem, tool and parameters; written when a call overran its budget, gone when one came through."""

    golem_id = models.UUIDField()
    tool_name = models.CharField(max_length=96)
    params_hash = models.CharField(max_length=66)
    data = models.JSONField(default=dict)
    kept_at = models.DateTimeField()

    class Meta:
        verbose_name = "tool checkpoint"
        constraints = [
            models.UniqueConstraint(fields=["golem_id", "tool_name", "params_hash"], name="tool_checkpoint_once")
        ]

    def __str__(self) -> str:
        return f"{self.tool_name} at {self.kept_at:%H:%M:%S}"


def load_checkpoint(*, golem_id: UUID, tool_name: str, params_hash: str, now: datetime) -> dict[str, object]:
    """What a call that overran left within the last ten minutes; empty when there is none."""
    row = ToolCheckpoint.objects.filter(
        golem_id=golem_id, tool_name=tool_name, params_hash=params_hash, kept_at__range=(now - LIFE, now + LIFE)
    ).first()
    return dict(row.data) if row is not None else {}


def keep_checkpoint(
    *, golem_id: UUID, tool_name: str, params_hash: str, data: Mapping[str, object], now: datetime
) -> None:
    """Write down how far the call came."""
    ToolCheckpoint.objects.update_or_create(
        golem_id=golem_id, tool_name=tool_name, params_hash=params_hash, defaults={"data": dict(data), "kept_at": now}
    )


def forget_checkpoint(*, golem_id: UUID, tool_name: str, params_hash: str) -> None:
    """The call came through; nothing is to be resumed."""
    ToolCheckpoint.objects.filter(golem_id=golem_id, tool_name=tool_name, params_hash=params_hash).delete()

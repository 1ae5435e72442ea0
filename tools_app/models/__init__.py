"""Rows of the bottom layer: the audit log and the event outbox."""

from __future__ import annotations

from tools_app.core.models import AuditCheckpoint, AuditEntry, AuditHead, EventHead, EventSequence, OutboxEvent
from tools_app.models.subscription import StreamSubscription
from tools_app.models.tool_checkpoint import ToolCheckpoint

__all__ = [
    "AuditCheckpoint",
    "AuditEntry",
    "AuditHead",
    "EventHead",
    "EventSequence",
    "OutboxEvent",
    "StreamSubscription",
    "ToolCheckpoint",
]

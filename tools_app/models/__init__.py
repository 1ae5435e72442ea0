"""Rows of the bottom layer: the audit log and the event outbox."""

from __future__ import annotations

from tools_app.core.models import AuditEntry, AuditHead, EventSequence, OutboxEvent

__all__ = ["AuditEntry", "AuditHead", "EventSequence", "OutboxEvent"]

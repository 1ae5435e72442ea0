"""Typed events as plain data: a wire name and a JSON payload. Names as in decisions, "Events and audit"."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EventType(StrEnum):
    """Every wire name this product emits."""

    TOOL_START = "tool:start"
    TOOL_UPDATE = "tool:update"
    TOOL_END = "tool:end"
    TOOL_ERROR = "tool:error"
    PERMIT_CREATED = "permit:created"
    PERMIT_COMMITTED = "permit:committed"
    PERMIT_EXPIRED = "permit:expired"
    PERMIT_CANCELLED = "permit:cancelled"
    PERMIT_BLOCKED = "permit:blocked"
    PERMIT_UNKNOWN = "permit:unknown"
    POLICY_VIOLATION = "policy:violation"
    POLICY_CAGE_UPDATED = "policy:cage_updated"
    POLICY_LIMIT_HIT = "policy:limit_hit"
    PHASE_TRANSITION = "phase:transition"
    GRIMOIRE_EPISODE = "grimoire:episode"
    GRIMOIRE_DIRECTIVE = "grimoire:directive"
    HALT_STARTED = "halt:started"
    HALT_COMPLETED = "halt:completed"
    HALT_RESUMED = "halt:resumed"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one golem. `payload` is JSON-ready and holds no secret and no raw parameters."""

    type: EventType
    payload: dict[str, Any] = field(default_factory=dict)
    version: int = 1

"""Rows of the bottom layer: the audit log, the event outbox, and what the runner remembers."""

from __future__ import annotations

from tools_app.core.models import (
    AuditArchive,
    AuditCheckpoint,
    AuditEntry,
    AuditHead,
    EventHead,
    EventSequence,
    OutboxEvent,
    RepeatedTransaction,
)
from tools_app.models.frozen_registry import FrozenRegistry
from tools_app.models.history import (
    ChainLog,
    FollowedChain,
    LogGap,
    LogSource,
    LogWish,
    OwnerHistory,
    PriceBar,
    SeenBlock,
)
from tools_app.models.known_position import KnownPosition
from tools_app.models.position_search import PositionSearch
from tools_app.models.saved_filter import SavedFilter
from tools_app.models.share_mark import ShareMark
from tools_app.models.subscription import StreamSubscription
from tools_app.models.tool_checkpoint import ToolCheckpoint
from tools_app.models.tool_cooccurrence import SpeculationRecord, ToolCooccurrence
from tools_app.models.wasm_module import ActionWish, ToolDefinition, WasmModule, WasmRun

__all__ = [
    "ActionWish",
    "AuditArchive",
    "AuditCheckpoint",
    "AuditEntry",
    "AuditHead",
    "ChainLog",
    "EventHead",
    "EventSequence",
    "FollowedChain",
    "FrozenRegistry",
    "KnownPosition",
    "LogGap",
    "LogSource",
    "LogWish",
    "OwnerHistory",
    "OutboxEvent",
    "PositionSearch",
    "PriceBar",
    "RepeatedTransaction",
    "SavedFilter",
    "SeenBlock",
    "ShareMark",
    "SpeculationRecord",
    "StreamSubscription",
    "ToolCheckpoint",
    "ToolCooccurrence",
    "ToolDefinition",
    "WasmModule",
    "WasmRun",
]

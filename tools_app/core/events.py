"""Typed events as plain data: a wire name and a JSON payload. docs/events.md lists the names.

What each payload holds is declared in `tools_app.core.event_schemas`, the only place that says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tools_app.core.json_types import JsonObject


class EventType(StrEnum):
    """Every wire name this product knows."""

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
    POLICY_TRIAL = "policy:trial"
    HEARTBEAT_TICK = "heartbeat:tick"
    HEARTBEAT_COMPLETE = "heartbeat:complete"
    HEARTBEAT_TIER = "heartbeat:tier"
    HEARTBEAT_ALERT = "heartbeat:alert"
    PHASE_TRANSITION = "phase:transition"
    GRIMOIRE_EPISODE = "grimoire:episode"
    GRIMOIRE_DIRECTIVE = "grimoire:directive"
    GRIMOIRE_INSIGHT = "grimoire:insight"
    GRIMOIRE_HEURISTIC = "grimoire:heuristic"
    GRIMOIRE_WARNING = "grimoire:warning"
    GRIMOIRE_CAUSAL_LINK = "grimoire:causal_link"
    GRIMOIRE_CONSOLIDATED = "grimoire:consolidated"
    GRIMOIRE_PURGED = "grimoire:purged"
    GRIMOIRE_ARTIFACT = "grimoire:artifact"
    DREAM_START = "dream:start"
    DREAM_PHASE = "dream:phase"
    DREAM_HYPOTHESIS = "dream:hypothesis"
    DREAM_COUNTERFACTUAL = "dream:counterfactual"
    DREAM_COMPLETE = "dream:complete"
    APPROVAL_REQUESTED = "approval:requested"
    APPROVAL_ANNOUNCED = "approval:announced"
    APPROVAL_COMMENTED = "approval:commented"
    APPROVAL_GRANTED = "approval:granted"
    APPROVAL_REJECTED = "approval:rejected"
    APPROVAL_EXECUTED = "approval:executed"
    APPROVAL_EXPIRED = "approval:expired"
    APPROVAL_CANCELLED = "approval:cancelled"
    PASSKEY_COPIED = "approval:passkey_copied"
    SECOND_FACTOR_CHANGED = "approval:second_factor_changed"
    SECOND_FACTOR_GUESSED = "approval:second_factor_guessed"
    ACCOUNT_STOPPED = "account:stopped"
    ACCOUNT_BACK = "account:back"
    HALT_STARTED = "halt:started"
    HALT_COMPLETED = "halt:completed"
    HALT_RESUMED = "halt:resumed"
    DEATH_INITIATED = "death:initiated"
    DEATH_STOPPED = "death:stopped"
    DEATH_COMPLETED = "death:completed"
    REQUEST_OPENED = "request:opened"
    REQUEST_READY = "request:ready"
    REQUEST_DONE = "request:done"
    REQUEST_STUCK = "request:stuck"
    REQUEST_TAKEN = "request:taken"
    REQUEST_LOST = "request:lost"
    REQUEST_EXECUTED = "request:executed"
    REQUEST_CANCELLED = "request:cancelled"
    REQUEST_EXPIRED = "request:expired"
    PROMISE_SIGNED = "promise:signed"
    PROMISE_FILLED = "promise:filled"
    PROMISE_CANCELLED = "promise:cancelled"
    PROMISE_EXPIRED = "promise:expired"
    RIGHT_WITHDRAWN = "right:withdrawn"
    RIGHT_RESTORED = "right:restored"
    RIGHT_ENDED = "right:ended"
    CHAIN_STOPPED = "chain:stopped"
    CHAIN_RESUMED = "chain:resumed"
    CHAIN_ROLLED_BACK = "chain:rolled_back"
    SAFE_CHANGED = "safe:changed"
    SAFE_OPEN = "safe:open"
    SIGNER_DELEGATED = "signer:delegated"
    CHAT_TURN = "chat:turn"
    WASM_START = "wasm:start"
    WASM_COMPLETE = "wasm:complete"
    STREAM_SUBSCRIBED = "stream:subscribed"
    STREAM_ENDED = "stream:ended"
    STREAM_FAILED = "stream:failed"
    STREAM_WEBHOOK_DISABLED = "stream:webhook_disabled"
    A2A_TASK = "a2a:task"
    POOL_CREATED = "pool:created"
    POOL_EVENT = "pool:event"
    POOL_STATE = "pool:state"
    POSITION_ALERT = "position:alert"
    POSITION_SLASHED = "position:slashed"
    PRICE_UPDATE = "price:update"
    TOKENJAR_UPDATE = "tokenjar:update"
    TRADE_EXECUTED = "trade:executed"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one golem. `payload` is JSON-ready and holds no secret and no raw parameters."""

    type: EventType
    payload: JsonObject = field(default_factory=dict)
    version: int = 1


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event at its place in the log; `body` is its JSON as every subscriber gets it."""

    position: int
    golem_id: str
    type: str
    body: str


def encode_event(row: tuple[Any, ...]) -> str:  # Any: columns of a row, in the order of its query
    """The wire form of an event, from its columns: id, golem, sequence, type, version, tick, time, payload.

    The payload is the JSON text PostgreSQL keeps, so that ring and log give the same bytes, or an object.
    """
    event_id, golem_id, sequence, kind, version, tick, occurred_at, payload = row
    text = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
    # The other columns are ids, numbers, a time and a wire name: nothing in them is to be escaped.
    return (
        f'{{"event_id":"{event_id}","type":"{kind}","version":{version},"golem_id":"{golem_id}",'
        f'"sequence":{sequence},"heartbeat_tick":{tick},"occurred_at":"{occurred_at.isoformat()}","payload":{text}}}'
    )

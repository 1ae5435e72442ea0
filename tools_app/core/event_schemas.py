"""Defines the payload of every event; checks, JSON Schema and documentation come from here.

A field that is not declared here may not be emitted, so nothing reaches a subscriber by accident. Adding an optional
field keeps the version; renaming or removing one raises it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from tools_app.core.events import EventType as E
from tools_app.core.json_types import JsonObject


class FieldKind(Enum):
    """What one field of a payload may hold: its JSON type, and the form of its text."""

    TEXT = ("string", "")
    INTEGER = ("integer", "")
    FLAG = ("boolean", "")
    AMOUNT = ("string", r"^-?\d+$")
    UNITS = ("string", r"^-?\d[\d,]*(\.\d+)?$")
    HEX = ("string", r"^0x[0-9a-fA-F]*$")
    UUID = ("string", r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    TIME = ("string", r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
    TEXTS = ("array", "", "string")
    OBJECT = ("object", "")
    OBJECTS = ("array", "", "object")

    @property
    def json_type(self) -> str:
        return str(self.value[0])

    @property
    def pattern(self) -> str:
        return str(self.value[1])


TEXT, INTEGER, FLAG, AMOUNT, UNITS = (
    FieldKind.TEXT,
    FieldKind.INTEGER,
    FieldKind.FLAG,
    FieldKind.AMOUNT,
    FieldKind.UNITS,
)
HEX, UUID, TIME, TEXTS = FieldKind.HEX, FieldKind.UUID, FieldKind.TIME, FieldKind.TEXTS
OBJECT, OBJECTS = FieldKind.OBJECT, FieldKind.OBJECTS


@dataclass(frozen=True, slots=True)
class PayloadSchema:
    """The fields of one event. `optional` ones may be missing or null; any other name is refused.

    Text from outside may stand anywhere as `{"untrusted": true, "value": …}`: it is data, never instruction.
    """

    when: str
    required: Mapping[str, FieldKind]
    optional: Mapping[str, FieldKind]

    def problems(self, payload: Mapping[str, object]) -> list[str]:
        """What is wrong with `payload`, one sentence each; empty when it fits."""
        found = [f"{name!r} is missing" for name in self.required if payload.get(name) is None]
        for name, value in payload.items():
            kind = self.required.get(name) or self.optional.get(name)
            if kind is None:
                found.append(f"{name!r} is not declared")
            elif value is not None and not _fits(kind, value):
                found.append(f"{name!r} is no {kind.name.lower()}: {value!r}")
        return found

    def as_json_schema(self) -> JsonObject:
        """JSON Schema 2020-12 of the payload."""
        properties = {name: _as_property(kind, is_nullable=False) for name, kind in self.required.items()}
        properties |= {name: _as_property(kind, is_nullable=True) for name, kind in self.optional.items()}
        return {
            "type": "object",
            "description": self.when,
            "properties": properties,
            "required": sorted(self.required),
            "additionalProperties": False,
        }


class UndeclaredPayload(ValueError):
    """A payload that its schema does not describe: a mistake of the emitting code."""


def check_payload(kind: E, payload: Mapping[str, object]) -> None:
    """Raises UndeclaredPayload when `payload` is not what the schema of `kind` says."""
    problems = SCHEMAS[kind].problems(payload)
    if problems:
        raise UndeclaredPayload(f"{kind}: {'; '.join(problems)}. Declare it in tools_app/core/event_schemas.py")


def keep_declared(kind: E, payload: dict[str, object]) -> tuple[dict[str, object], list[str]]:
    """`payload` without what its schema does not name, and the names that were left out."""
    schema = SCHEMAS[kind]
    undeclared = [name for name in payload if name not in schema.required and name not in schema.optional]
    if not undeclared:
        return payload, undeclared
    return {name: value for name, value in payload.items() if name not in undeclared}, undeclared


def _fits(kind: FieldKind, value: object) -> bool:
    if isinstance(value, Mapping) and value.get("untrusted") is True:
        # Text from outside travels marked; see taint.clean_for.
        return _fits(kind, value.get("value"))
    match kind.json_type:
        case "string":
            return isinstance(value, str) and (not kind.pattern or re.match(kind.pattern, value) is not None)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, Mapping)
    member: type[object] = str if kind is FieldKind.TEXTS else Mapping
    return isinstance(value, list | tuple) and all(isinstance(item, member) for item in value)


def _as_property(kind: FieldKind, *, is_nullable: bool) -> dict[str, object]:
    schema: dict[str, object] = {"type": [kind.json_type, "null"] if is_nullable else kind.json_type}
    if kind.pattern:
        schema["pattern"] = kind.pattern
    if kind.json_type == "array":
        schema["items"] = {"type": kind.value[2]}
    return schema


def _describe(when: str, required: Mapping[str, FieldKind], **optional: FieldKind) -> PayloadSchema:
    return PayloadSchema(when=when, required=required, optional=optional)


_CALL: Final = {"tool_name": TEXT}
_PERMIT: Final = {"permit_id": UUID, "tool_name": TEXT, "status": TEXT}
_PERMIT_MORE: Final = {
    "reason": TEXT,
    "code": TEXT,
    "hook": TEXT,
    "rule": TEXT,
    "tx_hash": HEX,
    "tx_hashes": TEXTS,
    "is_verified": FLAG,
    "gas_used": INTEGER,
    "fee_wei": AMOUNT,
    "action_type": TEXT,
    "outcomes": OBJECTS,
    "block_number": INTEGER,
    "approvals_left": OBJECTS,
    "detail": OBJECT,
    "executes_at": TIME,
}
_DENIAL: Final = {
    "code": TEXT,
    "hook": TEXT,
    "rule": TEXT,
    "action_type": TEXT,
    "venue": TEXT,
    "params_hash": HEX,
    "permit_id": UUID,
    "tool_name": TEXT,
    "observed": TEXT,
    "limit": TEXT,
    "observed_bps": AMOUNT,
    "limit_bps": AMOUNT,
    "mark": TEXT,
    "value": TEXT,
    "differences": OBJECTS,
    "engines": TEXTS,
    "results": OBJECTS,
    "reason": TEXT,
}
_REQUEST: Final = {"request_id": UUID}
_REQUEST_MORE: Final = {
    "operation": TEXT,
    "tool_name": TEXT,
    "permit_id": UUID,
    "risk_tier": TEXT,
    "status": TEXT,
    "digest": HEX,
    "plan_hash": HEX,
    "policy_hash": HEX,
    "value_micro_usd": AMOUNT,
    "value": TEXT,
    "asked_by": TEXT,
    "owner": TEXT,
    "reason": TEXT,
    "approvals_given": INTEGER,
    "approvals_needed": INTEGER,
    "not_before": TIME,
    "deadline": TIME,
    "expires_at": TIME,
    "transaction_hashes": TEXTS,
    "error_code": TEXT,
    "summary": TEXT,
}
_PENDING: Final = {
    "request_id": UUID,
    "position": TEXT,
    "protocol": TEXT,
    "chain_id": INTEGER,
    "expects_chain_id": INTEGER,
    "state": TEXT,
}
_PENDING_MORE: Final = {
    "amounts": OBJECTS,
    "expected_at": TIME,
    "permit_id": UUID,
    "claim_permit_id": UUID,
    "reason": TEXT,
    "ends_at": TIME,
    "successor": TEXT,
    "came": OBJECTS,
}
_PROMISE: Final = {
    "promise_id": UUID,
    "permit_id": UUID,
    "protocol": TEXT,
    "chain_id": INTEGER,
    "contract": TEXT,
    "digest": TEXT,
    "state": TEXT,
    "gives": OBJECTS,
    "gets": OBJECTS,
    "ends_at": TIME,
}
_RIGHT: Final = {
    "right_id": UUID,
    "chain_id": INTEGER,
    "protocol": TEXT,
    "principal": HEX,
    "token": TEXT,
    "state": TEXT,
    "reason": TEXT,
}
_MEMORY: Final = {
    "title": TEXT,
    "kind": TEXT,
    "category": TEXT,
    "change": TEXT,
    "confidence_bps": INTEGER,
    "episodes": TEXTS,
    "episode_count": INTEGER,
    "source": TEXT,
    "content_hash": TEXT,
    "is_pinned": FLAG,
    "is_archived": FLAG,
    "is_quarantined": FLAG,
    "reason": TEXT,
    "version": INTEGER,
    "section": TEXT,
}
_DREAM: Final = {
    "phase": TEXT,
    "trigger": TEXT,
    "episode_id": UUID,
    "episode_ids": TEXTS,
    "episode_count": INTEGER,
    "hypothesis": TEXT,
    "changed": OBJECT,
    "actual": OBJECT,
    "expected": OBJECT,
    "simulated": OBJECT,
    "difference": OBJECT,
    "insight_id": TEXT,
    "confidence_bps": INTEGER,
    "duration_ms": INTEGER,
    "counts": OBJECT,
    "interrupted": FLAG,
    "outcome": TEXT,
    "reason": TEXT,
    "fidelity": TEXT,
}
_SUBSCRIPTION: Final = {"subscription_id": UUID, "chain_id": INTEGER}
_BLOCK: Final = {"block_number": INTEGER, "block_hash": HEX}
_LOG: Final = {**_BLOCK, "transaction_hash": HEX, "log_index": INTEGER}
_AMOUNTS: Final = {
    "token0": OBJECT,
    "token1": OBJECT,
    "amount0": AMOUNT,
    "amount0_units": UNITS,
    "amount1": AMOUNT,
    "amount1_units": UNITS,
    "venue": TEXT,
}
_POOL_NUMBERS: Final = {
    "sqrt_price_x96": AMOUNT,
    "liquidity": AMOUNT,
    "pool_tick": INTEGER,
    "reserve0": AMOUNT,
    "reserve0_units": UNITS,
    "reserve1": AMOUNT,
    "reserve1_units": UNITS,
    "fee_pips": INTEGER,
    "price": UNITS,
}

SCHEMAS: Final[Mapping[E, PayloadSchema]] = {
    E.TOOL_START: _describe(
        "A handler is entered, or the commit of what it planned begins (then with `permit_id`). `sprite_trigger` is how"
        " a page or terminal may draw the golem meanwhile, `budget_ms` the longest it takes.",
        {**_CALL, "params_hash": HEX},
        call_id=UUID,
        sprite_trigger=TEXT,
        budget_ms=INTEGER,
        action_type=TEXT,
        permit_id=UUID,
    ),
    E.TOOL_UPDATE: _describe(
        "A handler reaches one of its declared progress steps, or goes on in it; `step_index` counts from 0."
        " `checkpoint` is how far a read came that can go on from there when its time is over, in whole numbers.",
        {**_CALL, "step_name": TEXT, "step_index": INTEGER, "total_steps": INTEGER},
        call_id=UUID,
        checkpoint=OBJECT,
    ),
    E.TOOL_END: _describe(
        "A handler answered, or the commit of what it planned ended; `success` says whether it did what it was asked"
        " for. `result_summary` names the fields, never their values.",
        {**_CALL, "success": FLAG, "duration_ms": INTEGER},
        permit_id=UUID,
        call_id=UUID,
        params_hash=HEX,
        result_summary=TEXT,
    ),
    E.TOOL_ERROR: _describe(
        "A handler failed with a typed error, or the commit of what it planned was refused. `checkpoint` as in"
        " `tool:update`.",
        {**_CALL, "error_code": TEXT, "error_message": TEXT},
        permit_id=UUID,
        call_id=UUID,
        params_hash=HEX,
        duration_ms=INTEGER,
        checkpoint=OBJECT,
    ),
    E.PERMIT_CREATED: _describe(
        "A preview ended in a permit; `verdicts` is what each safety hook said, in their order, and how long it took.",
        {
            "permit_id": UUID,
            "tool_name": TEXT,
            "action_type": TEXT,
            "risk_tier": TEXT,
            "value_micro_usd": AMOUNT,
            "simulation_hash": TEXT,
            "expires_at": TIME,
        },
        status=TEXT,
        delegated_by=TEXT,
        reason=TEXT,
        verdicts=OBJECTS,
    ),
    E.PERMIT_COMMITTED: _describe(
        "The permit's transactions are in a block; `status` says COMMITTED or REVERTED.", _PERMIT, **_PERMIT_MORE
    ),
    E.PERMIT_EXPIRED: _describe("The permit's time or ticks are over.", _PERMIT, **_PERMIT_MORE),
    E.PERMIT_CANCELLED: _describe("The permit was cancelled.", _PERMIT, **_PERMIT_MORE),
    E.PERMIT_BLOCKED: _describe("The permit was blocked by an owner, a limit or a halt.", _PERMIT, **_PERMIT_MORE),
    E.PERMIT_UNKNOWN: _describe("Sent, and the outcome was not seen yet.", _PERMIT, **_PERMIT_MORE),
    E.POLICY_VIOLATION: _describe("A rule refused an action, or a watched limit was broken.", {}, **_DENIAL),
    E.POLICY_LIMIT_HIT: _describe("A spending or rate limit refused an action.", {}, **_DENIAL),
    E.POLICY_TRIAL: _describe(
        "A draft of the policy is tried on past decisions: how far it is, or RUNNING, DONE, FAILED.",
        {"trial_id": UUID, "status": TEXT, "done": INTEGER, "total": INTEGER},
    ),
    E.POLICY_CAGE_UPDATED: _describe(
        "Limits, addresses or the cage changed; `fields` names what, not the values.",
        {"row": TEXT, "fields": TEXTS},
        block_number=INTEGER,
        block_hash=HEX,
        transaction_hash=HEX,
        policy_hash=HEX,
        version=INTEGER,
        source=TEXT,
        contract=HEX,
        chain_id=INTEGER,
    ),
    E.HEARTBEAT_TICK: _describe(
        "A tick begins.",
        {},
        heartbeat_tick=INTEGER,
        regime=TEXT,
        theta_seconds=INTEGER,
        theta_ms=INTEGER,
        due_at=TIME,
        lateness_ms=INTEGER,
        phase=TEXT,
        mode=TEXT,
        is_dry_run=FLAG,
        step=TEXT,
        missed_ticks=INTEGER,
    ),
    E.HEARTBEAT_TIER: _describe(
        "The gate chose how to think: T0, T1 or T2. Numbers in basis points.",
        {"tier": TEXT},
        reason=TEXT,
        gating_reason=TEXT,
        prediction_error_bps=INTEGER,
        threshold_bps=INTEGER,
        is_forced=FLAG,
        regime=TEXT,
        heartbeat_tick=INTEGER,
    ),
    E.HEARTBEAT_COMPLETE: _describe(
        "A tick is over and its decision is recorded.",
        {},
        heartbeat_tick=INTEGER,
        tier=TEXT,
        duration_ms=INTEGER,
        outcome=TEXT,
        reason=TEXT,
        decision_id=TEXT,
        action_count=INTEGER,
        actions=OBJECTS,
        permit_ids=TEXTS,
        vitality_millionths=AMOUNT,
        phase=TEXT,
        next_tick_at=TIME,
        cost_micro_usd=AMOUNT,
        is_dry_run=FLAG,
        error_code=TEXT,
        steps=TEXTS,
        regime=TEXT,
        theta_seconds=INTEGER,
        is_quiet=FLAG,
    ),
    E.HEARTBEAT_ALERT: _describe(
        "What the heartbeat monitor or a sleepwalker noticed, batched over five minutes.",
        {"alerts": OBJECTS},
        window_seconds=INTEGER,
        source=TEXT,
        window_start=TIME,
        window_end=TIME,
    ),
    E.PHASE_TRANSITION: _describe(
        "The behavioural phase changed.",
        {"from": TEXT, "to": TEXT, "reason": TEXT, "is_reset": FLAG},
        vitality_millionths=AMOUNT,
    ),
    E.GRIMOIRE_ARTIFACT: _describe(
        "A sleepwalker-observer published what it is sure of.",
        {"artifact_id": UUID, "domain": TEXT, "statement": TEXT, "confidence_percent": INTEGER},
        subject=TEXT,
        is_adverse=FLAG,
        price_micro_usd=AMOUNT,
    ),
    E.GRIMOIRE_EPISODE: _describe(
        "An episode was stored.",
        {"episode_id": UUID},
        permit_id=UUID,
        tool_name=TEXT,
        importance=TEXT,
        content_hash=TEXT,
        is_quarantined=FLAG,
    ),
    E.GRIMOIRE_DIRECTIVE: _describe(
        "A new version of PLAYBOOK or STRATEGY.",
        {"document": TEXT, "version": INTEGER, "section": TEXT, "text_hash": TEXT},
        directive_id=TEXT,
        restored=INTEGER,
    ),
    E.GRIMOIRE_INSIGHT: _describe(
        "An insight was written, confirmed, contradicted, pinned or archived.", {"insight_id": TEXT}, **_MEMORY
    ),
    E.GRIMOIRE_HEURISTIC: _describe("A heuristic was promoted, revised or demoted.", {"insight_id": TEXT}, **_MEMORY),
    E.GRIMOIRE_WARNING: _describe("A warning was written or lifted.", {"insight_id": TEXT}, **_MEMORY),
    E.GRIMOIRE_CAUSAL_LINK: _describe(
        "A cause and its effect were linked.",
        {},
        link_id=TEXT,
        insight_id=TEXT,
        cause=TEXT,
        effect=TEXT,
        cause_id=TEXT,
        effect_id=TEXT,
        weight_bps=INTEGER,
        **_MEMORY,
    ),
    E.GRIMOIRE_CONSOLIDATED: _describe(
        "A consolidation cycle ended.",
        {},
        counts=OBJECT,
        duration_ms=INTEGER,
        examined=INTEGER,
        written=INTEGER,
        merged=INTEGER,
        archived=INTEGER,
        forgotten=INTEGER,
    ),
    E.GRIMOIRE_PURGED: _describe(
        "Memories were purged, quarantined, imported or released.",
        {},
        counts=OBJECT,
        reason=TEXT,
        change=TEXT,
        store=TEXT,
        content_hash=TEXT,
    ),
    E.DREAM_START: _describe("A dream begins.", {"dream_id": TEXT}, **_DREAM),
    E.DREAM_PHASE: _describe("A dream enters NREM, REM or Integration.", {"dream_id": TEXT}, **_DREAM),
    E.DREAM_HYPOTHESIS: _describe("A dream forms a hypothesis.", {"dream_id": TEXT}, **_DREAM),
    E.DREAM_COUNTERFACTUAL: _describe("A counterfactual was simulated.", {"dream_id": TEXT}, **_DREAM),
    E.DREAM_COMPLETE: _describe("A dream ended or was interrupted.", {"dream_id": TEXT}, **_DREAM),
    E.APPROVAL_REQUESTED: _describe("A change waits for an owner.", _REQUEST, **_REQUEST_MORE),
    E.APPROVAL_ANNOUNCED: _describe("A change was announced and waits out its delay.", _REQUEST, **_REQUEST_MORE),
    E.APPROVAL_COMMENTED: _describe("Somebody commented on a change.", _REQUEST, **_REQUEST_MORE),
    E.APPROVAL_GRANTED: _describe("An owner approved; more approvals may be needed.", _REQUEST, **_REQUEST_MORE),
    E.APPROVAL_REJECTED: _describe("A change was rejected.", _REQUEST, **_REQUEST_MORE),
    E.APPROVAL_EXECUTED: _describe("An approved change took effect.", _REQUEST, **_REQUEST_MORE),
    E.APPROVAL_EXPIRED: _describe("A change was not decided in time.", _REQUEST, **_REQUEST_MORE),
    E.APPROVAL_CANCELLED: _describe("A change was withdrawn or cancelled.", _REQUEST, **_REQUEST_MORE),
    E.PASSKEY_COPIED: _describe(
        "The counter of a passkey of somebody who decides for the golem went back: it may have been copied, and counts"
        " for nothing any more.",
        {"person": TEXT},
    ),
    E.SECOND_FACTOR_CHANGED: _describe(
        "A second factor of somebody who decides for the golem was set up, replaced, removed or forgotten.",
        {"person": TEXT, "change": TEXT},
    ),
    E.SECOND_FACTOR_GUESSED: _describe(
        "Wrong codes were typed in the name of somebody who decides for the golem: five, or nine and more, in a row.",
        {"person": TEXT, "count": INTEGER},
    ),
    E.ACCOUNT_STOPPED: _describe(
        "The account of somebody with a part in the golem was deactivated, and what was theirs is stopped.",
        {"person": TEXT, "outcome": TEXT},
    ),
    E.ACCOUNT_BACK: _describe(
        "The account of somebody with a part in the golem is active again; nothing was started with it.",
        {"person": TEXT, "outcome": TEXT},
    ),
    E.HALT_STARTED: _describe("The golem was halted.", {"reason": TEXT}, epoch=INTEGER, actor=TEXT),
    E.HALT_COMPLETED: _describe(
        "Every step of the halt is done.", {"epoch": INTEGER, "steps": INTEGER}, duration_ms=INTEGER, lost_races=INTEGER
    ),
    E.HALT_RESUMED: _describe("An owner let the golem act again.", {"reason": TEXT}, epoch=INTEGER),
    E.DEATH_INITIATED: _describe(
        "The golem's end is announced; until `due_at` nothing happens and an owner may stop it.",
        {"reason": TEXT, "due_at": TIME},
    ),
    E.DEATH_STOPPED: _describe("An owner stopped the golem's end.", {"reason": TEXT}),
    E.DEATH_COMPLETED: _describe(
        "Everything was taken out, its memory is exported and it is retired.", {"reason": TEXT, "export_file": TEXT}
    ),
    E.REQUEST_OPENED: _describe(
        "A permit asked a protocol for what finishes later; it is followed from here on.", _PENDING, **_PENDING_MORE
    ),
    E.REQUEST_READY: _describe("It can be claimed now.", _PENDING, **_PENDING_MORE),
    E.REQUEST_DONE: _describe("A claim of the golem brought it home.", _PENDING, **_PENDING_MORE),
    E.REQUEST_STUCK: _describe(
        "It is over its time, or no step gets it out; an owner has to look.", _PENDING, **_PENDING_MORE
    ),
    E.REQUEST_TAKEN: _describe(
        "Somebody else claimed a part of it for themselves; `reason` says how much, and the rest goes on.",
        _PENDING,
        **_PENDING_MORE,
    ),
    E.REQUEST_LOST: _describe(
        "It is gone, and no claim of the golem took it: somebody else did, or has it.", _PENDING, **_PENDING_MORE
    ),
    E.REQUEST_EXECUTED: _describe(
        "Somebody carried a standing order out; `successor` is the position that it became.", _PENDING, **_PENDING_MORE
    ),
    E.REQUEST_CANCELLED: _describe(
        "A standing order was cancelled; `came` is what came back of it.", _PENDING, **_PENDING_MORE
    ),
    E.REQUEST_EXPIRED: _describe(
        "The time of a standing order is over; `came` is what came back of it.", _PENDING, **_PENDING_MORE
    ),
    E.PROMISE_SIGNED: _describe(
        "A permit signed a promise; until it ends somebody may carry it out any moment.", _PROMISE
    ),
    E.PROMISE_FILLED: _describe("Somebody carried it out: what it gave is gone, and what it asked for came.", _PROMISE),
    E.PROMISE_CANCELLED: _describe("Its contract takes it no longer; what it reserved is free.", _PROMISE),
    E.PROMISE_EXPIRED: _describe("Its time is over and nobody took it; what it reserved is free.", _PROMISE),
    E.RIGHT_WITHDRAWN: _describe(
        "A principal took a right over their money back; permits on it are refused at their commit.", _RIGHT
    ),
    E.RIGHT_RESTORED: _describe("A right that was seen to be withdrawn stands again.", _RIGHT),
    E.RIGHT_ENDED: _describe("The time of a right over somebody's money is over.", _RIGHT),
    E.CHAIN_STOPPED: _describe(
        "The golem's chain cannot be used: its node serves another one. `clears` says what ends that.",
        {"chain_id": INTEGER, "code": TEXT, "reason": TEXT, "clears": TEXT},
        name=TEXT,
    ),
    E.CHAIN_RESUMED: _describe("The golem's chain can be used again.", {"chain_id": INTEGER}, name=TEXT),
    E.CHAIN_ROLLED_BACK: _describe(
        "The chain lost blocks that had been final; what was in them is sent again and judged anew.",
        {"chain_id": INTEGER, "from_block": INTEGER, "transactions": INTEGER, "permit_ids": TEXTS},
    ),
    E.SAFE_CHANGED: _describe(
        "Something of the Safe that the golem acts through became weaker, such as a module or a guard that no rule "
        "bounds; what it is stands in the audit log. `contract` is its cage, or the Safe itself where it has none.",
        {"account": HEX, "contract": HEX, "count": INTEGER},
    ),
    E.SAFE_OPEN: _describe(
        "Anybody can act for a Safe of the golem through its fallback handler, or could after one more step. Its "
        "heartbeat rehearses, and its owners are asked to sign what closes it.",
        {"account": HEX, "is_open": FLAG, "danger": TEXT},
    ),
    E.SIGNER_DELEGATED: _describe(
        "The account of one of the golem's keys runs the code of `contract` on that chain (EIP-7702), which may do "
        "anything with what it holds; such a key's own account signs nothing.",
        {"account": HEX, "contract": HEX, "chain_id": INTEGER},
    ),
    E.CHAT_TURN: _describe(
        "An owner's conversation with the golem went a step further. Nothing of it takes effect, and what was said is "
        "on its page alone.",
        {"turn_id": UUID, "state": TEXT, "step": TEXT},
        tool_name=TEXT,
        code=TEXT,
        permit_id=UUID,
        spent_micro_usd=AMOUNT,
    ),
    E.WASM_START: _describe(
        "A sandboxed module starts.",
        {"module": TEXT},
        tool_name=TEXT,
        module_hash=TEXT,
        params_hash=HEX,
        call_id=UUID,
        version=TEXT,
        fuel_limit=INTEGER,
    ),
    E.WASM_COMPLETE: _describe(
        "A sandboxed module ended.",
        {"module": TEXT, "success": FLAG},
        tool_name=TEXT,
        module_hash=TEXT,
        duration_ms=INTEGER,
        fuel_used=INTEGER,
        memory_bytes=INTEGER,
        error_code=TEXT,
        action_requests=INTEGER,
        call_id=UUID,
        version=TEXT,
    ),
    E.STREAM_SUBSCRIBED: _describe(
        "A streaming tool opened a subscription.",
        {**_SUBSCRIPTION, "kind": TEXT, "expires_at": TIME},
        target=TEXT,
        interval_ms=INTEGER,
    ),
    E.STREAM_ENDED: _describe(
        "A subscription ended: unsubscribed, expired, or failed too often.",
        {**_SUBSCRIPTION, "kind": TEXT, "reason": TEXT},
    ),
    E.STREAM_FAILED: _describe(
        "A subscription could not be served; it is tried again. `skipped_from_block` and `skipped_to_block` name "
        "blocks that were given up, `skipped_pools` how many of one block's new pools are not told and "
        "`skipped_events` how many of its trades or of its pool's events.",
        {**_SUBSCRIPTION, "kind": TEXT, "error_code": TEXT},
        failures=INTEGER,
        skipped_pools=INTEGER,
        skipped_events=INTEGER,
        skipped_from_block=INTEGER,
        skipped_to_block=INTEGER,
    ),
    E.STREAM_WEBHOOK_DISABLED: _describe(
        "A webhook failed for 24 hours, or its receiver is gone, and was switched off.",
        {"endpoint_id": UUID, "label": TEXT, "reason": TEXT},
    ),
    E.A2A_TASK: _describe(
        "A task that another agent asked for over A2A is in another state.",
        {"task_id": UUID, "skill": TEXT, "state": TEXT, "task_version": INTEGER},
    ),
    E.POOL_CREATED: _describe(
        "A pool of a market was made. Its tokens' symbols are a stranger's text unless `is_registered`. `hook` is the "
        "contract of its hook and `hook_powers` what that could do. `is_removed` says that a reorganisation took the "
        "block of an earlier event away.",
        {**_SUBSCRIPTION, **_LOG, "pool_address": HEX, "venue": TEXT, "fee_pips": INTEGER},
        token0=OBJECT,
        token1=OBJECT,
        manager=HEX,
        hook=HEX,
        hook_powers=TEXTS,
        is_removed=FLAG,
    ),
    E.POOL_EVENT: _describe(
        "A swap, mint, burn or collect of a pool. Amounts in base units, positive into the pool. `is_removed` says "
        "that a reorganisation took the block of an earlier event away.",
        {**_SUBSCRIPTION, **_LOG, "pool_address": HEX, "event": TEXT},
        is_removed=FLAG,
        sender=HEX,
        recipient=HEX,
        owner=HEX,
        tick_lower=INTEGER,
        tick_upper=INTEGER,
        **_AMOUNTS,
        **_POOL_NUMBERS,
    ),
    E.POOL_STATE: _describe(
        "A snapshot of a pool at one block.",
        {**_SUBSCRIPTION, **_BLOCK, "pool_address": HEX},
        **_AMOUNTS,
        **_POOL_NUMBERS,
    ),
    E.POSITION_ALERT: _describe(
        "A watched position left or re-entered its range, or earned more fees than asked. `fees_value_micro_usd` is "
        "null while no feed prices the tokens.",
        {**_SUBSCRIPTION, **_BLOCK, "position_id": TEXT, "alert": TEXT},
        pool_address=HEX,
        pool_tick=INTEGER,
        tick_lower=INTEGER,
        tick_upper=INTEGER,
        fees0=AMOUNT,
        fees0_units=UNITS,
        fees1=AMOUNT,
        fees1_units=UNITS,
        fees_value_micro_usd=AMOUNT,
        threshold_micro_usd=AMOUNT,
        **_AMOUNTS,
    ),
    E.POSITION_SLASHED: _describe(
        "A protocol took from a position for the faults of `keeper`, as the protocol tells how much it left: a loss "
        "that is explained, and a part of the golem's profit or loss by itself. `left_bps` of what was there is left.",
        {
            "position": TEXT,
            "protocol": TEXT,
            "chain_id": INTEGER,
            "block_number": INTEGER,
            "keeper": TEXT,
            "token_address": TEXT,
            "symbol": TEXT,
            "lost": AMOUNT,
            "lost_units": UNITS,
            "lost_micro_usd": AMOUNT,
            "left_bps": INTEGER,
        },
    ),
    E.PRICE_UPDATE: _describe(
        "The price of token_a in token_b, in units of token_b for one token_a.",
        {**_SUBSCRIPTION, **_BLOCK, "token_a": OBJECT, "token_b": OBJECT, "price": UNITS},
        source=TEXT,
        pool_address=HEX,
        fee_pips=INTEGER,
        venue=TEXT,
        previous_price=UNITS,
        change_bps=INTEGER,
    ),
    E.TOKENJAR_UPDATE: _describe(
        "What lies in a jar that anybody may empty for a price, and how often it was emptied since the last look.",
        {
            **_SUBSCRIPTION,
            **_BLOCK,
            "jar_address": HEX,
            "releaser": HEX,
            "nonce": AMOUNT,
            "resource": OBJECT,
            "threshold": AMOUNT,
            "threshold_units": UNITS,
            "balances": OBJECTS,
        },
        releases_since=INTEGER,
    ),
    E.TRADE_EXECUTED: _describe(
        "A trade of the watched wallet is in a block; amounts from its transfers.",
        {**_SUBSCRIPTION, **_LOG, "wallet_address": HEX, "trade_type": TEXT},
        token_in=OBJECT,
        amount_in=AMOUNT,
        amount_in_units=UNITS,
        token_out=OBJECT,
        amount_out=AMOUNT,
        amount_out_units=UNITS,
        pool_address=HEX,
        venue=TEXT,
        is_removed=FLAG,
        permit_id=UUID,
    ),
}

"""One call of an owner's tool: events around it, its history row, and its wishes kept as rows that have no force."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from tools_app.core.errors import GolemError
from tools_app.core.events import EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import DataSink, Tainted, TaintLabel, clean_for
from tools_app.core.transaction_retry import retry_aborted
from tools_app.models.wasm_module import ActionWish, WasmModule, WasmRun
from tools_app.sandbox.compiling import Compiled, compile_module, find_compiled, hash_module
from tools_app.sandbox.definition import Definition
from tools_app.sandbox.errors import ModuleFailed, ModuleRefused
from tools_app.sandbox.limits import CallLimits, limits_of
from tools_app.sandbox.module_call import Ran, run_module
from tools_app.sandbox.plain_values import write_plain, write_without_fractions
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.result import encode_result

RUNS_ARE_KEPT: Final = timedelta(days=30)
WISHES_LIVE: Final = timedelta(minutes=10)
_MOST_WISH_BYTES: Final = 8 * 1024
_LONGEST_WHY: Final = 500
_WORD: Final = re.compile(r"^[a-z][a-z0-9_]{0,63}$")


@dataclass(frozen=True, slots=True)
class Origin:
    """Which definition is called, and whether only to try it."""

    definition_id: UUID
    definition: Definition
    is_dry: bool = False


@dataclass(frozen=True, slots=True)
class _ToldWish:
    """A wish before anything of it is checked."""

    action_type: object = None
    venue: object = ""
    params: object = field(default_factory=dict)
    why: object = ""


@dataclass(frozen=True, slots=True)
class _Wish:
    action_type: str
    venue: str
    params: dict[str, Any]  # Any: a tool's parameters, read by its schema
    why: str


def call_module(
    *,
    ctx: ReadContext,
    origin: Origin,
    params: Mapping[str, object],
) -> JsonObject:
    """The module's answer as data from outside, and what it asks for. Raises what stopped it."""
    definition = origin.definition
    limits = limits_of(definition.budget)
    compiled = _load(definition.members.module)
    call = describe_call(ctx, params)
    params_hash = hash_canonical(_plain_params(params))
    ctx.tell(
        EventType.WASM_START,
        {
            "module": definition.name,
            "tool_name": definition.name,
            "module_hash": compiled.sha256,
            "params_hash": params_hash,
            "fuel_limit": limits.fuel,
        },
    )
    ran = run_module(
        compiled=compiled,
        params=call,
        allowed=definition.capabilities,
        limits=limits,
        ctx=ctx,
        step=lambda name: ctx.step(name) if name in definition.members.steps else None,
    )
    wishes, error = _read_wishes(ran, limits)
    rows = _keep(ctx=ctx, origin=origin, params_hash=params_hash, ran=ran, error=error, wishes=wishes)
    ctx.tell(
        EventType.WASM_COMPLETE,
        {
            "module": definition.name,
            "tool_name": definition.name,
            "module_hash": compiled.sha256,
            "success": error is None,
            "duration_ms": ran.use.milliseconds,
            "fuel_used": ran.use.fuel,
            "action_requests": len(wishes),
            **({"error_code": error.code} if error is not None else {}),
        },
    )
    if error is not None:
        raise error
    told = encode_result(write_without_fractions(_read_data(ran)))
    return {
        "module": definition.name,
        "definition_hash": definition.hash,
        "answer": clean_for(DataSink.MODEL, Tainted(told, TaintLabel.UNTRUSTED_EXTERNAL)),
        "action_requests": [_show_wish(row, origin.is_dry) for row in rows],
        "fuel_used": ran.use.fuel,
    }


def _load(sha256: str | None) -> Compiled:
    found = None if sha256 is None else find_compiled(sha256)
    if found is not None:
        return found
    content = WasmModule.objects.filter(sha256=sha256).values_list("content", flat=True).first()
    if sha256 is None or content is None or hash_module(bytes(content)) != sha256:
        raise ModuleRefused("the stored module is not the one its definition names")
    return compile_module(bytes(content))


def describe_call(ctx: ReadContext, params: Mapping[str, object]) -> dict[str, object]:
    """What a module is told: its parameters, and of its golem what anybody may know. Whole numbers as decimal text."""
    return {
        "parameters": _plain_params(params),
        "golem": {
            "address": ctx.golem.address,
            "home_chain_id": ctx.golem.home_chain_id,
            "base_asset": ctx.golem.base_asset,
        },
    }


def _plain_params(params: Mapping[str, object]) -> dict[str, object]:
    return {name: write_plain(value) for name, value in params.items() if value is not None}


def _read_wishes(ran: Ran, limits: CallLimits) -> tuple[list[_Wish], GolemError | None]:
    if ran.error is not None or ran.answer is None:
        return [], ran.error
    match {"action_requests": [], **ran.answer}:
        case {"action_requests": list(told)} if len(told) <= limits.action_requests:
            try:
                return [_read_wish(each) for each in told], None
            except ModuleFailed as error:
                return [], error
    return [], ModuleFailed(f"action_requests is a list of at most {limits.action_requests} wishes")


def _read_data(ran: Ran) -> object:
    match ran.answer:
        case {"data": data}:
            return data
    return None


def _read_wish(told: object) -> _Wish:
    if not isinstance(told, dict) or not set(told) <= {"action_type", "venue", "params", "why"}:
        raise ModuleFailed("a wish has action_type, venue, params and why, and nothing else")
    asked = read_stored(_ToldWish, told)
    action_type, venue, params, why = asked.action_type, asked.venue, asked.params, asked.why
    if not isinstance(action_type, str) or not _WORD.match(action_type):
        raise ModuleFailed("a wish names its action_type in small letters")
    if not isinstance(venue, str) or (venue and not _WORD.match(venue)):
        raise ModuleFailed("a wish names its venue in small letters, or none")
    if not isinstance(params, dict) or len(json.dumps(params)) > _MOST_WISH_BYTES:
        raise ModuleFailed(f"a wish's params are an object of at most {_MOST_WISH_BYTES} bytes")
    if set(params) & {"action_type", "venue", "why", "wish_id", "kind", "type", "params"}:
        raise ModuleFailed("a wish's params hold parameters of the action alone")
    if not isinstance(why, str) or len(why) > _LONGEST_WHY:
        raise ModuleFailed(f"a wish says why in at most {_LONGEST_WHY} characters")
    return _Wish(action_type, venue, params, why)


@retry_aborted
def _keep(
    *,
    ctx: ReadContext,
    origin: Origin,
    params_hash: str,
    ran: Ran,
    error: GolemError | None,
    wishes: list[_Wish],
) -> list[ActionWish]:
    """The history row with its wishes, as one; wishes of a trial are made and not stored."""
    run = WasmRun(
        id=uuid.uuid4(),
        golem_id=ctx.golem.id,
        definition_id=origin.definition_id,
        params_hash=params_hash,
        started_at=ctx.now,
        duration_ms=ran.use.milliseconds,
        fuel_used=ran.use.fuel,
        host_calls=dict(ran.use.host_calls),
        lines=list(ran.use.lines),
        error_code=error.code if error is not None else "",
        error_detail=error.detail[:500] if error is not None else "",
        is_dry=origin.is_dry,
    )
    rows = [
        ActionWish(
            golem_id=ctx.golem.id,
            run=run,
            definition_id=origin.definition_id,
            action_type=wish.action_type,
            venue=wish.venue,
            params=wish.params,
            why=wish.why,
            created_at=ctx.now,
            expires_at=ctx.now + WISHES_LIVE,
        )
        for wish in wishes
    ]
    with transaction.atomic():
        WasmRun.objects.filter(golem_id=ctx.golem.id, started_at__lt=ctx.now - RUNS_ARE_KEPT).delete()
        run.save(force_insert=True)
        if not origin.is_dry:
            ActionWish.objects.bulk_create(rows)
    return rows


def _show_wish(row: ActionWish, is_dry: bool) -> dict[str, object]:
    told = {
        "action_type": row.action_type,
        "venue": row.venue or None,
        "params": write_without_fractions(row.params),
        "why": {"untrusted": True, "value": row.why},
    }
    return told if is_dry else {"wish_id": str(row.pk), "expires_at": row.expires_at.isoformat(), **told}

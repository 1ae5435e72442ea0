"""One call of a module: a fresh store, its limits, the host functions it may use, and an answer read as data.

Nothing is kept between two calls but the compiled code. Whatever stops the module is told with its own code; the words
of the engine about it stay in the log.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from wasmtime import Store, WasmtimeError
from wasmtime.component import Linker, Variant

from tools_app.core import clock
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.clock import Deadline
from tools_app.core.errors import BudgetExceeded, GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain, make_plain_value
from tools_app.sandbox.compiling import Compiled
from tools_app.sandbox.engine import EPOCH_MS, engine_here
from tools_app.sandbox.errors import ModuleFailed, ModuleLimit, ModuleRefused
from tools_app.sandbox.host_functions import link_host
from tools_app.sandbox.interface import RUN, HostFunction
from tools_app.sandbox.limits import CallLimits
from tools_app.sandbox.metering import HostMeter, over
from tools_app.toolkit.context import ReadContext

logger = logging.getLogger(__name__)

_LONGEST_REFUSAL: Final = 500
# As wasmtime says it, without a code of its own where a component is called; the tests hold these to its version.
_INTERRUPTED: Final = "wasm trap: interrupt"
_STACK_OVER: Final = "wasm trap: call stack exhausted"
_LIMIT_WORDS: Final = ("exceeds memory limits", "exceeds limit", "count too high", "exceeds table limits")


@dataclass(frozen=True, slots=True)
class Use:
    """What a call used: fuel in wasmtime's units, milliseconds, calls of the host by name, and its log."""

    fuel: int
    milliseconds: int
    host_calls: Mapping[str, int]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a call ended: with what the module answered, as plain JSON values, or with an error; and what it used."""

    answer: JsonObject | None
    error: GolemError | None
    use: Use


def run_module(
    *,
    compiled: Compiled,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    allowed: frozenset[HostFunction],
    limits: CallLimits,
    ctx: ReadContext,
    step: Callable[[str], None] = lambda _: None,
) -> Ran:
    """Run a module once with `params` (JSON-ready) for the golem of `ctx`. Raises nothing a module could cause."""
    here = engine_here()
    started_ms = clock.monotonic_ms()
    deadline = Deadline(min(ctx.deadline.at_ms, started_ms + limits.milliseconds))
    store = Store(here.engine)
    meter = HostMeter(store=store, limits=limits, deadline=deadline)
    answer: dict[str, object] | None = None
    error: GolemError | None = None
    try:
        store.set_fuel(limits.fuel)
        store.set_limits(
            memory_size=limits.memory_bytes,
            memories=limits.memories,
            instances=limits.instances,
            tables=limits.tables,
            table_elements=limits.table_elements,
        )
        with here.clock.ticking():
            store.set_epoch_deadline(max(1, int(deadline.remaining_ms() / EPOCH_MS)))
            answer = _call(store, compiled, params, allowed, meter, ctx, step)
    except GolemError as refusal:
        error = refusal
    except (WasmtimeError, UnicodeError) as stop:
        error = meter.ended_by or _name_stop(stop, meter)
    finally:
        use = Use(
            fuel=limits.fuel - store.get_fuel(),
            milliseconds=int(clock.monotonic_ms() - started_ms),
            host_calls=dict(meter.calls),
            lines=tuple(meter.lines),
        )
        store.close()
    return Ran(answer=answer, error=error, use=use)


def _call(
    store: Store,
    compiled: Compiled,
    params: Mapping[str, object],
    allowed: frozenset[HostFunction],
    meter: HostMeter,
    ctx: ReadContext,
    step: Callable[[str], None],
) -> dict[str, object]:
    if not compiled.imports <= allowed:
        raise ModuleRefused(
            "the module uses more of the host than its definition says",
            undeclared=sorted(map(str, compiled.imports - allowed)),
        )
    linker = Linker(engine_here().engine)
    link_host(linker=linker, allowed=allowed, ctx=ctx, meter=meter, steps=step)
    run = linker.instantiate(store, compiled.component).get_func(store, RUN)
    if run is None:
        raise ModuleRefused("the module exports no run")
    answered: Variant = run(store, json.dumps(params, ensure_ascii=True, sort_keys=True, separators=(",", ":")))
    text = str(answered.payload)
    if answered.tag != "ok":
        raise ModuleFailed(f"the module says: {make_plain(text)[:_LONGEST_REFUSAL]}")
    return _read_answer(text, meter.limits)


def _read_answer(text: str, limits: CallLimits) -> dict[str, object]:
    if len(text) > limits.answer_bytes:
        raise over(ModuleLimit.ANSWER, f"it answered more than {limits.answer_bytes} bytes")
    try:
        answer = read_json(text, most_bytes=limits.answer_bytes)
    except OutsideTextRefused as refusal:
        raise ModuleFailed(f"the module's answer is no JSON that could be read: {refusal}") from None
    if not isinstance(answer, dict) or not set(answer) <= {"data", "action_requests"}:
        raise ModuleFailed("the module's answer is no object of data and action_requests")
    plain: dict[str, object] = make_plain_value(answer)
    return plain


def _name_stop(stop: Exception, meter: HostMeter) -> GolemError:
    """What ended a module that the host did not end; only the last line of the engine's words is the engine's own."""
    words = (str(stop).splitlines() or [""])[-1].strip()
    logger.info("a module stopped: %s", words[:200])
    if meter.store.get_fuel() == 0:
        return over(ModuleLimit.FUEL, f"all {meter.limits.fuel} units of it")
    if meter.deadline.is_over or words == _INTERRUPTED:
        return BudgetExceeded("the module ran until its time was over", budget_ms=meter.limits.milliseconds)
    if words == _STACK_OVER:
        return over(ModuleLimit.STACK, "it called itself too deep")
    if any(word in words for word in _LIMIT_WORDS):
        return over(ModuleLimit.MEMORY, "it asked for more memory, tables or instances than a call has")
    return ModuleFailed("the module stopped in the middle: it trapped")

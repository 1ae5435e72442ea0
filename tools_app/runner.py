"""Runs handlers: parameters validated, budget kept, events emitted, errors typed. Nothing else calls a handler.

A tool has its own budget and never more than is left of the tick it runs in. It is cancelled at its next read of the
chain, whose connection ends by the same deadline, or at its next progress step; one that keeps a checkpoint leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from django.db import OperationalError, transaction

from tools_app.chain.networks import ChainNotSupported
from tools_app.chain.node_errors import RpcTimeout
from tools_app.core import clock, event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import BudgetExceeded, GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.statement_watch import ended_by, was_cancelled
from tools_app.core.transaction_retry import retry_aborted
from tools_app.models.tool_checkpoint import forget_checkpoint, keep_checkpoint, load_checkpoint
from tools_app.standards.erc1155_erc6909_amounts import hold_amounts
from tools_app.standards.one_of_a_kind_tokens import check_items
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ChainReader, Checkpoint, ReadContext, WriteContext
from tools_app.toolkit.golem_chains import check_allowed, find_chosen
from tools_app.toolkit.plan import LocalEffect, TxPlan
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.result import ToolResult, wrap_answer
from tools_app.toolkit.schema import validate_params
from tools_app.toolkit.tooldef import LocalWriteTool, ReadTool, ToolDef, WriteTool
from tools_app.toolkit.views import BlockRef, GolemView

T = TypeVar("T")

_PROGRESS_INTERVAL_MS = 250
_LONGEST_SUMMARY = 300


class OpenReader(Protocol):
    """Opens a reader of one chain, pinned to one block. Raises ChainNotSupported."""

    def __call__(
        self, chain_id: int, *, now: datetime, deadline: Deadline, block: BlockRef | None = None
    ) -> ChainReader: ...


@dataclass(frozen=True, slots=True)
class ToolEnvironment:
    """What wiring hands the runner once per process."""

    open_reader: OpenReader
    services: Mapping[type, object] = field(default_factory=dict)


_environment: ToolEnvironment | None = None
_outer_deadline: ContextVar[Deadline | None] = ContextVar("outer_deadline", default=None)


def configure(environment: ToolEnvironment) -> None:
    """Hand the runner its chain readers and services. Called by wiring at start-up."""
    global _environment
    _environment = environment


@contextmanager
def bounded_by(deadline: Deadline) -> Iterator[None]:
    """Everything run or read inside ends by `deadline`, whatever its own budget is; the tighter of two bounds holds."""
    token = _outer_deadline.set(_within(deadline))
    try:
        yield
    finally:
        _outer_deadline.reset(token)


def run_read(
    *,
    tool: ReadTool,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    golem: GolemView,
    now: datetime,
    recall: Callable[[], ToolResult | None] | None = None,
    on_chain: Callable[[ChainReader], None] | None = None,
) -> ToolResult:
    """Run a read tool and encode its answer. Raises GolemError.

    `recall` may know the answer already; `on_chain` is told of each chain the tool opens, before it reads.
    """
    checked = check_params(tool=tool, params=params)
    readers: list[ChainReader] = []

    def call(ctx: ReadContext) -> ToolResult:
        known = recall() if recall is not None else None
        return known if known is not None else _call_read(tool, ctx, checked)

    def note(reader: ChainReader) -> None:
        readers.append(reader)
        if on_chain is not None:
            on_chain(reader)

    again = _once_more(call, readers)
    return _run(tool=tool, params=checked, golem=golem, now=now, context=ReadContext, call=again, on_chain=note)


def read_ahead(
    *,
    tool: ReadTool,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    golem: GolemView,
    chain_id: int,
    block: BlockRef,
    now: datetime,
) -> ToolResult:
    """Run a read tool at `block` before anybody asked: within its budget and its tick, and without events.

    Raises GolemError.
    """
    if not isinstance(tool, ReadTool):
        raise TypeError(f"{tool!r} is no read; nothing else is done ahead")
    checked = check_params(tool=tool, params=params)
    check_chain(tool=tool, params=checked, golem=golem)
    deadline = _within(Deadline.after_ms(int(tool.tick_budget)))
    ctx = _make_context(
        tool=tool,
        golem=golem,
        now=now,
        context=ReadContext,
        told=_Untold(golem, now),
        checkpoint=Checkpoint({}),
        chain=_get_environment().open_reader(chain_id, now=now, deadline=deadline, block=block),
    )
    return _call_in_time(tool, ctx, lambda context: _call_read(tool, context, checked))


def hash_params(params: Mapping[str, object]) -> str:
    """The name of validated parameters in events, checkpoints and answers read ahead."""
    return hash_canonical({name: str(value) for name, value in params.items()})


def tick_deadline() -> Deadline | None:
    """When the tick this runs in is over; None outside of one."""
    return _outer_deadline.get()


def build_plan(
    *,
    tool: WriteTool,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    golem: GolemView,
    now: datetime,
    chain: ChainReader | None = None,
) -> TxPlan:
    """Ask a write tool for its plan; nothing is sent. `params` are validated already. Raises GolemError.

    With `chain` the tool reads through the caller's reader of that chain, so that plan and judgement see one block.
    What leaves by its number is one of a kind, or its amount is promised, or there is no plan.
    """
    readers: list[ChainReader] = []

    def call(ctx: WriteContext) -> TxPlan:
        plan = tool.build_plan(ctx, dict(params))
        if plan.items:
            check_items(plan.items, ctx.chain(plan.chain_id))
        if plan.amounts:
            plan = hold_amounts(plan, ctx.chain(plan.chain_id), ctx.account)
        return plan

    return _run(
        tool=tool,
        params=params,
        golem=golem,
        now=now,
        context=WriteContext,
        chain=chain,
        on_chain=readers.append,
        call=_once_more(call, readers),
    )


def preview_local(
    *, tool: LocalWriteTool, params: Mapping[str, object], golem: GolemView, now: datetime
) -> LocalEffect:
    """Ask a local write what it would do; nothing is done. Raises GolemError."""
    return _run(
        tool=tool,
        params=params,
        golem=golem,
        now=now,
        context=WriteContext,
        call=lambda ctx: tool.preview(ctx, **params),
    )


def run_local_write(
    *,
    tool: LocalWriteTool,
    params: Mapping[str, object],
    golem: GolemView,
    capability: Capability,
    plan_hash: str,
    begin: Callable[[], None],
    close: Callable[[ToolResult], None],
    now: datetime,
) -> ToolResult:
    """Run a local write with the capability its permit minted; `close` ends the permit. Raises GolemError.

    The capability is used up here, before the tool does anything, for this tool and the plan whose hash was computed
    anew: no tool can forget it, use it twice or tell a plan of its own. Where the effect is in the database alone, all
    are one transaction: a worker that dies leaves none of it. `begin` opens it, with the locks that come before all the
    tool writes.
    """

    def call(ctx: WriteContext) -> ToolResult:
        capability.consume(tool_name=tool.name, plan_hash=plan_hash)
        answer = tool.handler(ctx, capability=capability, **params)
        result = wrap_answer(answer, schema_version=tool.schema_version)
        close(result)
        return result

    @retry_aborted
    def call_in_database(ctx: WriteContext) -> ToolResult:
        with transaction.atomic():
            begin()
            return call(ctx)

    return _run(
        tool=tool,
        params=params,
        golem=golem,
        now=now,
        context=WriteContext,
        call=call_in_database if tool.is_in_database else call,
        budget_ms=tool.write_ms or int(tool.tick_budget),
    )


def check_params(*, tool: ToolDef, params: Mapping[str, object]) -> dict[str, object]:
    """Validated parameters; a null one counts as left out. Raises InvalidParams."""
    return validate_params(tool.params_model, {k: v for k, v in params.items() if v is not None})


def list_services() -> Mapping[type, object]:
    """What wiring handed down, for callers above that make a context themselves."""
    return _get_environment().services


def open_reader(chain_id: int, *, now: datetime, deadline: Deadline, block: BlockRef | None = None) -> ChainReader:
    """A reader pinned to `block` or the head, for callers above that have no context. Raises ChainNotSupported."""
    return _get_environment().open_reader(chain_id, now=now, deadline=_within(deadline), block=block)


def check_chain(*, tool: ToolDef, params: Mapping[str, object], golem: GolemView) -> None:
    """Refuse a chain the tool does not serve, before anything is read, and for what sends one that is none of the
    golem's. Raises ChainNotSupported, ChainNotAllowed.
    """
    chain_id = find_chosen(params, golem)
    if not tool.supports_chain(chain_id):
        raise ChainNotSupported(
            f"{tool.name} does not work on chain {chain_id}",
            chain_id=chain_id,
            supported_chain_ids=sorted(tool.supported_chains or ()),
        )
    if isinstance(tool, WriteTool):
        check_allowed(golem, chain_id)


def _call_read(
    tool: ReadTool,
    ctx: ReadContext,
    checked: Mapping[str, Any],  # Any: a tool's values, of its own types
) -> ToolResult:
    return wrap_answer(tool.handler(ctx, **checked), schema_version=tool.schema_version)


def _run(
    *,
    tool: ToolDef,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    golem: GolemView,
    now: datetime,
    context: type[ReadContext],
    call: Callable[[Any], T],  # Any: a tool's values, of its own types
    chain: ChainReader | None = None,
    on_chain: Callable[[ChainReader], None] | None = None,
    budget_ms: int | None = None,
) -> T:
    check_chain(tool=tool, params=params, golem=golem)
    started_ms = clock.monotonic_ms()
    params_hash = hash_params(params)
    told = _CallEvents(golem, now)
    told.add(
        EventType.TOOL_START,
        tool_name=tool.name,
        params_hash=params_hash,
        sprite_trigger=tool.sprite_trigger.value,
        budget_ms=int(tool.tick_budget),
    )
    place: dict[str, Any]  # Any: arguments of several types
    place = {"golem_id": golem.id, "tool_name": tool.name, "params_hash": params_hash}
    left = load_checkpoint(**place, now=now) if tool.keeps_checkpoint else {}
    ctx = _make_context(
        tool=tool,
        golem=golem,
        now=now,
        context=context,
        told=told,
        chain=chain,
        checkpoint=Checkpoint(left),
        on_chain=on_chain,
        budget_ms=budget_ms,
    )
    try:
        answer = _call_in_time(tool, ctx, call)
    except GolemError as error:
        is_overrun = isinstance(error, BudgetExceeded)
        goes_on = is_overrun and tool.keeps_checkpoint and bool(ctx.checkpoint.kept)
        if is_overrun:
            # What was done of it, and whether the next call of the same goes on from there.
            error.data |= {"steps_done": list(told.reached), "goes_on": goes_on}
        told.add(
            EventType.TOOL_ERROR,
            tool_name=tool.name,
            params_hash=params_hash,
            error_code=error.code,
            error_message=error.detail,
            duration_ms=int(clock.monotonic_ms() - started_ms),
            **(_tell_progress(ctx.checkpoint) if goes_on else {}),
        )
        if goes_on:
            keep_checkpoint(**place, data=ctx.checkpoint.kept, now=now)
        raise
    else:
        if left:
            forget_checkpoint(**place)
        duration_ms = int(clock.monotonic_ms() - started_ms)
        told.add(
            EventType.TOOL_END,
            tool_name=tool.name,
            params_hash=params_hash,
            success=True,
            duration_ms=duration_ms,
            result_summary=_summarise(answer),
        )
    finally:
        told.end()
    return answer


def _once_more(
    call: Callable[[Any], T],  # Any: a tool's values, of its own types
    readers: Sequence[ChainReader],
) -> Callable[[object], T]:
    """`call`, and when what it read fits no state at all, `call` on answers to the same questions asked anew.

    A node that mines while it answers for its newest block may answer from the next one's state. For what only reads.
    """

    def try_twice(ctx: object) -> T:
        try:
            return call(ctx)
        except PositionsUnreadable:
            for reader in readers:
                reader.forget_reads()
            return call(ctx)

    return try_twice


def _call_in_time(
    tool: ToolDef,
    ctx: ReadContext,
    call: Callable[[Any], T],  # Any: a tool's values, of its own types
) -> T:
    """The answer, or BudgetExceeded when the time is over before, during or after the call."""
    _check_time(tool, ctx.deadline)
    try:
        with ended_by(ctx.deadline):
            answer = call(ctx)
    except RpcTimeout as error:
        # The node was given as long as the tool had; that it did not answer by then is an overrun.
        if ctx.deadline.is_over:
            raise _overrun(tool) from error
        raise
    except OperationalError as error:
        # So was the database.
        if ctx.deadline.is_over and was_cancelled(error):
            raise _overrun(tool) from error
        raise
    _check_time(tool, ctx.deadline)
    return answer


def _check_time(tool: ToolDef, deadline: Deadline) -> None:
    if deadline.is_over:
        raise _overrun(tool)


def _overrun(tool: ToolDef) -> BudgetExceeded:
    outer = _outer_deadline.get()
    if outer is not None and outer.is_over:
        return BudgetExceeded(
            f"{tool.name} had only what was left of its tick, and that is over", budget_ms=int(tool.tick_budget)
        )
    return BudgetExceeded(
        f"{tool.name} took longer than its budget of {int(tool.tick_budget)} ms", budget_ms=int(tool.tick_budget)
    )


def _within(deadline: Deadline) -> Deadline:
    outer = _outer_deadline.get()
    return deadline if outer is None or deadline.at_ms <= outer.at_ms else outer


def _summarise(answer: object) -> str:
    """What kind of answer it was, by the names of its fields: their values may be foreign or confidential."""
    if isinstance(answer, TxPlan):
        return f"a plan of {len(answer.calls)} calls"
    data = answer.data if isinstance(answer, ToolResult) else answer
    names = sorted(map(str, data)) if isinstance(data, Mapping) else []
    return f"fields: {', '.join(names)}"[:_LONGEST_SUMMARY] if names else type(answer).__name__


def _tell_progress(checkpoint: Checkpoint) -> dict[str, object]:
    """How far a call came that can go on later: the figures it keeps, for its texts may be a stranger's words."""
    figures = {name: value for name, value in checkpoint.kept.items() if type(value) is int}
    return {"checkpoint": figures} if figures else {}


class _CallEvents:
    """Events of one call, written together: a call of milliseconds costs one statement, a long one shows progress.

    All of them carry the same `call_id`, so that two calls of one tool at once can be told apart.
    """

    def __init__(self, golem: GolemView, now: datetime) -> None:
        self._golem = golem
        self._now = now
        self._call_id = str(uuid4())
        self._events: list[Event] = []
        self.reached: list[str] = []
        self._flushed_ms = clock.monotonic_ms()

    def add(self, kind: EventType, **payload: Any) -> None:  # Any: facts of an event are of any type
        self._events.append(Event(kind, {"call_id": self._call_id, **payload}))
        if clock.monotonic_ms() - self._flushed_ms > _PROGRESS_INTERVAL_MS:
            self.flush()

    def flush(self) -> None:
        if self._events:
            event_bus.emit_all(golem_id=self._golem.id, events=self._events, now=self._now)
        self._events = []
        self._flushed_ms = clock.monotonic_ms()

    def end(self) -> None:
        """The call is over: what is left may wait for what comes of it."""
        if self._events:
            event_bus.hold(golem_id=self._golem.id, events=self._events, now=self._now)
        self._events = []


class _Untold(_CallEvents):
    """A call nobody made has no events."""

    def flush(self) -> None:
        self._events = []

    def end(self) -> None:
        self._events = []


def _make_context(
    *,
    tool: ToolDef,
    golem: GolemView,
    now: datetime,
    context: type[ReadContext],
    told: _CallEvents,
    chain: ChainReader | None,
    checkpoint: Checkpoint,
    on_chain: Callable[[ChainReader], None] | None = None,
    budget_ms: int | None = None,
) -> ReadContext:
    environment = _get_environment()
    deadline = _within(Deadline.after_ms(budget_ms or int(tool.tick_budget)))
    steps = {name: index for index, name in enumerate(tool.progress_steps)}

    @cache
    def open_chain(chain_id: int) -> ChainReader:
        given = chain if chain is not None and chain.chain_id == chain_id else None
        opened = given or environment.open_reader(chain_id, now=now, deadline=deadline)
        if on_chain is not None:
            on_chain(opened)
        return opened

    def report_step(name: str) -> None:
        if name not in steps:
            raise ValueError(f"{tool.name} reports the step {name!r}, which it does not declare")
        _check_time(tool, deadline)
        if name not in told.reached:
            told.reached.append(name)
        told.add(
            EventType.TOOL_UPDATE,
            tool_name=tool.name,
            step_name=name,
            step_index=steps[name],
            total_steps=len(steps),
            **(_tell_progress(checkpoint) if tool.keeps_checkpoint else {}),
        )

    return context(
        golem=golem,
        now=now,
        deadline=deadline,
        open_chain=open_chain,
        report_step=report_step,
        services=environment.services,
        checkpoint=checkpoint,
        tell=lambda kind, payload: told.add(kind, **payload),
    )


def _get_environment() -> ToolEnvironment:
    if _environment is None:
        raise RuntimeError("tools_app.runner was not configured; golem_project.wiring does it at start-up")
    return _environment

"""Reads made before they are asked for: when one read is usually followed by another, both run at once.

Only reads of a chain, at the block of the read that caused them, with the parameters both have in common, by name or by
what they mean, and those that only the answer names (`toolkit/followed_params.py`). The answers
live for the tick, or for a session's seconds outside of one. A failure here leaves the ordinary read. Nothing in this
file can carry a permit or a capability.
"""

from __future__ import annotations

import copy
import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection

from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.models.tool_cooccurrence import load_predictions, record_outcome
from tools_app.toolkit.chained_read_params import FindCalls, list_from_answer, list_from_params
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import Category, PiTool
from tools_app.toolkit.golem_chains import find_chosen
from tools_app.toolkit.result import ToolResult
from tools_app.toolkit.tooldef import ForeignReadTool, ReadTool, ToolDef
from tools_app.toolkit.views import BlockRef, GolemView

logger = logging.getLogger(__name__)

_THREADS: Final = 4
_MOST_AHEAD: Final = 3
_Key = tuple[str, str, str]
_Place = tuple[UUID, int]


@dataclass(frozen=True, slots=True)
class ReadingAgent:
    """Who reads: the golem, its archetype, the tools it has, and whether it acted since a moment."""

    golem: GolemView
    archetype: str
    toolset: Iterable[ToolDef]
    acted_since: Callable[[datetime], bool]
    now: datetime


@dataclass(slots=True)
class _Ahead:
    future: Future[ToolResult]
    is_used: bool = False


@dataclass(slots=True)
class _Session:
    """What was read ahead for one golem on one chain, all at one block."""

    archetype: str
    block: BlockRef
    begun: datetime
    end: Deadline
    reads: dict[_Key, _Ahead] = field(default_factory=dict)


_sessions: dict[_Place, _Session] = {}
_predictions: dict[str, tuple[Deadline, Mapping[str, tuple[str, ...]]]] = {}
_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def is_predictable(tool: ToolDef) -> bool:
    """Whether running it once more than asked leaves no trace and answers the same until the next block.

    Streams write subscriptions, others a checkpoint, an owner's module its history and its wishes; a folder of files
    changes without any block.
    """
    return (
        isinstance(tool, ReadTool)
        and tool.pi_tool is PiTool.QUERY_STATE
        and tool.category not in (Category.STREAMING, Category.CODING)
        and not tool.keeps_checkpoint
        and not isinstance(tool, ForeignReadTool)
    )


def run_read(
    *,
    tool: ReadTool,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    reading: ReadingAgent,
) -> ToolResult:
    """The answer of `tool`, read ahead or now, while what usually follows is read beside it. Raises GolemError.

    Raises TypeError for anything but a read.
    """
    if not isinstance(tool, ReadTool):
        raise TypeError(f"{tool!r} is no read; nothing else is done ahead")
    plain: dict[str, Any]  # Any: arguments of several types
    plain = {"tool": tool, "params": params, "golem": reading.golem, "now": reading.now}
    if not settings.GOLEM_SPECULATION_IS_ON or not is_predictable(tool):
        return runner.run_read(**plain)
    place = (reading.golem.id, find_chosen(runner.check_params(tool=tool, params=params), reading.golem))
    _close_sessions(lambda _, session: session.end.is_over)
    seen: list[ChainReader] = []

    def on_chain(chain: ChainReader) -> None:
        seen.append(chain)
        _read_followers(tool, reading, place, chain, list_from_params(params))

    answer = runner.run_read(**plain, recall=lambda: _recall(tool, params, reading, place), on_chain=on_chain)
    if seen:
        # What only the answer names, such as the tokens of a pool, can be read from here on.
        _read_followers(tool, reading, place, seen[-1], list_from_answer(params, answer.data))
    return answer


def forget_all() -> None:
    """Drop what this process read ahead and knows of habits; the reads nobody used are counted as waste."""
    _close_sessions(lambda *_: True)
    _predictions.clear()


def prefetch(
    *,
    tool: ReadTool,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    golem: GolemView,
    chain_id: int,
    block: BlockRef,
    now: datetime,
) -> Future[ToolResult]:
    """Begin one read in the background; it ends by its budget and by the tick. Raises TypeError for a write."""
    if not isinstance(tool, ReadTool) or not is_predictable(tool):
        raise TypeError(f"{tool!r} is no read that leaves no trace; nothing else is done ahead")

    def call() -> ToolResult:
        try:
            return runner.read_ahead(tool=tool, params=params, golem=golem, chain_id=chain_id, block=block, now=now)
        finally:
            connection.close()

    return _get_pool().submit(copy_context().run, call)


def _recall(
    tool: ReadTool,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    reading: ReadingAgent,
    place: _Place,
) -> ToolResult | None:
    session = _sessions.get(place)
    if session is None:
        return None
    found = session.reads.get(_key(tool, params, session.block))
    if found is None:
        return None
    # What the golem did since may have changed every answer.
    if session.begun > reading.now or reading.acted_since(session.begun):
        _close_sessions(lambda at, _: at == place)
        return None
    try:
        # Half of the budget is left to the read itself.
        error = found.future.exception(timeout=int(tool.tick_budget) / 2_000)
    except (FutureTimeout, CancelledError) as late:
        error = late
    if error is not None:
        logger.info("%s was read ahead in vain: %s", tool.name, type(error).__name__)
        return None
    found.is_used = True
    return copy.deepcopy(found.future.result())


def _read_followers(
    tool: ReadTool, reading: ReadingAgent, place: _Place, chain: ChainReader, find_calls: FindCalls
) -> None:
    names = _predict(reading.archetype).get(tool.name, ())
    if not names or chain.chain_id != place[1]:
        return
    wanted = [each for each in reading.toolset if each.name in names and each.supports_chain(chain.chain_id)]
    calls = [(each, spelled) for each in wanted for spelled in find_calls(each)]
    if not calls:
        return
    block = chain.block
    session = _open_session(place, block, reading)
    for follower, spelled in calls:
        keys = [_key(follower, each, block) for each in spelled]
        if any(key in session.reads for key in keys) or not isinstance(follower, ReadTool):
            continue
        if not is_predictable(follower):
            continue
        try:
            future = prefetch(
                tool=follower,
                params=spelled[0],
                golem=reading.golem,
                chain_id=chain.chain_id,
                block=block,
                now=reading.now,
            )
        except RuntimeError as error:
            logger.info("nothing is read ahead: %s", error)
            return
        ahead = _Ahead(future)
        session.reads.update(dict.fromkeys(keys, ahead))


def _predict(archetype: str) -> Mapping[str, tuple[str, ...]]:
    known = _predictions.get(archetype)
    if known is None or known[0].is_over:
        try:
            found = load_predictions(
                archetype=archetype,
                threshold_bps=settings.GOLEM_SPECULATION_THRESHOLD_BPS,
                enough_runs=settings.GOLEM_SPECULATION_ENOUGH_RUNS,
                most=_MOST_AHEAD,
            )
        except DatabaseError as error:
            logger.warning("habits could not be read: %s", type(error).__name__)
            found = {}
        known = (Deadline.after_ms(settings.GOLEM_SPECULATION_RELOAD_SECONDS * 1_000), found)
        _predictions[archetype] = known
    return known[1]


def _open_session(place: _Place, block: BlockRef, reading: ReadingAgent) -> _Session:
    """The session of this golem at this block; one of another block is over."""
    session = _sessions.get(place)
    if session is not None and session.block.hash == block.hash:
        return session
    _close_sessions(lambda at, _: at == place)
    end = runner.tick_deadline() or Deadline.after_ms(settings.GOLEM_SPECULATION_SESSION_SECONDS * 1_000)
    session = _Session(archetype=reading.archetype, block=block, begun=reading.now, end=end)
    with _lock:
        _sessions[place] = session
    return session


def _close_sessions(is_over: Callable[[_Place, _Session], bool]) -> None:
    """Count what each session that is over used and wasted; too much waste switches its archetype off."""
    with _lock:
        over = [(place, session) for place, session in _sessions.items() if is_over(place, session)]
        for place, _ in over:
            del _sessions[place]
    for _, session in over:
        # One read may be asked for by the symbol or the address of its token.
        each_once = {id(ahead): ahead for ahead in list(session.reads.values())}
        reads = [ahead for ahead in each_once.values() if not ahead.future.cancel()]
        used = sum(ahead.is_used for ahead in reads)
        if not reads:
            continue
        try:
            is_on = record_outcome(
                archetype=session.archetype,
                used=used,
                wasted=len(reads) - used,
                most_waste_bps=settings.GOLEM_SPECULATION_MOST_WASTE_BPS,
                enough_reads=settings.GOLEM_SPECULATION_ENOUGH_RUNS,
            )
        except DatabaseError as error:
            logger.warning("what was read ahead could not be counted: %s", type(error).__name__)
            continue
        if not is_on:
            _predictions.pop(session.archetype, None)


def _key(
    tool: ToolDef,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    block: BlockRef,
) -> _Key:
    return tool.name, runner.hash_params(runner.check_params(tool=tool, params=params)), block.hash


def _get_pool() -> ThreadPoolExecutor:
    # Threads do not survive a fork.
    pid = os.getpid()
    with _lock:
        if pid not in _pools:
            _pools[pid] = ThreadPoolExecutor(_THREADS, thread_name_prefix="speculation")
        return _pools[pid]

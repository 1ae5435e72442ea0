"""Which steps a tool says while it works: what its function says (`ctx.step`, `ctx.begin`), and what it calls."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Final

_NAMES_A_MEMBER: Final = frozenset({"LOAD_METHOD", "LOAD_ATTR"})
_CONTEXT: Final = "ctx"
_SAYING: Final = frozenset({"step", "begin"})


def list_said_steps(function: Callable[..., object]) -> tuple[str, ...]:
    """The steps in the order in which the lines come that say them, each once.

    A function that takes the context says its steps where its caller names it: by itself, as a member of what its
    module names, or of `self`.
    """
    return tuple(dict.fromkeys(_say(inspect.unwrap(function), frozenset())))


def _say(named: object, above: frozenset[CodeType]) -> Iterator[str]:
    function = named.__func__ if isinstance(named, MethodType) else named
    if not isinstance(function, FunctionType) or function.__code__ in above:
        return
    if above and not _can_say(function.__code__):
        return
    owner = named.__self__ if isinstance(named, MethodType) else None
    for _, step, called in sorted(_list_said(function, owner), key=lambda said: said[0]):
        if step:
            yield step
        else:
            yield from _say(called, above | {function.__code__})


def _can_say(code: CodeType) -> bool:
    """Only who is handed the context can say a step."""
    return _CONTEXT in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _list_said(function: FunctionType, owner: object) -> Iterator[tuple[int, str, object]]:
    """The line of each step with its words, and that of whatever else is named with no words and what it is."""
    line, names = 0, function.__globals__
    for this, following in pairwise(_instructions_of(function.__code__)):
        if this.positions is not None:
            line = this.positions.lineno or line
        is_member = following.opname in _NAMES_A_MEMBER
        if this.opname in _NAMES_A_MEMBER and this.argval in _SAYING:
            is_named, is_said = following.opname == "LOAD_GLOBAL", following.opname == "LOAD_CONST"
            words = names.get(following.argval) if is_named else following.argval
            if isinstance(words, str) and (is_named or is_said):
                said_at = following.positions.lineno if following.positions is not None else None
                yield said_at or line, words, None
        elif this.opname == "LOAD_GLOBAL":
            named = names.get(this.argval)
            yield line, "", _find_member(named, str(following.argval)) if is_member else named
        elif this.opname == "LOAD_FAST" and this.argval == "self" and owner is not None and is_member:
            yield line, "", _find_member(owner, str(following.argval))


@cache
def _instructions_of(code: CodeType) -> tuple[dis.Instruction, ...]:
    return tuple(dis.get_instructions(code))


def _find_member(holder: object, name: str) -> object:
    """A function of a module, or a method with its object; nothing is carried out to find it."""
    if isinstance(holder, ModuleType):
        return vars(holder).get(name)
    method = inspect.getattr_static(type(holder), name, None)
    return MethodType(method, holder) if isinstance(method, FunctionType) else None

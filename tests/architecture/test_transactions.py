"""Whoever opens a transaction is repeated whole when the database gives it up for others. Read from the syntax.

A function that opens one is under `@retry_aborted`, or is called by nobody but such functions, or stands in `_WITHOUT`
with the reason. Names that begin with an underscore are looked for in their own module, others everywhere.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.architecture.sources import dotted, list_sources, parse
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool

# Benches and proofs drive the product from outside; what they write themselves is thrown away.
_MEASURING = ("tests/bench/", "tests/proof/")
_WITHOUT = {
    "archetypes_app/admin/toolset_effects.py:_rehearse": "a page saved for a moment and taken back; it is sent again",
    "memory_app/memory_adjustments.py:_ask": "reads, and goes back to its savepoint",
    "memory_app/retrieval.py:retrieve_episodes": "reads under settings of its own, and waits for no lock",
    "tools_app/admin/read_only.py:response_action": "messages of the page are told in it; its person presses it again",
}


@dataclass
class Function:
    """One function: whether it repeats itself, whether it opens a transaction, and what it calls, by name."""

    path: str
    name: str
    is_whole: bool
    is_tool: bool
    opens: bool = False
    calls: set[str] = field(default_factory=set)

    @property
    def place(self) -> str:
        return f"{self.path}:{self.name}"


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    names = (dotted(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list)
    return {name.split(".")[-1] for name in names}


def _is_atomic(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "atomic"


def _read(path: str, node: ast.AST, owner: Function | None, found: list[Function]) -> None:
    for child in ast.iter_child_nodes(node):
        if child in getattr(node, "decorator_list", ()):
            # What a decorator names is not called by what it decorates.
            continue
        inner = owner
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            names = _decorators(child)
            held = owner is not None and owner.is_whole
            inner = Function(path, child.name, held or "retry_aborted" in names, "local_write" in names)
            found.append(inner)
            if owner is not None and not held:
                # Handed on by whoever made it.
                owner.calls.add(child.name)
        if inner is not None:
            if isinstance(child, ast.Call):
                inner.opens |= _is_atomic(child)
                inner.calls.add(dotted(child.func).split(".")[-1])
            elif isinstance(child, ast.Name | ast.Attribute) and isinstance(child.ctx, ast.Load):
                # A function that is handed over counts as called.
                inner.calls.add(dotted(child).split(".")[-1])
        _read(path, child, inner, found)


def list_functions() -> list[Function]:
    found: list[Function] = []
    for path in list_sources():
        if not path.startswith(_MEASURING):
            _read(path, parse(path), None, found)
    return found


def _list_bare(functions: list[Function]) -> Iterator[str]:
    """Every function that opens a transaction which nobody repeats."""
    callers: dict[str, list[Function]] = defaultdict(list)
    for each in functions:
        for name in each.calls:
            callers[name].append(each)

    def is_covered(each: Function, seen: frozenset[str]) -> bool:
        if each.is_whole or each.place in _WITHOUT or each.place in seen:
            return True
        if each.is_tool:
            # The runner holds the transaction of a write that happens in the database alone, and repeats it.
            tool = REGISTRY.get(each.name)
            return isinstance(tool, LocalWriteTool) and tool.is_in_database
        mine = [
            caller
            for caller in callers[each.name]
            if caller is not each and (caller.path == each.path or not each.name.startswith("_"))
        ]
        return bool(mine) and all(is_covered(caller, seen | {each.place}) for caller in mine)

    yield from (each.place for each in functions if each.opens and not is_covered(each, frozenset()))


def test_every_transaction_is_repeated_whole_or_says_why_not() -> None:
    assert "\n".join(sorted(set(_list_bare(list_functions())))) == ""


def test_no_reason_is_left_for_what_is_gone() -> None:
    opening = {each.place for each in list_functions() if each.opens}
    assert not set(_WITHOUT) - opening


def test_a_transaction_that_nobody_repeats_is_found() -> None:
    bare = Function("a.py", "_write", is_whole=False, is_tool=False, opens=True)
    whole = Function("a.py", "ask", is_whole=True, is_tool=False, calls={"_write"})
    other = Function("a.py", "look", is_whole=False, is_tool=False, calls={"_write"})
    assert list(_list_bare([bare])) == ["a.py:_write"]
    assert list(_list_bare([bare, whole])) == []
    assert list(_list_bare([bare, whole, other])) == ["a.py:_write"]

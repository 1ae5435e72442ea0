"""Small changes to a source file, one at a time, made on its syntax tree: what a good test suite notices.

Comparisons, boolean words, arithmetic, numbers, truth values and `not` are changed. Text and annotations are left
alone: nobody decides by them. The order is that of the source, so a number names the same mutant again.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed source. `line` is where, `change` what, for people."""

    line: int
    change: str
    source: str


def list_mutants(source: str) -> list[Mutant]:
    """Every mutant of `source`, in its order."""
    tree = ast.parse(source)
    spots = [node for node in _walk(tree) if _can_change(node)]
    return [_mutate(tree, index) for index in range(len(spots))]


def _mutate(tree: ast.Module, index: int) -> Mutant:
    changed = copy.deepcopy(tree)
    node = [node for node in _walk(changed) if _can_change(node)][index]
    before = ast.unparse(node)
    _change(node)
    ast.fix_missing_locations(changed)
    return Mutant(getattr(node, "lineno", 0), f"{before} -> {ast.unparse(node)}", ast.unparse(changed))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes in source order, without annotations and without the text of messages."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _can_change(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in _COMPARISONS
    if isinstance(node, ast.BinOp):
        return type(node.op) in _ARITHMETIC
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool | int)
    return isinstance(node, ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _change(node: ast.AST) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = _ARITHMETIC[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else int(node.value) + 1  # type: ignore[arg-type]
    elif isinstance(node, ast.UnaryOp):
        # `not x` -> `not not x`: the same node, the opposite truth.
        node.operand = ast.UnaryOp(ast.Not(), node.operand)

"""Weaves probes into a module; nothing of the product is imported here, or it would be loaded before it is woven."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, Final

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def weave_probes(tree: ast.Module, probes: Mapping[str, Sequence[int]], chooser: str) -> ast.Module:
    """`chooser(number)` at the beginning of each named function, for each of its numbers."""
    for statement in tree.body:
        inner: list[tuple[str, Any]] = [(getattr(statement, "name", ""), statement)]
        if isinstance(statement, ast.ClassDef):
            inner = [(f"{statement.name}.{each.name}", each) for each in statement.body if isinstance(each, _FUNCTIONS)]
        for name, function in inner:
            if isinstance(function, _FUNCTIONS):
                at = int(ast.get_docstring(function, clean=False) is not None)
                function.body[at:at] = [
                    ast.Expr(ast.Call(ast.Name(chooser, ast.Load()), [ast.Constant(number)], []))
                    for number in probes.get(name, ())
                ]
    return ast.fix_missing_locations(tree)

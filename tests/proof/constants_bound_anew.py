"""A constant of a loaded module gets another value, and with it whatever was made of it while modules loaded."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def bind_anew(module: ModuleType, binding: str) -> bool:
    """Give a constant its changed value wherever the same object is known under the same name, and the constants made
    of it theirs. False when more than constants was made of it while modules loaded: a class, a default, a decorator.
    """
    changed = dict(module.__dict__)
    exec(compile(binding, module.__name__, "exec"), changed)
    is_all = True
    for name, before in list(module.__dict__.items()):
        if changed[name] is before or name == "__builtins__":
            continue
        for other in list(sys.modules.values()):
            if getattr(other, "__dict__", {}).get(name, changed) is before:
                other.__dict__[name] = changed[name]
                is_all = all([_bind_followers(other, name), is_all])
    return is_all


def _bind_followers(module: ModuleType, name: str) -> bool:
    path = getattr(module, "__file__", None)
    if path is None:
        return False
    is_all = True
    for statement in ast.parse(Path(path).read_text(encoding="utf-8")).body:
        mentions = any(isinstance(node, ast.Name) and node.id == name for node in _walk_loading(statement))
        if not mentions or name in bound_names(statement):
            continue
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            is_all = bind_anew(module, ast.unparse(statement)) and is_all
        else:
            is_all = False
    return is_all


def bound_names(statement: ast.stmt) -> set[str]:
    """The names that a statement binds."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _walk_loading(node: ast.AST) -> Iterator[ast.AST]:
    """What of a statement runs while its module loads: everything but the bodies of functions."""
    yield node
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk_loading(child)

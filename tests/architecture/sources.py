"""The project's own Python files as text and as syntax trees, for the rules that are checked by reading."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("golem_project", "permits_app", "memory_app", "archetypes_app", "tools_app")


@cache
def list_tracked() -> tuple[str, ...]:
    """Every path git knows and the tree still has, relative to the root."""
    output = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(path for path in output.splitlines() if (ROOT / path).exists())


@cache
def list_sources() -> tuple[str, ...]:
    """The product's own modules: no tests, no migrations, and no example of what an owner brings."""
    return tuple(
        path
        for path in list_tracked()
        if path.endswith(".py")
        and path.split("/")[0] in PACKAGES
        and not any(part in path for part in ("/migrations/", "/sandbox/template/"))
    )


@cache
def parse(path: str) -> ast.Module:
    """The syntax tree of one module."""
    return ast.parse((ROOT / path).read_text(), filename=path)


def walk(*, skip: tuple[str, ...] = ()) -> Iterator[tuple[str, ast.AST]]:
    """Every node of every module whose path starts with none of `skip`."""
    for path in list_sources():
        if not path.startswith(skip):
            for node in ast.walk(parse(path)):
                yield path, node


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an attribute chain, or an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""

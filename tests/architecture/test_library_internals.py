"""Private names of libraries are touched in few files, each with its reason: an upgrade has few places to look at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tests.architecture.sources import list_sources, parse

# Django's options of a model, its row state and managers are documented under these names.
_PUBLIC: Final = frozenset({"_meta", "_state", "_default_manager", "_base_manager"})
# Of named tuples, of the operating system, and of what the file itself makes.
_OURS: Final = frozenset({"_replace", "_make", "_exit", "_as_read", "_get_golem"})
_REASONS: Final = {
    "archetypes_app/admin/catalogue.py": "which models the admin registered, which Django tells by no other name",
    "archetypes_app/admin/toolset_effects.py": "keeps messages of a page that is saved for a moment and taken back",
    "golem_project/embedded/load_and_fork.py": "ends a forked process without running its parent's end",
    "golem_project/oauth/server.py": "the request that Authlib wraps",
    "golem_project/pi/openapi.py": "drf-spectacular's two steps from a serializer to a schema, made strict",
    "golem_project/runtime/pooled_postgresql/base.py": "psycopg's own check of a connection, made rarer",
    "golem_project/runtime/queue_transport.py": "kombu makes a client for each command; here one serves a channel",
    "golem_project/runtime/threaded_handler.py": "Django's synchronous chain in one hop into a thread",
    "golem_project/stream/callers.py": "the request that the REST framework wraps",
    "tools_app/core/database_after_fork.py": "the pools of the parent, which a forked child must not use",
    "tools_app/simulation/pyevm/computation.py": "py-evm's call frame with our loop in the middle",
    "tools_app/simulation/pyevm/interpreter.py": "py-evm's stack, memory and gas, without a call for each",
    "tools_app/simulation/pyevm/transaction.py": "py-evm's error of a frame",
    "tools_app/simulation/trace.py": "py-evm's frames as a tree",
    "tools_app/subsystems/coding/folder_search.py": "the type of re2's patterns, which has no public name",
}


def test_private_names_of_libraries_are_touched_where_a_reason_stands() -> None:
    found = {path for path in list_sources() if any(_find_private(path))}
    assert found == set(_REASONS), found ^ set(_REASONS)


def _find_private(path: str) -> Iterator[str]:
    tree = parse(path)
    own = set(_find_own(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
            continue
        is_ours = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
        if not is_ours and node.attr not in own | _PUBLIC | _OURS:
            yield node.attr


def _find_own(tree: ast.Module) -> Iterator[str]:
    """Names that the file gives: methods, classes, fields, and what it puts onto `self`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            yield node.attr

"""The stored and the built-in delegation graph as nodes of the pure rules, and what a proposal would break."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from django.db import connection

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES, BuiltinArchetype
from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.delegation import Node, check_graph, find_new_violations, find_violations
from archetypes_app.models import Archetype
from archetypes_app.toolset import ArchetypeRule, ProfileRule, read_archetype_rule, resolve_archetype_tools
from tools_app.core.errors import GolemError
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef, WriteTool

CANCELS_ONLY: Final = frozenset({"vault_proxy_cancel"})
"""Transactions that only stop what waits. They are a safety act themselves, so no guardian has to stand before them."""

_GRAPH_LOCK: Final = 0x676F6C65
"""Any number, as long as nothing else of this product takes it."""

_PROFILES: Final = {
    profile.name: ProfileRule(profile.name, profile.categories, profile.is_read_only, profile.is_conservative)
    for profile in BUILTIN_PROFILES
}


def returns_transaction(tool: ToolDef) -> bool:
    """Whether the guardian rule looks at this tool: it returns calls to be signed that do more than cancel."""
    return isinstance(tool, WriteTool) and tool.name not in CANCELS_ONLY


def make_node(rule: ArchetypeRule, *, delegates_to: Iterable[str], is_terminal: bool) -> Node:
    """An archetype as the delegation rules see it, its tools resolved over the whole registry."""
    return Node(
        name=rule.name,
        delegates_to=tuple(sorted(delegates_to)),
        is_terminal=is_terminal,
        returns_transactions=any(returns_transaction(tool) for tool in resolve_archetype_tools(rule)),
    )


def read_nodes() -> tuple[Node, ...]:
    """Every stored archetype; four queries, however many there are."""
    rows = Archetype.objects.prefetch_related("profiles", "delegates_to", "tool_overrides").order_by("name")
    return tuple(
        make_node(
            read_archetype_rule(row),
            delegates_to=[delegate.name for delegate in row.delegates_to.all()],
            is_terminal=row.is_terminal_node,
        )
        for row in rows
    )


def lock_graph() -> None:
    """Let one change of the graph be checked and saved at a time, until the transaction ends.

    Two edges that are sound each by itself may close a circle together. Call inside the transaction that saves, before
    the graph is read.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_GRAPH_LOCK])


def find_stored_violations() -> tuple[GolemError, ...]:
    """Every rule the stored graph breaks."""
    return find_violations(read_nodes())


def find_proposal_violations(
    proposed: Sequence[Node], *, replaces: Iterable[str] = (), stored: Sequence[Node] | None = None
) -> tuple[GolemError, ...]:
    """What `proposed` archetypes would newly break; `replaces` are stored names that go (a rename, a deletion).

    Forms call this before they save. `stored` are the nodes as `read_nodes` gives them, read here when left out.
    """
    gone = frozenset(replaces)
    nodes = read_nodes() if stored is None else stored
    if not gone:
        return find_new_violations(nodes, proposed)
    before = {(error.code, error.detail) for error in find_violations(nodes)}
    after = find_violations([*(node for node in nodes if node.name not in gone), *proposed])
    return tuple(error for error in after if (error.code, error.detail) not in before)


def check_proposal(proposed: Sequence[Node], *, replaces: Iterable[str] = ()) -> None:
    """Raise the first rule that `proposed` would newly break: a DelegationError naming the cycle or chain.

    Call inside the transaction that saves; it locks the graph until that ends.
    """
    lock_graph()
    violations = find_proposal_violations(proposed, replaces=replaces)
    if violations:
        raise violations[0]


def make_builtin_rule(builtin: BuiltinArchetype) -> ArchetypeRule:
    """A built-in archetype as the resolution reads it; includes count once their tool is registered."""
    return ArchetypeRule(
        name=builtin.name,
        categories=builtin.tool_categories,
        profiles=tuple(_PROFILES[name] for name in builtin.profiles),
        is_read_only=builtin.is_read_only,
        keeps_local_writes=builtin.keeps_local_writes,
        includes=frozenset(name for name in builtin.includes if name in REGISTRY),
    )


def read_builtin_nodes() -> tuple[Node, ...]:
    """The graph this version ships, without the database."""
    return tuple(
        make_node(make_builtin_rule(builtin), delegates_to=builtin.delegates_to, is_terminal=builtin.is_terminal_node)
        for builtin in BUILTIN_ARCHETYPES
    )


def check_builtin_graph() -> None:
    """Raise what the shipped graph breaks; it breaks nothing, and start-up makes sure."""
    check_graph(read_builtin_nodes())

"""The rules of who may ask whom: acyclic, explicit, at most three hops, terminals last, writers reach the guardian.

Pure: a graph is a list of nodes, an answer is a list of errors that name the cycle or the chain. Depth is counted in
hops (edges). Nothing here recurses, so no graph is too large to be refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from archetypes_app.errors import (
    DelegationCycle,
    DelegationDepthExceeded,
    GuardianNotIndependent,
    GuardianUnreachable,
    MissingDelegationTarget,
    TerminalWithDelegates,
)
from tools_app.core.errors import GolemError

MAX_HOPS: Final = 3
GUARDIAN: Final = "safety-guardian"
WATCHDOG: Final = "vault-watchdog"
"""Stops what golems of its owner announced."""


@dataclass(frozen=True, slots=True)
class Node:
    """One archetype as the rules see it. `returns_transactions`: a tool of it returns calls to be signed."""

    name: str
    delegates_to: tuple[str, ...] = ()
    is_terminal: bool = False
    returns_transactions: bool = False


Graph = Mapping[str, Node]


def make_graph(nodes: Iterable[Node]) -> dict[str, Node]:
    """Nodes by name; of two with one name the later counts, which is how a proposed change replaces a stored row."""
    return {node.name: node for node in nodes}


def find_violations(nodes: Iterable[Node]) -> tuple[GolemError, ...]:
    """Every rule the graph breaks, as the error to raise; empty when it is sound.

    Depth is judged only where there is no cycle, since a cycle has no longest chain.
    """
    graph = make_graph(nodes)
    cycles = find_cycles(graph)
    found: list[GolemError] = [*_missing_targets(graph), *_terminals(graph)]
    found += [
        DelegationCycle(f"these delegate in a circle: {_join((*cycle, cycle[0]))}", cycle=[*cycle, cycle[0]])
        for cycle in cycles
    ]
    if not cycles:
        found += _too_deep(graph)
    return (*found, *_guardian(graph))


def check_graph(nodes: Iterable[Node]) -> None:
    """Raise the first rule the graph breaks; every further one is in its `also`."""
    violations = find_violations(nodes)
    if violations:
        first = violations[0]
        if len(violations) > 1:
            first.data["also"] = [error.detail for error in violations[1:]]
        raise first


def find_cycles(graph: Graph) -> list[tuple[str, ...]]:
    """One cycle for each knot of archetypes that reach each other, each starting at its first name by alphabet."""
    cycles: list[tuple[str, ...]] = []
    for knot in _find_knots(graph):
        start = min(knot)
        path = _find_path(graph, start, start, within=knot)
        if path is not None:
            cycles.append(path)
    return sorted(cycles)


def find_longest_chain(graph: Graph, start: str | None = None) -> tuple[str, ...]:
    """The chain with the most hops, from `start` or from anywhere; among equals the first by alphabet at each step.

    Raises DelegationCycle when there is a cycle.
    """
    hops: dict[str, int] = {}
    below: dict[str, str] = {}
    for name in reversed(_order(graph)):
        following = min(_targets(graph, name), key=lambda target: (-hops[target], target), default=None)
        hops[name] = 0 if following is None else hops[following] + 1
        if following is not None:
            below[name] = following
    name = min(graph, key=lambda each: (-hops[each], each), default="") if start is None else start
    chain = [name] if name in graph else []
    while chain and chain[-1] in below:
        chain.append(below[chain[-1]])
    return tuple(chain)


def compute_levels(graph: Graph) -> dict[str, int]:
    """The row each archetype is drawn on: the most hops from any that nobody delegates to. Raises DelegationCycle."""
    levels = dict.fromkeys(graph, 0)
    for name in _order(graph):
        for target in _targets(graph, name):
            levels[target] = max(levels[target], levels[name] + 1)
    return levels


def list_reachable(graph: Graph, start: str) -> frozenset[str]:
    """Everything `start` can reach by delegation, itself only through a cycle."""
    seen: set[str] = set()
    queue = deque(_targets(graph, start))
    while queue:
        name = queue.popleft()
        if name not in seen:
            seen.add(name)
            queue.extend(_targets(graph, name))
    return frozenset(seen)


def find_new_violations(nodes: Iterable[Node], proposed: Iterable[Node]) -> tuple[GolemError, ...]:
    """What `proposed` nodes break that the graph without them did not: the errors a form shows before it saves."""
    stored = list(nodes)
    before = {(error.code, error.detail) for error in find_violations(stored)}
    return tuple(e for e in find_violations([*stored, *proposed]) if (e.code, e.detail) not in before)


def _missing_targets(graph: Graph) -> list[GolemError]:
    return [
        MissingDelegationTarget(
            f"{node.name!r} delegates to {target!r}, which does not exist", archetype=node.name, target=target
        )
        for node in graph.values()
        for target in dict.fromkeys(node.delegates_to)
        if target not in graph
    ]


def _terminals(graph: Graph) -> list[GolemError]:
    return [
        TerminalWithDelegates(
            f"{node.name!r} is terminal and delegates to {', '.join(node.delegates_to)}",
            archetype=node.name,
            delegates=list(node.delegates_to),
        )
        for node in graph.values()
        if node.is_terminal and node.delegates_to
    ]


def _too_deep(graph: Graph) -> list[GolemError]:
    chain = find_longest_chain(graph)
    hops = len(chain) - 1
    if hops <= MAX_HOPS:
        return []
    return [
        DelegationDepthExceeded(
            f"{_join(chain)} is {hops} hops long; at most {MAX_HOPS} are allowed",
            chain=list(chain),
            depth=hops,
            max_depth=MAX_HOPS,
        )
    ]


def _guardian(graph: Graph) -> list[GolemError]:
    found: list[GolemError] = []
    guardian = graph.get(GUARDIAN)
    if guardian is not None and (guardian.delegates_to or guardian.returns_transactions):
        what = "delegates" if guardian.delegates_to else "tools that return a transaction"
        found.append(GuardianNotIndependent(f"{GUARDIAN} has {what}; it judges and never acts", archetype=GUARDIAN))
    for node in graph.values():
        if node.name == GUARDIAN or not node.returns_transactions:
            continue
        if guardian is None or GUARDIAN not in list_reachable(graph, node.name):
            found.append(
                GuardianUnreachable(
                    f"{node.name!r} has tools that return a transaction and no delegation leads to {GUARDIAN}",
                    archetype=node.name,
                )
            )
    return found


def _targets(graph: Graph, name: str) -> tuple[str, ...]:
    return tuple(target for target in dict.fromkeys(graph[name].delegates_to) if target in graph)


def _order(graph: Graph) -> list[str]:
    """Names so that each comes before whom it delegates to, by counting who is still above."""
    above = dict.fromkeys(graph, 0)
    for name in graph:
        for target in _targets(graph, name):
            above[target] += 1
    ready = deque(sorted(name for name, count in above.items() if not count))
    order: list[str] = []
    while ready:
        name = ready.popleft()
        order.append(name)
        for target in sorted(_targets(graph, name)):
            above[target] -= 1
            if not above[target]:
                ready.append(target)
    if len(order) < len(graph):
        cycle = find_cycles(graph)[0]
        raise DelegationCycle(f"these delegate in a circle: {_join((*cycle, cycle[0]))}", cycle=[*cycle, cycle[0]])
    return order


def _find_knots(graph: Graph) -> list[frozenset[str]]:
    """Strongly connected sets with a cycle in them (Tarjan's algorithm with its own stack)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    knots: list[frozenset[str]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(_targets(graph, root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, targets = work[-1]
            fresh = next((t for t in targets if t not in index or _lower(low, index, on_stack, name, t)), None)
            if fresh is not None:
                index[fresh] = low[fresh] = len(index)
                stack.append(fresh)
                on_stack.add(fresh)
                work.append((fresh, iter(_targets(graph, fresh))))
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == index[name]:
                knot = _pop_knot(stack, on_stack, name)
                if len(knot) > 1 or name in _targets(graph, name):
                    knots.append(knot)
    return knots


def _lower(low: dict[str, int], index: dict[str, int], on_stack: set[str], name: str, seen: str) -> bool:
    """Note an edge to a node already seen; False, so that the caller goes on to the next edge."""
    if seen in on_stack:
        low[name] = min(low[name], index[seen])
    return False


def _pop_knot(stack: list[str], on_stack: set[str], root: str) -> frozenset[str]:
    at = stack.index(root)
    knot = frozenset(stack[at:])
    del stack[at:]
    on_stack -= knot
    return knot


def _find_path(graph: Graph, start: str, end: str, *, within: frozenset[str]) -> tuple[str, ...] | None:
    """The shortest way from `start` to `end` over at least one edge, without repeating `end` at its end."""
    came_from: dict[str, str] = {}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for target in sorted(_targets(graph, name)):
            if target == end:
                path = [name]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return tuple(reversed(path))
            if target in within and target not in came_from and target != start:
                came_from[target] = name
                queue.append(target)
    return None


def _join(names: Iterable[str]) -> str:
    return " → ".join(names)

"""Ten thousand random delegation graphs, judged by the rules and by a naive reading of them that enumerates every path.

The reference shares nothing with the rules but the words: it recurses, walks every path, and is too slow for anything
but small graphs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from archetypes_app.delegation import GUARDIAN, MAX_HOPS, Node, find_violations
from tests.proof.registry import Progress, proof
from tools_app.core.errors import GolemError

GRAPHS = 10_000
GRAPHS_PER_ROUND = 500


@proof(
    id="delegation.graphs",
    what="10,000 random delegation graphs judged like a naive reference judges them",
    rounds=GRAPHS // GRAPHS_PER_ROUND,
)
def prove_delegation(progress: Progress) -> None:
    """Each round judges 500 graphs whose seeds are their numbers; a disagreement is a finding."""
    for number in progress.remaining():
        for seed in range(number * GRAPHS_PER_ROUND, (number + 1) * GRAPHS_PER_ROUND):
            progress.findings += [f"graph {seed}: {found}" for found in compare_with_reference(make_random_graph(seed))]


def make_random_graph(seed: int) -> list[Node]:
    """A graph of up to eight archetypes; about half are free of cycles, some name what does not exist."""
    chance = random.Random(seed)
    names = [f"n{index}" for index in range(chance.randint(0, 7))]
    if chance.random() < 0.8:
        names.append(GUARDIAN)
    chance.shuffle(names)
    is_downward = chance.random() < 0.6
    density = chance.choice((0.1, 0.25, 0.5))
    nodes = []
    for index, name in enumerate(names):
        choices = names[index + 1 :] if is_downward else names
        targets = [target for target in choices if chance.random() < density]
        if chance.random() < 0.03:
            targets.append("ghost")
        nodes.append(
            Node(
                name=name,
                delegates_to=tuple(targets),
                is_terminal=chance.random() < (0.5 if not targets else 0.05),
                returns_transactions=chance.random() < 0.3,
            )
        )
    return nodes


def compare_with_reference(nodes: Sequence[Node]) -> list[str]:
    """Where the rules and the naive reference disagree on `nodes`, in words; empty when they agree."""
    edges = {node.name: [t for t in node.delegates_to if any(t == other.name for other in nodes)] for node in nodes}
    paths = [path for name in edges for path in _walk(edges, [name])]
    on_cycle = {path[0] for path in paths if len(path) > 1 and path[0] == path[-1]}
    found = find_violations(nodes)
    return [
        *_compare_names("missing targets", _reference_missing(nodes), _named(found, "MISSING_DELEGATION_TARGET")),
        *_compare_names(
            "terminals",
            {node.name for node in nodes if node.is_terminal and node.delegates_to},
            _named(found, "TERMINAL_WITH_DELEGATES"),
        ),
        *_compare_names(
            "guardian",
            {n.name for n in nodes if n.name == GUARDIAN and (n.delegates_to or n.returns_transactions)},
            _named(found, "GUARDIAN_NOT_INDEPENDENT"),
        ),
        *_compare_cycles(found, edges, on_cycle),
        *_compare_depth(found, edges, paths, has_cycle=bool(on_cycle)),
        *_compare_names("unguarded", _reference_unguarded(nodes, paths), _named(found, "GUARDIAN_UNREACHABLE")),
    ]


def _walk(edges: dict[str, list[str]], path: list[str]) -> Iterator[list[str]]:
    """Every path from path[0] without a repeated name, but for one that comes back to its start."""
    yield path
    for target in edges[path[-1]]:
        if target == path[0]:
            yield [*path, target]
        elif target not in path:
            yield from _walk(edges, [*path, target])


def _reference_missing(nodes: Sequence[Node]) -> set[str]:
    names = {node.name for node in nodes}
    return {target for node in nodes for target in node.delegates_to if target not in names}


def _reference_unguarded(nodes: Sequence[Node], paths: Sequence[list[str]]) -> set[str]:
    guarded = {path[0] for path in paths if GUARDIAN in path[1:]}
    return {
        node.name for node in nodes if node.returns_transactions and node.name != GUARDIAN and node.name not in guarded
    }


def _compare_cycles(found: Sequence[GolemError], edges: dict[str, list[str]], on_cycle: set[str]) -> list[str]:
    cycles = [error.data["cycle"] for error in found if error.code == "DELEGATION_CYCLE"]
    problems = []
    for cycle in cycles:
        is_real = cycle[0] == cycle[-1] and all(b in edges[a] for a, b in zip(cycle, cycle[1:], strict=False))
        if not is_real:
            problems.append(f"the cycle {cycle} is not in the graph")
    if bool(cycles) != bool(on_cycle):
        problems.append(f"cycles {cycles}, the reference finds {sorted(on_cycle)} on one")
    if not {name for cycle in cycles for name in cycle} <= on_cycle:
        problems.append("a named cycle holds a name that is on none")
    return problems


def _compare_depth(
    found: Sequence[GolemError], edges: dict[str, list[str]], paths: Sequence[list[str]], *, has_cycle: bool
) -> list[str]:
    errors = [error for error in found if error.code == "DELEGATION_DEPTH_EXCEEDED"]
    if has_cycle:
        return ["a depth was judged in spite of a cycle"] if errors else []
    deepest = max((len(path) - 1 for path in paths), default=0)
    if deepest <= MAX_HOPS:
        return ["a depth was refused that is within three hops"] if errors else []
    if len(errors) != 1 or errors[0].data["depth"] != deepest:
        return [f"the depth is {deepest}, told was {[error.data['depth'] for error in errors]}"]
    chain = errors[0].data["chain"]
    is_real = all(b in edges[a] for a, b in zip(chain, chain[1:], strict=False))
    return [] if is_real and len(chain) == deepest + 1 else [f"the chain {chain} is not in the graph"]


def _named(found: Sequence[GolemError], code: str) -> set[str]:
    return {
        error.data["target" if code == "MISSING_DELEGATION_TARGET" else "archetype"]
        for error in found
        if error.code == code
    }


def _compare_names(what: str, expected: set[str], told: set[str]) -> list[str]:
    return [] if expected == told else [f"{what}: {sorted(told)}, the reference says {sorted(expected)}"]

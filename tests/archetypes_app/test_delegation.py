"""The delegation rules: the built-in graph row by row, every way to break one, and random graphs against a naive
reading of the same rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from archetypes_app.delegation import (
    GUARDIAN,
    MAX_HOPS,
    Node,
    check_graph,
    compute_levels,
    find_longest_chain,
    find_new_violations,
    find_violations,
    make_graph,
)
from archetypes_app.errors import DelegationCycle, DelegationDepthExceeded
from archetypes_app.stored_delegation_graph import read_builtin_nodes
from tests.proof.delegation import compare_with_reference, make_random_graph
from tools_app.core.errors import GolemError

BUILTIN = {builtin.name: builtin for builtin in BUILTIN_ARCHETYPES}

HIERARCHY = {
    "golem-instance": {
        "trade-executor",
        "liquidity-manager",
        "vault-manager",
        "vault-strategist",
        "lp-strategist",
        "risk-assessor",
        "memory-consolidator",
    },
    "trade-executor": {"safety-guardian", "risk-assessor"},
    "liquidity-manager": {"safety-guardian", "risk-assessor", "pool-researcher"},
    "cross-chain-executor": {"safety-guardian", "risk-assessor", "trade-executor"},
    "vault-manager": {"safety-guardian", "risk-assessor"},
    "vault-strategist": {"pool-researcher", "risk-assessor"},
}
TERMINALS = (
    "safety-guardian",
    "risk-assessor",
    "wallet-provisioner",
    "pnl-analyst",
    "pool-researcher",
    "token-analyst",
    "identity-verifier",
    "position-monitor",
    "heartbeat-monitor",
    "memory-consolidator",
    "vault-watchdog",
    "sleepwalker-observer",
)
SELF_CONTAINED = ("hook-builder", "integration-architect", "integration-advisor")


@pytest.mark.parametrize("name", HIERARCHY)
def test_the_hierarchy_row_of_the_seed_holds(name: str) -> None:
    assert set(BUILTIN[name].delegates_to) == HIERARCHY[name]


@pytest.mark.parametrize("name", TERMINALS)
def test_the_terminal_row_of_the_seed_holds(name: str) -> None:
    node = make_graph(read_builtin_nodes())[name]
    assert node.is_terminal
    assert node.delegates_to == ()
    assert not node.returns_transactions


def test_there_are_no_other_terminals() -> None:
    assert {builtin.name for builtin in BUILTIN_ARCHETYPES if builtin.is_terminal_node} == set(TERMINALS)


@pytest.mark.parametrize("name", SELF_CONTAINED)
def test_the_self_contained_row_of_the_seed_holds(name: str) -> None:
    assert not BUILTIN[name].is_terminal_node
    assert BUILTIN[name].delegates_to == ()


def test_what_is_shipped_keeps_every_rule_with_the_tools_of_today() -> None:
    assert find_violations(read_builtin_nodes()) == ()


def test_what_is_shipped_keeps_every_rule_whatever_a_category_gains() -> None:
    """Every archetype that is not read-only is taken to return transactions."""
    nodes = [
        Node(each.name, each.delegates_to, each.is_terminal_node, returns_transactions=not each.is_read_only)
        for each in BUILTIN_ARCHETYPES
    ]
    assert find_violations(nodes) == ()


def test_the_longest_chain_of_the_shipped_graph_has_two_hops() -> None:
    assert len(find_longest_chain(make_graph(read_builtin_nodes()))) - 1 == 2


def codes(*nodes: Node) -> list[str]:
    return [error.code for error in find_violations([*nodes, Node(GUARDIAN, is_terminal=True)])]


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_a_cycle_is_named_whatever_its_length(length: int) -> None:
    names = [f"a{index}" for index in range(length)]
    nodes = [Node(name, (names[(index + 1) % length],)) for index, name in enumerate(names)]
    with pytest.raises(DelegationCycle) as refused:
        check_graph(nodes)
    assert refused.value.data["cycle"] == [*names, names[0]]
    assert " → ".join([*names, names[0]]) in refused.value.detail


def chain_of(hops: int) -> list[Node]:
    return [
        *(Node(f"c{index}", (f"c{index + 1}",)) for index in range(hops)),
        Node(f"c{hops}"),
    ]


def test_three_hops_pass_and_four_do_not() -> None:
    assert codes(*chain_of(MAX_HOPS)) == []
    with pytest.raises(DelegationDepthExceeded) as refused:
        check_graph(chain_of(4))
    assert refused.value.data["chain"] == ["c0", "c1", "c2", "c3", "c4"]
    assert (refused.value.data["depth"], refused.value.data["max_depth"]) == (4, 3)


def test_a_terminal_with_a_delegate_is_refused() -> None:
    assert codes(Node("t", ("u",), is_terminal=True), Node("u")) == ["TERMINAL_WITH_DELEGATES"]


def test_a_missing_target_is_refused_by_name() -> None:
    (error,) = find_violations([Node("a", ("ghost",))])
    assert (error.code, error.data) == ("MISSING_DELEGATION_TARGET", {"archetype": "a", "target": "ghost"})


def test_who_acts_must_reach_the_guardian_directly_or_through_others() -> None:
    acting = Node("a", ("b",), returns_transactions=True)
    assert codes(acting, Node("b")) == ["GUARDIAN_UNREACHABLE"]
    assert codes(acting, Node("b", (GUARDIAN,))) == []
    assert [e.code for e in find_violations([Node("a", returns_transactions=True)])] == ["GUARDIAN_UNREACHABLE"]


@pytest.mark.parametrize("guardian", [Node(GUARDIAN, ("a",)), Node(GUARDIAN, returns_transactions=True)])
def test_the_guardian_neither_delegates_nor_acts(guardian: Node) -> None:
    assert [error.code for error in find_violations([guardian, Node("a")])] == ["GUARDIAN_NOT_INDEPENDENT"]


def test_every_violation_is_told_and_not_only_the_first() -> None:
    with pytest.raises(GolemError) as refused:
        check_graph([Node("a", ("a", "ghost"), is_terminal=True)])
    assert refused.value.code == "MISSING_DELEGATION_TARGET"
    assert len(refused.value.data["also"]) == 2


def test_a_proposal_is_blamed_only_for_what_it_breaks() -> None:
    stored = [Node("old", ("ghost",)), Node("a"), Node("b", ("a",))]
    assert [e.code for e in find_new_violations(stored, [Node("a", ("b",))])] == ["DELEGATION_CYCLE"]
    assert find_new_violations(stored, [Node("c", ("b",))]) == ()


def test_levels_are_the_longest_way_from_above() -> None:
    graph = make_graph([Node("a", ("b", "c")), Node("b", ("c",)), Node("c")])
    assert compute_levels(graph) == {"a": 0, "b": 1, "c": 2}


def test_a_chain_of_a_thousand_is_refused_without_recursion() -> None:
    violations = find_violations(chain_of(1_000))
    assert [error.code for error in violations] == ["DELEGATION_DEPTH_EXCEEDED"]
    assert violations[0].data["depth"] == 1_000


def test_ten_thousand_random_graphs_agree_with_the_naive_reference() -> None:
    disagreements = [
        (seed, found) for seed in range(10_000) for found in compare_with_reference(make_random_graph(seed))
    ]
    assert disagreements == []


NAMES = ["safety-guardian", *"abcdef"]


@given(
    st.lists(
        st.builds(
            Node,
            name=st.sampled_from(NAMES),
            delegates_to=st.lists(st.sampled_from([*NAMES, "ghost"]), max_size=4, unique=True).map(tuple),
            is_terminal=st.booleans(),
            returns_transactions=st.booleans(),
        ),
        max_size=7,
        unique_by=lambda node: node.name,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_small_graph_agrees_with_the_naive_reference(nodes: list[Node]) -> None:
    assert compare_with_reference(nodes) == []

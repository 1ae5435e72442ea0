"""From profiles and overrides to the exact set of tools, each with the reason it is in or out."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES, CORE_ARCHETYPES
from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.stored_delegation_graph import make_builtin_rule
from archetypes_app.toolset import (
    ArchetypeRule,
    ProfileRule,
    ToolsetInputs,
    cut_toolset,
    hash_toolset,
    list_warnings,
    resolve_among,
)
from archetypes_app.toolset_diff import diff_toolsets
from tests.archetypes_app.tools import make_catalogue, make_tool
from tools_app.toolkit.enums import Category, Requirement, RiskLayer
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

C = Category
EVERYTHING = make_catalogue()
PROFILES = {each.name: each for each in BUILTIN_PROFILES}
ALL = frozenset(C)
NOBODY = ArchetypeRule("nobody")


def rule(name: str) -> ProfileRule:
    each = PROFILES[name]
    return ProfileRule(each.name, each.categories, each.is_read_only, each.is_conservative)


def resolve(*profiles: ProfileRule, archetype: ArchetypeRule = NOBODY, **changes: object) -> Toolset:
    inputs = replace(ToolsetInputs(archetype, profiles), **changes)  # type: ignore[arg-type]
    return resolve_among(EVERYTHING, inputs, protocols=frozenset({"uniswap", "aave"}))


# What each profile's name promises, written down a second time.
SEED_ROWS = {
    "data": {C.DATA, C.IDENTITY},
    "trader": {C.DATA, C.TRADING, C.SAFETY},
    "lp": {C.DATA, C.TRADING, C.LP, C.SAFETY},
    "vault": {C.DATA, C.VAULT, C.SAFETY},
    "fees": {C.DATA, C.FEES},
    "erc8004": {C.DATA, C.IDENTITY},
    "intelligence": {C.DATA, C.INTELLIGENCE},
    "observatory": {C.DATA, C.INTELLIGENCE, C.IDENTITY, C.MEMORY},
    "learning": {C.DATA, C.INTELLIGENCE, C.MEMORY, C.SELF_IMPROVEMENT},
    "dashboard": {C.DATA, C.INTELLIGENCE},
    "identity": {C.DATA, C.IDENTITY},
    "full": ALL - {C.TESTNET, C.CODING},
    "dev": ALL - {C.CODING},
    "active": {
        C.DATA,
        C.TRADING,
        C.LENDING,
        C.STAKING,
        C.RESTAKING,
        C.DERIVATIVES,
        C.YIELD,
        C.LP,
        C.VAULT,
        C.SAFETY,
        C.INTELLIGENCE,
        C.MEMORY,
        C.IDENTITY,
        C.WALLET,
        C.STREAMING,
        C.BOOTSTRAP,
    },
    "golem": ALL - {C.TESTNET, C.CODING},
    "conservative": {C.DATA, C.TRADING, C.LP, C.SAFETY},
}

DECIDED_ROWS = {
    "data": {C.IDENTITY},
    "trader": {C.TRADING, C.SAFETY, C.STREAMING},
    "lp": {C.TRADING, C.LP, C.SAFETY, C.STREAMING},
    "lender": {C.LENDING, C.SAFETY, C.STREAMING},
    "vault": {C.VAULT, C.SAFETY},
    "vault-curator": {C.VAULT, C.LP, C.TRADING, C.SAFETY, C.INTELLIGENCE, C.STREAMING},
    "fees": {C.FEES},
    "erc8004": {C.IDENTITY},
    "identity": {C.IDENTITY, C.WALLET},
    "intelligence": {C.INTELLIGENCE},
    "dashboard": {C.INTELLIGENCE},
    "observatory": {C.INTELLIGENCE, C.IDENTITY, C.MEMORY, C.STREAMING},
    "learning": {C.INTELLIGENCE, C.MEMORY, C.SELF_IMPROVEMENT},
    "evaluation": {C.SAFETY, C.INTELLIGENCE},
    "minimal": set(),
    "conservative": ALL - {C.CODING, C.TESTNET},
    "active": ALL - {C.CODING, C.TESTNET},
    "golem": ALL - {C.CODING, C.TESTNET},
    "full": ALL - {C.CODING, C.TESTNET},
    "dev": ALL - {C.CODING},
    "development": ALL - {C.CODING},
}


@pytest.mark.parametrize("name", SEED_ROWS)
def test_the_seeds_profile_row_is_a_subset_of_ours(name: str) -> None:
    assert SEED_ROWS[name] <= PROFILES[name].categories


@pytest.mark.parametrize("name", DECIDED_ROWS)
def test_the_profile_is_as_decided(name: str) -> None:
    assert PROFILES[name].categories == DECIDED_ROWS[name] | {C.DATA}


def test_there_are_no_other_profiles_and_two_keep_reads_only() -> None:
    assert set(PROFILES) == set(DECIDED_ROWS)
    assert {name for name, each in PROFILES.items() if each.is_read_only} == {"data", "observatory"}


def test_there_are_36_archetypes_and_five_more_each_once_with_words_of_its_own() -> None:
    assert (len(CORE_ARCHETYPES), len(BUILTIN_ARCHETYPES)) == (36, 41)
    assert len({each.name for each in BUILTIN_ARCHETYPES}) == 41
    for each in BUILTIN_ARCHETYPES:
        assert each.role and each.safety_rules and each.workflow and each.output_format and each.description, each.name
        assert each.tool_categories or each.profiles, each.name
    assert len({each.role for each in BUILTIN_ARCHETYPES}) == 41


@pytest.mark.parametrize(
    ("name", "categories"),
    [
        ("liquidity-manager", {C.DATA, C.TRADING, C.SAFETY, C.LP}),
        ("lending-manager", {C.DATA, C.TRADING, C.SAFETY, C.LENDING}),
        ("lending-monitor", {C.DATA, C.LENDING}),
        ("staking-manager", {C.DATA, C.TRADING, C.SAFETY, C.STAKING, C.RESTAKING}),
        ("derivatives-trader", {C.DATA, C.TRADING, C.SAFETY, C.INTELLIGENCE, C.DERIVATIVES}),
        ("vault-watchdog", {C.DATA, C.VAULT}),
        ("treasury-manager", {C.DATA, C.TRADING, C.IDENTITY, C.SELF_IMPROVEMENT, C.FEES}),
    ],
)
def test_completed_categories_are_as_decided(name: str, categories: set[Category]) -> None:
    assert next(each for each in BUILTIN_ARCHETYPES if each.name == name).tool_categories == categories


@pytest.mark.parametrize(
    ("name", "prefixes", "writes"),
    [
        ("staking-manager", {"lrt", "eigenlayer", "lido", "rocketpool"}, True),
        ("lending-manager", {"moonwell", "compound_v3", "aave", "morpho"}, True),
        ("lending-monitor", {"moonwell", "compound_v3", "aave", "morpho"}, False),
        ("vault-manager", {"vault"}, True),
        ("vault-strategist", {"vault"}, False),
        (
            "golem-instance",
            {"lrt", "eigenlayer", "moonwell", "compound_v3", "pendle", "yearn", "ethena", "vault"},
            True,
        ),
    ],
)
def test_an_archetype_reaches_every_tool_of_the_protocols_that_it_is_for(
    name: str, prefixes: set[str], writes: bool
) -> None:
    each = next(each for each in BUILTIN_ARCHETYPES if each.name == name)
    tools = tuple(tool for tool in REGISTRY if tool.prefix in prefixes)
    assert {tool.prefix for tool in tools} == prefixes
    inputs = ToolsetInputs(make_builtin_rule(each), requirements=frozenset(Requirement))
    reached = set(resolve_among(tools, inputs, protocols=frozenset()).names())
    wanted = {tool.name for tool in tools if writes or tool.capability == "READ"}
    # An alert on a health and the like are categories of their own beside the protocol's.
    assert wanted <= reached, sorted(wanted - reached)
    assert reached == wanted


def test_an_archetype_without_recorded_delegates_asks_both_reviewers() -> None:
    unrecorded = ("opportunity-scanner", "treasury-manager", "market-monitor", "lending-manager", "technical-analyst")
    for name in unrecorded:
        each = next(each for each in BUILTIN_ARCHETYPES if each.name == name)
        assert set(each.delegates_to) == {"safety-guardian", "risk-assessor"}


def test_the_watchdog_keeps_its_cancel_and_the_consolidator_its_local_writes() -> None:
    tools = (*EVERYTHING, make_tool("vault_proxy_cancel", C.VAULT, "write"))
    by_name = {each.name: each for each in BUILTIN_ARCHETYPES}
    watchdog = replace(make_builtin_rule(by_name["vault-watchdog"]), includes=frozenset({"vault_proxy_cancel"}))
    kept = resolve_among(tools, ToolsetInputs(watchdog), protocols=frozenset())
    assert [name for name in kept.names() if not name.endswith("_read")] == ["vault_proxy_cancel"]
    assert by_name["vault-watchdog"].includes == ("vault_proxy_cancel",)
    kept = resolve_among(tools, ToolsetInputs(make_builtin_rule(by_name["memory-consolidator"])), protocols=frozenset())
    assert kept.names() == ("data_local", "data_read", "memory_local", "memory_read")


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_holds_exactly_the_tools_of_its_categories(name: str) -> None:
    profile = PROFILES[name]
    kept = resolve(rule(name))
    for tool in EVERYTHING:
        wanted = tool.category in profile.categories and tool.category is not C.CODING
        if tool.capability != "READ":
            wanted = wanted and not profile.is_read_only
            if profile.is_conservative:
                wanted = wanted and tool.category in {C.TRADING, C.LP, C.VAULT, C.SAFETY}
        assert (tool.name in kept) == wanted, f"{tool.name}: {kept.reasons[tool.name]}"


def test_composites_are_unions_and_nothing_is_in_twice() -> None:
    both = resolve(rule("trader"), rule("vault"))
    assert set(both.names()) == set(resolve(rule("trader")).names()) | set(resolve(rule("vault")).names())
    assert len(list(both)) == len(set(both.names()))
    assert both.reasons["safety_write"] == "profiles trader, vault"


def test_a_read_only_profile_does_not_take_writes_from_the_other_one() -> None:
    assert "memory_write" not in resolve(rule("observatory"))
    assert "memory_write" in resolve(rule("observatory"), rule("learning"))


def test_include_wins_over_the_profile_and_exclude_wins_over_include() -> None:
    name = "lending_write"
    assert name not in resolve(rule("trader"))
    assert name in resolve(rule("trader"), includes=frozenset({name}))
    refused = resolve(rule("trader"), includes=frozenset({name}), excludes=frozenset({name}))
    assert name not in refused
    assert refused.reasons[name] == "excluded by an override of the golem"


@pytest.mark.parametrize("included_by", ["golem", "archetype"])
@pytest.mark.parametrize("excluded_by", ["golem", "archetype"])
def test_an_exclude_wins_wherever_both_come_from(included_by: str, excluded_by: str) -> None:
    name = frozenset({"lending_write"})
    archetype = ArchetypeRule(
        "kind",
        includes=name if included_by == "archetype" else frozenset(),
        excludes=name if excluded_by == "archetype" else frozenset(),
    )
    kept = resolve(
        rule("trader"),
        archetype=archetype,
        includes=name if included_by == "golem" else frozenset(),
        excludes=name if excluded_by == "golem" else frozenset(),
    )
    assert "lending_write" not in kept


def test_a_shell_comes_only_by_name() -> None:
    everything = ProfileRule("everything", ALL)
    assert "coding_write" not in resolve(everything)
    assert resolve(everything).reasons["coding_write"] == "a shell comes only by an owner's own include"
    assert "coding_write" in resolve(everything, includes=frozenset({"coding_write"}))


def test_an_archetypes_read_only_flag_holds_even_when_the_golem_brings_profiles() -> None:
    archetype = ArchetypeRule("watcher", is_read_only=True)
    kept = resolve(rule("full"), archetype=archetype)
    assert not kept.has_writes
    assert kept.reasons["trading_write"] == "the archetype watcher keeps reads only"


def test_a_golems_own_profiles_replace_what_its_archetype_brings() -> None:
    archetype = ArchetypeRule("kind", categories=frozenset({C.LENDING}), profiles=(rule("vault"),))
    assert {"lending_read", "vault_read"} <= set(resolve(archetype=archetype).names())
    assert not {"lending_read", "vault_read"} & set(resolve(rule("trader"), archetype=archetype).names())


def test_conservative_leaves_out_layer_three_and_bridges() -> None:
    tools = (
        make_tool("plain_swap", C.TRADING, "write"),
        make_tool("leveraged_swap", C.TRADING, "write", risk=RiskLayer.UNBOUNDED),
        make_tool("bridge_execute", C.TRADING, "write", venue="bridge"),
        make_tool("aave_supply", C.LENDING, "write"),
        make_tool("aave_rates", C.LENDING),
    )
    kept = resolve_among(tools, ToolsetInputs(NOBODY, (rule("conservative"),)), protocols=frozenset())
    assert set(kept.names()) == {"plain_swap", "aave_rates"}
    assert "is conservative" in kept.reasons["leveraged_swap"]


def test_tools_of_other_protocols_are_never_built() -> None:
    tools = (make_tool("uniswap_a"), make_tool("aave_a", venue="aave"), make_tool("own_a", venue="golem"))
    inputs = ToolsetInputs(NOBODY, (rule("trader"),), allowed_protocols=frozenset({"aave"}))
    kept = resolve_among(tools, inputs, protocols=frozenset({"uniswap", "aave"}))
    assert set(kept.names()) == {"aave_a", "own_a"}
    assert kept.reasons["uniswap_a"] == "its protocol uniswap is not allowed for this golem"


@pytest.mark.parametrize("requirement", Requirement)
def test_a_missing_requirement_drops_its_tools_with_a_warning_that_names_it(requirement: Requirement) -> None:
    tools = (make_tool("needy_a", requires=frozenset({requirement})), make_tool("plain_a"))
    inputs = ToolsetInputs(NOBODY, (rule("trader"),), requirements=frozenset(Requirement) - {requirement})
    kept = resolve_among(tools, inputs, protocols=frozenset())
    assert kept.names() == ("plain_a",)
    assert dict(kept.missing) == {"needy_a": requirement}
    assert list_warnings(kept) == (f"{requirement.value} is not set up, so these tools are left out: needy_a",)


def test_what_no_profile_holds_is_not_missing_anything() -> None:
    tools = (make_tool("needy_a", C.LENDING, requires=frozenset({Requirement.WALLET})),)
    kept = resolve_among(
        tools, ToolsetInputs(NOBODY, (rule("trader"),), requirements=frozenset()), protocols=frozenset()
    )
    assert dict(kept.missing) == {}


def test_a_toolset_cannot_be_changed() -> None:
    kept = resolve(rule("trader"))
    with pytest.raises(FrozenInstanceError):
        kept.tools = {}  # type: ignore[misc]


names = st.frozensets(st.sampled_from([tool.name for tool in EVERYTHING]), max_size=6)


@given(
    profiles=st.lists(st.sampled_from(sorted(PROFILES)), max_size=3, unique=True),
    includes=names,
    excludes=names,
    is_read_only=st.booleans(),
)
def test_every_tool_is_in_or_out_with_a_reason_and_excludes_always_hold(
    profiles: list[str], includes: frozenset[str], excludes: frozenset[str], is_read_only: bool
) -> None:
    kept = resolve(
        *(rule(name) for name in profiles),
        archetype=ArchetypeRule("kind", is_read_only=is_read_only),
        includes=includes,
        excludes=excludes,
    )
    assert set(kept.reasons) == {tool.name for tool in EVERYTHING}
    assert all(kept.reasons.values())
    assert not excludes & set(kept.names())
    assert includes - excludes <= set(kept.names())
    assert hash_toolset(kept) == hash_toolset(kept)


def test_a_delegate_has_its_own_tools_cut_to_the_golems() -> None:
    data = frozenset({C.DATA})
    golem = ToolsetInputs(ArchetypeRule("whole", categories=data | {C.SAFETY}))
    cut = cut_toolset(delegate=ArchetypeRule("other", categories=data | {C.LP}), golem=golem)
    assert {tool.category for tool in cut} == {C.DATA}
    assert all(name in cut.reasons for name in (tool.name for tool in REGISTRY))
    assert "the golem does not have it" in cut.reasons["uniswap_lp_add_liquidity"]


def test_a_diff_names_what_comes_goes_and_changes_its_reason() -> None:
    before, after = resolve(rule("trader")), resolve(rule("trader"), rule("vault"), excludes=frozenset({"data_read"}))
    diff = diff_toolsets(before, after)
    assert [each.name for each in diff.removed] == ["data_read"]
    assert {each.category for each in diff.added} == {"vault"}
    assert ("safety_read", "profile trader", "profiles trader, vault") in [
        (each.name, each.before, each.after) for each in diff.explained
    ]
    assert diff_toolsets(before, before).is_empty

"""Built-in archetypes reach what is known of markets, risks and the golem itself, each as far as it is meant to."""

from __future__ import annotations

from typing import Final

import pytest

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from archetypes_app.golem_setup_facts import list_every_need
from archetypes_app.stored_delegation_graph import make_builtin_rule
from archetypes_app.toolset import ToolsetInputs, resolve_among
from tests.catalogue.known_names import NAMES
from tools_app.toolkit.enums import CapabilityTier, Category
from tools_app.toolkit.registry import REGISTRY

C = Category
KNOWING: Final = frozenset({REGISTRY.get(name).name for name in NAMES})
READS: Final = frozenset({C.INTELLIGENCE, C.SAFETY, C.DATA, C.STREAMING})
_RESEARCH: Final = frozenset({C.DATA, C.INTELLIGENCE})
_ACTS: Final = frozenset({C.DATA, C.SAFETY})

REACHES: Final[dict[str, tuple[frozenset[Category], bool]]] = {
    **dict.fromkeys(("pool-researcher", "token-analyst", "opportunity-scanner"), (_RESEARCH, False)),
    **dict.fromkeys(("portfolio-analyst", "pnl-analyst", "technical-analyst", "vault-strategist"), (_RESEARCH, False)),
    **dict.fromkeys(("lp-strategist", "risk-assessor"), (_RESEARCH | _ACTS, False)),
    **dict.fromkeys(("market-monitor", "position-monitor"), (frozenset({C.DATA, C.STREAMING}), False)),
    **dict.fromkeys(("trade-executor", "cross-chain-executor", "lending-manager", "staking-manager"), (_ACTS, True)),
    **dict.fromkeys(("liquidity-manager", "vault-manager", "vault-creator", "vault-executor"), (_ACTS, True)),
    "safety-guardian": (_ACTS, False),
    "vault-auctioneer": (_RESEARCH, True),
    "derivatives-trader": (_RESEARCH | _ACTS, True),
    "sleepwalker-observer": (_RESEARCH | {C.STREAMING}, False),
    "golem-instance": (READS | {C.LP, C.WALLET}, True),
}
"""What each is for, and whether it changes anything."""
BESIDE: Final[dict[str, set[str]]] = {
    "lp-strategist": {
        "intel_calculate_fee_switch_impact",
        "intel_calculate_il",
        "intel_optimize_range",
        "intel_recommend_fee_tier",
        "intel_simulate_pool_scenario",
    },
    "yield-scout": {"intel_compare_yields", "intel_defilama_get_yields", "lending_compare_rates"},
    "position-monitor": {
        "safety_check_pending_alerts",
        "safety_get_health_alerts",
        "safety_get_liquidation_risks",
    },
}
"""Reads of other categories that an archetype's work is made of."""


def reach(name: str) -> set[str]:
    (archetype,) = (each for each in BUILTIN_ARCHETYPES if each.name == name)
    inputs = ToolsetInputs(make_builtin_rule(archetype), requirements=list_every_need())
    return set(resolve_among(tuple(REGISTRY), inputs, protocols=frozenset()).names())


@pytest.mark.parametrize("name", REACHES)
def test_an_archetype_reaches_every_tool_of_what_is_known_that_it_is_for(name: str) -> None:
    categories, writes = REACHES[name]
    tools = [REGISTRY.get(each) for each in sorted(KNOWING)]
    wanted = {
        tool.name
        for tool in tools
        if tool.category in categories and (writes or tool.capability == CapabilityTier.READ)
    }
    reached = reach(name)
    assert wanted and wanted <= reached, sorted(wanted - reached)
    also = {tool.name for tool in tools if tool.category in READS} & reached - wanted
    assert also <= BESIDE.get(name, set()), f"reached without being meant to: {sorted(also)}"


@pytest.mark.parametrize("name", BESIDE)
def test_an_archetype_reaches_what_its_work_is_made_of_and_it_only_reads(name: str) -> None:
    assert {each for each in BESIDE[name] if each in REGISTRY} == BESIDE[name]
    assert reach(name) >= BESIDE[name]
    assert {REGISTRY.get(each).capability for each in BESIDE[name]} == {CapabilityTier.READ}


def test_every_archetype_for_intelligence_safety_or_streams_stands_here() -> None:
    meant = {C.INTELLIGENCE, C.SAFETY, C.STREAMING}
    named = {
        each.name
        for each in BUILTIN_ARCHETYPES
        if any(bundle.categories & meant for bundle in make_builtin_rule(each).bundles)
    }
    assert named == set(REACHES)


def test_some_archetype_reaches_every_name_of_what_is_known() -> None:
    found = set().union(*(reach(each.name) for each in BUILTIN_ARCHETYPES))
    assert sorted(KNOWING - found) == []

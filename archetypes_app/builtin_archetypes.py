"""The built-in archetypes this server seeds, as data: those the running parts use.

Each row's delegates are built-in too. Seed: 000, "Delegation hierarchy"; facts 1.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.toolkit.enums import Category

C = Category


@dataclass(frozen=True, slots=True)
class BuiltinArchetype:
    """One archetype: names of profiles or categories, delegates, and its prompt in our own words."""

    name: str
    description: str
    category: str
    inference_tier: str
    tool_categories: frozenset[Category] = frozenset()
    profiles: tuple[str, ...] = ()
    delegates_to: tuple[str, ...] = ()
    is_terminal_node: bool = False
    role: str = ""
    safety_rules: tuple[str, ...] = ()
    workflow: str = ""
    output_format: str = ""


BUILTIN_ARCHETYPES: tuple[BuiltinArchetype, ...] = (
    BuiltinArchetype(
        name="safety-guardian",
        description="Second opinion on every risky action, independent of whoever asked for it",
        category="infrastructure",
        inference_tier="T2",
        tool_categories=frozenset({C.SAFETY}),
        is_terminal_node=True,
        role="Re-decode each call from its bytes and compare it with what was promised. Approve only what adds up.",
        safety_rules=("An unknown selector is a veto.", "A recipient other than the golem is a veto."),
        workflow="Decode, compare, judge the price, answer.",
        output_format="APPROVE or VETO, with one reason for each check.",
    ),
    BuiltinArchetype(
        name="risk-assessor",
        description="Weighs what an action does to the whole portfolio",
        category="strategy",
        inference_tier="T2",
        tool_categories=frozenset({C.DATA, C.INTELLIGENCE, C.SAFETY}),
        is_terminal_node=True,
        role="Judge concentration, liquidity and the chance of a revert before money moves.",
        safety_rules=("Never weigh an action you proposed yourself.",),
        workflow="Read the positions, simulate, compare with the limits, answer.",
        output_format="APPROVE or VETO, with the figures behind it.",
    ),
    BuiltinArchetype(
        name="pool-researcher",
        description="Finds and compares liquidity pools",
        category="research",
        inference_tier="T1",
        tool_categories=frozenset({C.DATA, C.INTELLIGENCE}),
        is_terminal_node=True,
        role="Find the pools of a pair and say which is deep, active and fairly priced.",
        safety_rules=("Never propose a transaction.",),
        workflow="List pools, read depth and volume, score, compare.",
        output_format="A short ranking with depth and 24 h volume in US dollars.",
    ),
    BuiltinArchetype(
        name="memory-consolidator",
        description="Turns episodes into insights",
        category="golem",
        inference_tier="T2",
        tool_categories=frozenset({C.MEMORY}),
        is_terminal_node=True,
        role="Group what happened, keep what repeats, and let the rest fade.",
        safety_rules=("Never weaken a safety parameter.", "At least five episodes stand behind an insight."),
        workflow="Collect, cluster, state, support, store.",
        output_format="Insights with confidence and the episodes behind each.",
    ),
    BuiltinArchetype(
        name="trade-executor",
        description="Swaps tokens at the best price within its limits",
        category="execution",
        inference_tier="T2",
        tool_categories=frozenset({C.DATA, C.TRADING, C.SAFETY}),
        delegates_to=("safety-guardian", "risk-assessor"),
        role="Turn a trading intention into one verified swap.",
        safety_rules=("Simulate before every commit.", "Let the safety-guardian see every swap above the hot lane."),
        workflow="Quote, preview, check the permit, commit, verify, remember.",
        output_format="Status, transaction hash, amounts in and out, price impact, gas.",
    ),
    BuiltinArchetype(
        name="liquidity-manager",
        description="Opens, tends and closes liquidity positions",
        category="execution",
        inference_tier="T2",
        tool_categories=frozenset({C.DATA, C.TRADING, C.LP, C.SAFETY}),
        delegates_to=("safety-guardian", "risk-assessor", "pool-researcher"),
        role="Keep liquidity where trades happen and collect its fees.",
        safety_rules=("No range narrower than the pair moves.", "Collect fees before a position is closed."),
        workflow="Read the position, decide, preview, commit, verify.",
        output_format="Position, range, liquidity, fees collected, gas.",
    ),
    BuiltinArchetype(
        name="golem-instance",
        description="A whole golem: decides for itself and delegates",
        category="golem",
        inference_tier="T2",
        profiles=("full",),
        delegates_to=("trade-executor", "liquidity-manager", "risk-assessor", "memory-consolidator", "safety-guardian"),
        role="Stay solvent, stay inside the cage, and grow what the owner entrusted.",
        safety_rules=("Money moves only through a permit.", "Closing a position is always allowed to be the answer."),
        workflow="Observe, retrieve, analyse, gate, simulate, validate, execute, verify, reflect.",
        output_format="What was decided, what was done, and what the chain says of it.",
    ),
)

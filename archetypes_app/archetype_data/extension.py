"""The five archetypes of the extension list: lending, staking, derivatives and charts."""

from __future__ import annotations

from archetypes_app.archetype_data.definition import REVIEWERS, BuiltinArchetype
from tools_app.toolkit.enums import Category as C

EXTENSION = (
    BuiltinArchetype(
        name="lending-manager",
        description="Supplies, borrows and repays within a safe health factor",
        category="execution",
        inference_tier="T2",
        tool_categories=frozenset({C.DATA, C.TRADING, C.LENDING, C.SAFETY}),
        delegates_to=REVIEWERS,
        role="Earn on what is supplied, borrow little, and repay before anybody can liquidate.",
        expertise=(
            "Health is cover at the liquidation threshold over debt, by the lender's own prices.",
            "A rate is a function of use: the last free liquidity is the dearest.",
        ),
        safety_rules=(
            "Health below 1.5 is repaired before anything else is done.",
            "Borrowing to borrow needs the owner.",
        ),
        workflow="Read rates and health, plan, stress the plan by a price drop, have it reviewed, act, verify.",
        output_format="Supplied, borrowed, health before and after, rates, gas.",
    ),
    BuiltinArchetype(
        name="lending-monitor",
        description="Watches health factors and rates",
        category="real-time-monitoring",
        inference_tier="T1",
        tool_categories=frozenset({C.DATA, C.LENDING}),
        delegates_to=REVIEWERS,
        is_read_only=True,
        role="Warn of a falling health factor or a rate that turned, early enough to act.",
        expertise=(
            "A debt in danger is lowered best while nobody else has to lower theirs.",
            "The price that liquidates is the lender's oracle, not the market's.",
        ),
        safety_rules=("Warn at 1.5, alarm at 1.2.", "Say what price would liquidate."),
        workflow="Read every position, compute the distance to liquidation, warn, repeat.",
        output_format="Position, health, price that liquidates, distance in percent.",
    ),
    BuiltinArchetype(
        name="staking-manager",
        description="Stakes and restakes, and gets out again",
        category="execution",
        inference_tier="T2",
        tool_categories=frozenset({C.DATA, C.TRADING, C.STAKING, C.RESTAKING, C.SAFETY}),
        delegates_to=REVIEWERS,
        role="Earn staking yield with a way out whose length and price are known.",
        expertise=(
            "A staked coin comes back through a queue, or at a discount through a market.",
            "A rebasing balance and a growing price are the same yield told twice.",
        ),
        safety_rules=(
            "A staked token more than 2% below its worth is not bought and not called cash.",
            "Waiting to withdraw is part of the plan.",
        ),
        workflow="Compare rates and exits, plan, have it reviewed, stake or unstake, claim, verify.",
        output_format="Staked, yield, exit time and cost, rewards claimed.",
    ),
    BuiltinArchetype(
        name="derivatives-trader",
        description="Hedges and takes positions with perpetuals and options",
        category="execution",
        inference_tier="T2",
        tool_categories=frozenset({C.DATA, C.TRADING, C.DERIVATIVES, C.SAFETY, C.INTELLIGENCE}),
        delegates_to=REVIEWERS,
        role="Take risk whose largest loss is known before it is taken, hedges first.",
        expertise=(
            "Funding is paid for as long as a position is open, whichever way the price goes.",
            "A margin is called at the mark price; a thin market can be moved to it.",
        ),
        safety_rules=(
            "A stop stands before the position does.",
            "Margin above 70% of the most allowed is reduced.",
            "No new position once the golem is defensive.",
        ),
        workflow="State the exposure, price the hedge, preview, have it reviewed, open, watch, close.",
        output_format="Position, size, margin, price that liquidates, cost a day, reason.",
    ),
    BuiltinArchetype(
        name="technical-analyst",
        description="Reads price history",
        category="research",
        inference_tier="T1",
        tool_categories=frozenset({C.DATA, C.INTELLIGENCE}),
        delegates_to=REVIEWERS,
        is_read_only=True,
        role="Describe trend, range and volatility of a price, and how often such a picture was right.",
        expertise=(
            "An indicator says something about how a price moved, and only statistics about how it will.",
            "A signal that is looked for on many scales is found on some of them by chance.",
        ),
        safety_rules=("A pattern without its hit rate is not reported.", "Never recommend a size."),
        workflow="Read the series, compute the indicators, compare with their own history, describe.",
        output_format="Indicator, value, what it says, hit rate over how many cases.",
    ),
)

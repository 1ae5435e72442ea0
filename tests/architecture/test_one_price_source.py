"""What is held has one value: nobody but the portfolio multiplies a price by an amount of a position or a balance.

Whoever puts dollars on something else (what a plan may spend, gas, the depth of a pool) is listed with what it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOKED_AT = ("archetypes_app", "golem_project", "memory_app", "permits_app", "tools_app")
HOME = "tools_app/portfolio/"
ARITHMETIC = "tools_app/core/units.py"
TURN_INTO_DOLLARS = frozenset({"value_in_micro_usd", "net_value_in_micro_usd"})
VALUES_SOMETHING_ELSE = {
    "golem_project/heartbeat/observation.py": "gas and swaps to come, and how much of a token so many dollars are",
    "golem_project/heartbeat/observe_reads.py": "the feeds' ratio of a watched pool",
    "golem_project/heartbeat/strategies/strategy.py": "the price of one whole token, beside the price of a stop",
    "permits_app/approvals/wallet_policy.py": "how much of a token an owner's dollars are",
    "permits_app/execution/actual_cost.py": "what a plan spent, at the prices it was reserved at",
    "permits_app/performance/nav_parts.py": "net asset values that were kept, at the prices kept with them",
    "permits_app/policy_cage/suggested_rules.py": "how much of a token an owner's dollars are",
    "permits_app/reviewers/guardian_limits.py": "what bytes can take",
    "permits_app/reviewers/pool_facts.py": "the depth of a pool",
    "permits_app/reviewers/safety_guardian.py": "what a plan receives, and a pool against the feeds",
    "permits_app/safety/amount_unit_check.py": "what an amount would be worth in whole units",
    "permits_app/tools/safety.py": "allowances that stand",
    "permits_app/tools/wallet.py": "gas",
    "tools_app/subsystems/data/price_tools.py": "how far a feed's answer moved in a day",
    "tools_app/subsystems/intel/indexed_market.py": "the depth of a pool",
    "tools_app/subsystems/intel/pool_snapshot.py": "gas",
    "permits_app/limits/valuation.py": "what a plan spends, and gas",
    "tools_app/chain/reader.py": "the price of a protocol's token, out of its asset's",
    "tools_app/sandbox/host_functions.py": "the price of a token, as a module asks for it",
    "tools_app/standards/retiring_sales.py": "what a sale must bring to be one",
    "tools_app/protocols/lido/tools/sell_earned_yield.py": "the least a sale must bring",
    "tools_app/protocols/maker_sky/tools.py": "a protocol's oracle against the feeds",
    "tools_app/protocols/morpho_blue/plan_checks.py": "a protocol's oracle against the feeds",
    "tools_app/protocols/morpho_blue/tools/liquidating.py": "what a liquidation brings",
    "tools_app/protocols/morpho_blue/tools/reads.py": "what all lend in a market together",
    "tools_app/protocols/uniswap/splitting.py": "what a second way brings more, beside its gas",
    "tools_app/protocols/uniswap/tools/quotes.py": "gas of a quote",
    "tools_app/protocols/uniswap_x/tools.py": "the price at which an auction begins",
}


def list_modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in LOOKED_AT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            where = path.relative_to(ROOT).as_posix()
            if not (where.startswith(HOME) or where == ARITHMETIC or "/migrations/" in where):
                yield where, ast.parse(path.read_text())


def prices_by_itself(tree: ast.AST) -> bool:
    """Whether a feed's answer is multiplied, or the arithmetic of it is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last_name(node.func) in TURN_INTO_DOLLARS:
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv):
            parts = (*ast.walk(node.left), *ast.walk(node.right))
            if any(isinstance(part, ast.Attribute) and part.attr == "answer" for part in parts):
                return True
    return False


def weighs_legs(tree: ast.AST) -> bool:
    """Whether one function that turns amounts into dollars by itself looks at legs or parts of positions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and prices_by_itself(node):
            read = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
            if read & {"legs", "parts", "exposure", "raw_of", "fees0", "fees1"}:
                return True
    return False


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_only_the_portfolio_says_what_is_held_is_worth() -> None:
    found = {where for where, tree in list_modules() if prices_by_itself(tree)}
    assert found - VALUES_SOMETHING_ELSE.keys() == set()
    assert VALUES_SOMETHING_ELSE.keys() - found == set(), "no exception any more"


def test_nobody_who_is_excepted_weighs_a_position() -> None:
    assert [where for where, tree in list_modules() if weighs_legs(tree)] == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(position, price): return sum(leg.raw * price.answer for leg in position.legs)",
        "def f(position, price):\n    return [value_in_micro_usd(raw=each.raw) for each in position.legs]",
        "def f(held, feed): return units.net_value_in_micro_usd(raw=held.fees0, price=feed)",
    ],
)
def test_what_weighs_a_position_by_itself_is_seen(source: str) -> None:
    tree = ast.parse(source)
    assert prices_by_itself(tree) and weighs_legs(tree)


def test_pool_prices_weigh_no_holding() -> None:
    """Prices that pools make are for pools; a trade moves them, so no holding is told by them."""
    users = {
        where
        for where, tree in list_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "tools_app.portfolio.market_prices"
    }
    assert users == {
        "tools_app/subsystems/data/health_tools.py",
        "tools_app/subsystems/data/pool_figures.py",
        "tools_app/subsystems/data/price_tools.py",
        "tools_app/subsystems/data/volume_tools.py",
        "tools_app/subsystems/intel/fee_tools.py",
        "tools_app/subsystems/intel/pool_snapshot.py",
        "tools_app/subsystems/intel/token_risk_score.py",
        "tools_app/subsystems/intel/venue_tools.py",
        "tools_app/subsystems/stream/snapshots.py",
    }

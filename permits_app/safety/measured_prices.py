"""Prices that a debt's health was judged by, read once more in this process from the state of another node.

Where a plan runs on both engines, no single node's word counts for what it does; prices come from single reads. The
feeds' own code, run here on slots, tells the same answer, or somebody lied.
"""

from __future__ import annotations

from permits_app.errors import PricesDisagree
from permits_app.hook_rejection import Reject
from permits_app.safety.position_rules import list_moved
from tools_app.chain.feeds import ANSWER, LATEST_ROUND
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationResult
from tools_app.simulation.select import read_apart
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import Gauge


def judge_prices(*, simulation: SimulationResult, chain: ChainReader, deadline: Deadline) -> Reject | None:
    """A feed of what is owed, or of its cover, answers otherwise here. Debts that do not move are not looked at.

    Raises what the engine raises.
    """
    tokens = {
        leg.token
        for each in list_moved(simulation)
        for position in (each.before, each.after)
        if each.before != each.after and position is not None and each.after is not None and each.after.has_debt
        for leg in position.legs
        if leg.raw < 0 or leg.cover_bps
    }
    if not tokens:
        return None
    metas = [chain.token(token) for token in sorted(tokens)]
    prices = [chain.price(meta) for meta in metas]
    gauges = tuple(
        Gauge(f"the price of {meta.symbol}", price.feed, LATEST_ROUND, (), ANSWER)
        for meta, price in zip(metas, prices, strict=True)
    )
    here = read_apart(chain.chain_id, gauges, block=simulation.block, deadline=deadline)
    for gauge, price, answer in zip(gauges, prices, here, strict=True):
        if price.answer != answer:
            return Reject(
                rule="simulator.prices_disagree",
                reason=f"the node tells {gauge.name} as {price.answer}, and its feed run here answers {answer}",
                observed=str(price.answer),
                limit=str(answer),
                would_pass="the same action once the chain's node tells what the feed answers",
                error=PricesDisagree,
                data={"feed": price.feed},
            )
    return None

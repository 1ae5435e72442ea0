"""Estimates how likely a plan reverts while its permit waits, and vetoes above 5%.

Both reviewers ask: whoever a call must be reviewed by, the rule holds. Measured on the pools the bytes go through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from permits_app.reviewers.pool_facts import PoolOfCalldata, read_prices
from permits_app.reviewers.revert_risk import (
    LOOKBACK_BLOCKS,
    MOST_REVERT_MILLIONTHS,
    count_wait_blocks,
    estimate_revert,
    join_risks,
    measure_tolerance,
)
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan


@dataclass(frozen=True, slots=True)
class RevertChance:
    """A chance in millionths, over how many blocks it was read, and within how many blocks the plan has to land."""

    millionths: int
    blocks: int
    wait_blocks: int
    tolerance_bps: int

    def as_figures(self) -> dict[str, str | int]:
        """JSON-ready, as a review keeps it."""
        return {
            "revert_chance_millionths": str(self.millionths),
            "revert_wait_blocks": self.wait_blocks,
            "tolerance_bps": self.tolerance_bps,
        }


def measure_revert_chance(
    *, plan: TxPlan, chain: ChainReader, pools: Sequence[PoolOfCalldata], permit_ttl_seconds: int
) -> RevertChance:
    """The sum over `pools`: one that fails is enough. Raises what reading the chain raises."""
    head = chain.block
    first = max(0, head.number - LOOKBACK_BLOCKS)
    blocks = head.number - first
    tolerance = measure_tolerance(plan)
    if not pools:
        return RevertChance(0, blocks, 0, tolerance)
    seconds = head.timestamp - chain.block_at(first).timestamp if blocks else 0
    wait = count_wait_blocks(wait_seconds=permit_ttl_seconds, blocks=blocks, seconds=seconds)
    is_exchange = bool(plan.spends and plan.receives)
    risks = [
        estimate_revert(
            prices=read_prices(pool, chain, from_block=first),
            first_block=first,
            last_block=head.number,
            wait_blocks=wait,
            tolerance_bps=tolerance,
            # Who sells token0 is hurt when it falls; a position is hurt by either.
            falls_hurt=pool.sells_token0 or not is_exchange,
            rises_hurt=not pool.sells_token0 or not is_exchange,
        )
        for pool in pools
    ]
    return RevertChance(join_risks(risks), blocks, wait, tolerance)


def judge_revert_chance(chance: RevertChance) -> list[str]:
    """The reason to veto, or none."""
    if chance.millionths <= MOST_REVERT_MILLIONTHS:
        return []
    return [
        f"in {chance.millionths // 10_000}.{chance.millionths % 10_000 // 1_000}% of {chance.blocks} blocks the price"
        f" moved by more than this plan's {chance.tolerance_bps} bps within {chance.wait_blocks} blocks; at most 5% are"
        " accepted"
    ]

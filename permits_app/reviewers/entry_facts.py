"""Reads what is known of the pools of a call and of the golem's debts, for the reviewers.

It speaks against a call or is silent; nothing that is known speaks for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from permits_app.models import HealthAlert
from permits_app.reviewers.pool_facts import PoolOfCalldata, value_pool
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.core.units import BPS
from tools_app.subsystems.intel.entry_doubts import doubt_market
from tools_app.subsystems.intel.indexed_market import read_known_market
from tools_app.toolkit.context import ChainReader

ALERT_LASTS: Final = timedelta(minutes=10)
"""A breach that a tick saw speaks for so long; each tick that still sees it says so anew."""


def judge_known_pools(
    pools: Sequence[PoolOfCalldata], chain: ChainReader, *, size_micro_usd: int | None = None
) -> tuple[list[str], dict[str, object]]:
    """What speaks against these pools now, and what is known of those that are followed, as a review keeps it.

    Without a size the pools are not weighed.
    """
    doubts: list[str] = []
    figures: dict[str, object] = {}
    for each in pools:
        known = read_known_market(chain, each.pool, with_depth=size_micro_usd is not None)
        if known.is_followed:
            figures[f"known_{each.id}"] = known.as_json()
        doubts += [f"pool {each.id}: {doubt.words}" for doubt in doubt_market(known, size_micro_usd=size_micro_usd)]
    return doubts, figures


def note_pools(
    pools: Sequence[PoolOfCalldata], chain: ChainReader, figures: dict[str, object], *, traded: int | None
) -> list[str]:
    """Warnings about the pools; what is known of them, and how large a trade of `traded` micro-USD is, is noted."""
    doubts, known = judge_known_pools(pools, chain)
    figures.update(known)
    if traded is not None:
        figures.update(_measure_trade_size(pools, chain, spent_micro_usd=traded))
    return doubts


def _measure_trade_size(pools: Sequence[PoolOfCalldata], chain: ChainReader, *, spent_micro_usd: int) -> dict[str, int]:
    """Basis points that a trade is of the smallest of its pools, as a review keeps it; nothing without a price."""
    worths = [worth for each in pools if (worth := value_pool(each, chain))]
    return {"trade_of_pool_bps": spent_micro_usd * BPS // min(worths)} if worths else {}


def judge_alerts(golem_id: UUID, *, now: datetime) -> list[str]:
    """The alerts of a golem that a tick found breached a moment ago."""
    rows = HealthAlert.objects.filter(golem_id=golem_id, last_triggered_at__gt=now - ALERT_LASTS).order_by("protocol")
    return [
        f"a debt at {row.protocol} on chain {row.chain_id} was below the {format_ratio(row.min_health_bps)}"
        f" that a health alert asks for, at {row.last_triggered_at:%H:%M:%S} UTC"
        for row in rows
    ]

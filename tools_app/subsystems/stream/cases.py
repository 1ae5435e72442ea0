"""Describes, case by case, what opening a subscription tells on the local chain; what it then streams is no answer of a
read.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import FromReport, ReadCase

_CHAIN: Final = 31_337
_NO_POOL: Final = ({"pool_address": "0x" + "11" * 20}, "POOL_NOT_FOUND")

READS: Final = (
    ReadCase(
        "stream_price_feed",
        {"token_a": "WETH", "token_b": "USDC", "chain_id": _CHAIN},
        {"event": "price:update", "interval_ms": 15_000, "chain_ids": lambda look: [look.chain_id]},
        refuses=(({"token_b": "WETH"}, "POOL_NOT_FOUND"),),
        most_exchanges=6,
    ),
    ReadCase(
        "stream_new_pools",
        {"chain_id": _CHAIN, "token": "USDC"},
        {"event": "pool:created", "interval_ms": 2_000, "chain_ids": lambda look: [look.chain_id]},
    ),
    ReadCase(
        "stream_pool_events",
        {"pool_address": FromReport("pool"), "chain_id": _CHAIN},
        {"event": "pool:event", "interval_ms": 2_000, "chain_ids": lambda look: [look.chain_id]},
        refuses=(_NO_POOL,),
    ),
    ReadCase(
        "stream_pool_state",
        {"pool_address": FromReport("pool"), "chain_id": _CHAIN, "interval_ms": 5_000},
        {"event": "pool:state", "interval_ms": 5_000, "chain_ids": lambda look: [look.chain_id]},
        refuses=(_NO_POOL,),
    ),
    ReadCase(
        "stream_unsubscribe",
        {},
        # It was asked before, so nothing is left to end.
        {"unsubscribed": [], "remaining": []},
        refuses=(({"subscription_ids": ["00000000-0000-4000-8000-000000000000"]}, "SUBSCRIPTION_NOT_FOUND"),),
    ),
    ReadCase(
        "stream_trades",
        {"wallet_address": FromReport("account")},
        {"event": "trade:executed", "interval_ms": 2_000, "chain_ids": lambda look: [look.chain_id]},
        refuses=(({"chain_ids": [999_999]}, "INVALID_PARAMS"),),
    ),
)

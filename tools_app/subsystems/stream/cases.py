"""What opening a subscription tells on the local chain; what it then streams is no answer of a read."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import ReadCase, Told

_CHAIN: Final = 31_337
_ELSEWHERE: Final = ({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED")

READS: Final = (
    ReadCase(
        "stream_price_feed",
        {"token_a": "WETH", "token_b": "USDC", "chain_id": _CHAIN},
        {"event": "price:update", "interval_ms": 15_000, "chain_ids": lambda look: [look.chain_id]},
        refuses=(
            ({"interval_ms": 4_999}, "INVALID_PARAMS"),
            ({"token_b": "WETH"}, "POOL_NOT_FOUND"),
            ({"token_a": "NOTOKEN"}, "TOKEN_NOT_FOUND"),
            _ELSEWHERE,
        ),
        most_exchanges=6,
    ),
    ReadCase(
        "stream_new_pools",
        {"chain_id": _CHAIN, "token": "USDC"},
        {"event": "pool:created", "interval_ms": 2_000, "chain_ids": lambda look: [look.chain_id]},
        refuses=(({"token": "NOTOKEN"}, "TOKEN_NOT_FOUND"), _ELSEWHERE),
    ),
    ReadCase(
        "stream_trades",
        {"wallet_address": Told("account")},
        {"event": "trade:executed", "interval_ms": 2_000, "chain_ids": lambda look: [look.chain_id]},
        refuses=(({"chain_ids": [999_999]}, "INVALID_PARAMS"), ({"wallet_address": "0x12"}, "INVALID_PARAMS")),
    ),
)

"""Describes, case by case, what the tools of the bridge do and tell between the two local chains, where nobody has sent
anything yet.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case, OnlyComes, ReadCase
from tools_app.toolkit.enums import ActionClass

_USDC: Final = 10**6
_HOME, _OTHER = 31_337, 31_338
_SENT: Final = {
    **{"bridge": "across", "token": "USDC", "amount": str(5_000 * _USDC), "source_chain": _HOME},
    **{"dest_chain": _OTHER, "max_fee_bps": 10},
}
_WAY: Final = {"bridge": "across", "token": "USDC", "source_chain": _HOME, "dest_chain": _OTHER}
_REFUSES: Final = (
    ({"source_chain": 999_999}, "CHAIN_NOT_SUPPORTED"),
    ({"dest_chain": 999_999}, "CHAIN_NOT_SUPPORTED"),
    ({"token": "WETH"}, "TOKEN_NOT_BRIDGED"),
)
_OTHERS: Final = (*_REFUSES, ({"bridge": "hop"}, "BRIDGE_NOT_SERVED"))

CASES: Final = (
    Case(
        "bridge_execute",
        _SENT,
        ActionClass.INCREASE_POSITION,
        moves={"USDC": -5_000 * _USDC},
        tells={"bridge_id": "0", "amount_sent": str(5_000 * _USDC), "least_arriving": "4995 USDC"},
        refuses=(
            *_OTHERS,
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
            ({"max_fee_bps": None}, "BRIDGE_FEE_UNKNOWN"),
            ({"dest_chain": _HOME}, "TOKEN_NOT_BRIDGED"),
        ),
        loses_bps=10_000,
    ),
    Case(
        "uniswap_submit_cross_chain_intent",
        {
            **{"token_in": "USDC", "token_out": "USDC", "amount": str(5_000 * _USDC), "source_chain": _HOME},
            **{"destination_chain": _OTHER, "max_fee_bps": 10},
        },
        ActionClass.INCREASE_POSITION,
        moves={"USDC": -5_000 * _USDC},
        tells={"status": "pending", "estimated_output": "4995 USDC", "filler_bids": None},
        refuses=(
            ({"token_out": "DAI"}, "TOKEN_NOT_BRIDGED"),
            ({"destination_chain": 999_999}, "CHAIN_NOT_SUPPORTED"),
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
        ),
        loses_bps=10_000,
    ),
)

TOGETHER: Final = (OnlyComes("no call takes out what is on its way: it comes by itself, or never"),)


READS: Final = (
    ReadCase(
        "bridge_get_quote",
        {**_WAY, "amount": str(5_000 * _USDC)},
        {"amount_in": str(5_000 * _USDC), "amount_out": None, "transfers_seen": 0, "destination_token.symbol": "USDC"},
        refuses=_OTHERS,
        most_exchanges=16,
    ),
    ReadCase(
        "bridge_compare",
        {"token": "USDC", "amount": str(5_000 * _USDC), "source_chain": _HOME, "dest_chain": _OTHER},
        {"routes.#": 3, "routes.0.bridge": "across", "routes.0.rank": None, "recommendation.bridge": None},
        refuses=_REFUSES,
        most_exchanges=16,
    ),
    ReadCase(
        "bridge_get_limits",
        _WAY,
        {"min_amount": None, "max_amount": None, "largest_seen": None, "token.symbol": "USDC"},
        refuses=_OTHERS,
        most_exchanges=16,
    ),
    ReadCase(
        "bridge_estimate_time",
        {"bridge": "across", "source_chain": _HOME, "dest_chain": _OTHER},
        {"p50_time": None, "p90_time": None, "transfers_seen": 0},
        refuses=(({"bridge": "stargate"}, "BRIDGE_NOT_SERVED"), ({"dest_chain": 999_999}, "CHAIN_NOT_SUPPORTED")),
        most_exchanges=16,
    ),
    ReadCase(
        "bridge_get_status",
        {"bridge": "across", "bridge_id": "0", "source_chain": _HOME},
        {
            "status": "pending",
            "amount": str(5_000 * _USDC),
            "arrives": str(4_995 * _USDC),
            "tx_hash_dest": None,
            "destination_chain": _OTHER,
        },
        after=("bridge_execute",),
        refuses=(({"bridge_id": "7"}, "TRANSFER_NOT_FOUND"), ({"bridge": "hop"}, "BRIDGE_NOT_SERVED")),
        most_exchanges=16,
    ),
)

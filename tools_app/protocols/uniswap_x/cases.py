"""What the writes that send something do on the local chain, and what is told of an order that was signed."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case, FromReport, ReadCase
from tools_app.toolkit.enums import ActionClass

CASES: Final = (
    Case(
        "uniswap_approve_uniswapx",
        {"token": "DAI", "amount": str(300 * 10**18)},
        ActionClass.INCREASE_POSITION,
        refuses=(({"amount": str(10**30)}, "INSUFFICIENT_BALANCE"),),
    ),
    Case(
        "uniswap_cancel_uniswapx_order",
        {"nonce": "777"},
        ActionClass.DECREASE_POSITION,
        refuses=(
            ({"nonce": None, "order_hash": "0x" + "11" * 32}, "ORDER_UNKNOWN"),
            ({"nonce": None}, "INVALID_PARAMS"),
        ),
    ),
)

READS: Final = (
    ReadCase(
        "uniswap_get_uniswapx_order_status",
        {"order_hash": FromReport("order_hash")},
        {
            "status": "open",
            "order_type": "Limit",
            "amount_in": str(300 * 10**18),
            "least_amount_out": str(10**17),
            "handed_in": True,
            "note": None,
        },
        after=("uniswap_approve_uniswapx",),
        given=("it signed an order that gives 300 DAI for a tenth of a WETH",),
        refuses=(({"order_hash": "0x" + "11" * 32}, "ORDER_UNKNOWN"),),
    ),
)

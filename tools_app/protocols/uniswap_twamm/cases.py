"""What orders over time do on the local chain, where a WETH is worth 3,000 DAI."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case, FromReport, LeftWhole, ReadCase
from tools_app.toolkit.enums import ActionClass

_WAD: Final = 10**18

CASES: Final = (
    Case(
        "uniswap_lp_submit_twamm_order",
        {"token_in": "DAI", "token_out": "WETH", "amount": str(6_000 * _WAD), "duration": "4h"},
        ActionClass.NEW_POSITION,
        moves={"DAI": -6_000 * _WAD},
        holds={"DAI": 6_000 * _WAD},
        tells={"amount": str(6_000 * _WAD), "least_amount_out": str(2 * _WAD * 99 // 100)},
        refuses=(
            ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE"),
            ({"token_out": "DAI"}, "TWAMM_TERMS_REFUSED"),
            ({"token_in": "ETH"}, "TWAMM_TERMS_REFUSED"),
        ),
    ),
    Case(
        "uniswap_lp_cancel_twamm_order",
        {"order_id": FromReport("order_id")},
        ActionClass.CLOSE_POSITION,
        after=("uniswap_lp_submit_twamm_order",),
        moves={"DAI": 6_000 * _WAD},
        holds={"DAI": -6_000 * _WAD},
        refuses=(({"order_id": "999999"}, "TWAMM_ORDER_UNKNOWN"),),
    ),
)

TOGETHER: Final = (LeftWhole("uniswap_lp_cancel_twamm_order"),)


READS: Final = (
    ReadCase(
        "uniswap_lp_get_twamm_order_status",
        {"order_id": FromReport("order_id")},
        {
            "status": "open",
            "percent_complete": "0",
            "amount_filled": 0,
            "remaining_amount": 6_000 * _WAD,
            "least_amount_out": 2 * _WAD * 99 // 100,
            "average_price": None,
        },
        after=("uniswap_lp_submit_twamm_order",),
        refuses=(({"order_id": "999999"}, "TWAMM_ORDER_UNKNOWN"),),
    ),
)

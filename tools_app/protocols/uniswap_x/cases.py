"""What the writes that send something do on the local chain; what is signed alone has tests of its own."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass

CASES: Final = (
    Case(
        "uniswap_approve_uniswapx",
        {"token": "DAI", "amount": str(300 * 10**18)},
        ActionClass.INCREASE_POSITION,
        refuses=(({"amount": "0"}, "INVALID_PARAMS"), ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE")),
    ),
    Case(
        "uniswap_cancel_uniswapx_order",
        {"nonce": "777"},
        ActionClass.DECREASE_POSITION,
    ),
)

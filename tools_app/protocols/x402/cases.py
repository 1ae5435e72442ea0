"""What the write that sends something by itself does on the local chain; what is signed alone has tests of its own."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass

CASES: Final = (
    Case(
        "x402_approve",
        {"token": "USDC", "amount": str(30 * 10**6)},
        ActionClass.INCREASE_POSITION,
        refuses=(({"amount": "0"}, "INVALID_PARAMS"), ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE")),
    ),
)

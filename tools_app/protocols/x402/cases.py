"""Describes, case by case, what the write that sends something does on the local chain, and what is told of a payment
that was signed.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case, FromReport, ReadCase
from tools_app.toolkit.enums import ActionClass

CASES: Final = (
    Case(
        "x402_approve",
        {"token": "USDC", "amount": str(30 * 10**6)},
        ActionClass.INCREASE_POSITION,
        refuses=(
            ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE"),
            ({"token": "NOSUCH"}, "TOKEN_NOT_FOUND"),
            ({"token": "ETH"}, "PAYMENT_TERMS_REFUSED"),
        ),
    ),
)

READS: Final = (
    ReadCase(
        "x402_get_payment",
        {"payment_id": FromReport("payment_id")},
        {
            "status": "open",
            "scheme": "exact",
            "recipient": lambda look: look.told("payee"),
            "amount": str(2 * 10**6),
            "paid": None,
        },
        after=("x402_approve",),
        given=("it signed a payment of two dollars",),
        refuses=(({"payment_id": "0x" + "11" * 32}, "PAYMENT_UNKNOWN"),),
    ),
)

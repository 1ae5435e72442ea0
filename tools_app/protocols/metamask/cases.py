"""Describes, case by case, what a draw does on the local chain, from an owner who gives 25 USDC a day, and what is told
of what is left.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case, FromReport, ReadCase
from tools_app.toolkit.enums import ActionClass

USD: Final = 10**6
_ANOTHER: Final = "00000000-0000-0000-0000-0000000000aa"
_GRANTED: Final = "an owner lets it draw 25 USDC a day"

CASES: Final = (
    Case(
        "metamask_redeem_runway",
        {"amount": str(10 * USD)},
        ActionClass.DECREASE_POSITION,
        given=(_GRANTED,),
        moves={"USDC": 10 * USD},
        tells={"redeemed": str(10 * USD), "remaining": str(15 * USD)},
        refuses=(
            ({"amount": str(26 * USD)}, "INVALID_PARAMS"),
            ({"golem_id": _ANOTHER}, "INVALID_PARAMS"),
        ),
        gains_bps=10_000,
    ),
)

_DAYS: Final = 400

READS: Final = (
    ReadCase(
        "metamask_check_permission_health",
        tells={
            "health": "revoked",
            "principal": None,
            "days_remaining": 0,
        },
        name="metamask_check_permission_health_of_nobody",
    ),
    ReadCase(
        "metamask_check_permission_health",
        tells={
            "health": "healthy",
            "remaining_today": str(25 * USD),
            "days_remaining": _DAYS,
            "last_redemption_at": None,
        },
        given=(_GRANTED,),
        refuses=(({"golem_id": _ANOTHER}, "INVALID_PARAMS"),),
    ),
    ReadCase(
        "metamask_get_redelegation",
        {"delegation": FromReport("delegation")},
        {
            "status": "open",
            "recipient": lambda look: look.told("key"),
            "amount": str(4 * USD),
            "left": str(4 * USD),
            "context": None,
        },
        given=("it handed four dollars of its runway on to a key",),
        refuses=(({"delegation": "0x" + "11" * 32}, "REDELEGATION_UNKNOWN"),),
    ),
)

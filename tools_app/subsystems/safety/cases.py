"""What taking approvals back does on the local chain."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import Case, Told
from tools_app.toolkit.enums import ActionClass

_STRANGER: Final = "0x" + "66" * 20

CASES: Final = (
    Case(
        "safety_batch_revoke_approvals",
        {
            "approvals": [
                {"token": "USDC", "spender": Told("old_spender")},
                {"token": "WETH", "spender": Told("old_spender")},
            ]
        },
        ActionClass.CLOSE_POSITION,
        given=("it once let a person take USDC and WETH",),
        tells={"revoked_count": 2, "failed": []},
        refuses=(
            ({"approvals": [{"token": "USDC", "spender": _STRANGER}]}, "NO_SUCH_APPROVAL"),
            ({"approvals": [{"token": "ETH", "spender": _STRANGER}]}, "INVALID_PARAMS"),
            ({"approvals": []}, "INVALID_PARAMS"),
        ),
    ),
)

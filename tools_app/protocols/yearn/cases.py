"""What the `yearn_*` writes do on the local chain, whose vault gives a share for 1.02 USDC."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.yearn.addresses import LOCAL_CHAIN_ID, USDC, deployments
from tools_app.toolkit.case import About, Case, PutIn, TakeOut
from tools_app.toolkit.enums import ActionClass

_USD: Final = 10**6
_VAULT: Final = {"vault": (deployments(LOCAL_CHAIN_ID) or {})[USDC]}
_NOWHERE: Final = {"vault": "0x" + "11" * 20}

CASES: Final = (
    Case(
        "yearn_deposit",
        {**_VAULT, "amount": str(10_200 * _USD)},
        ActionClass.NEW_POSITION,
        moves={"USDC": -10_200 * _USD},
        holds={"USDC": 10_200 * _USD},
        tells={"assets_deposited": str(10_200 * _USD), "share_price": "1.02", "shares_received": str(10_000 * _USD)},
        refuses=(
            (_NOWHERE, "YEARN_VAULT_NOT_KNOWN"),
            ({"amount": "0"}, "INVALID_PARAMS"),
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
        ),
    ),
    Case(
        "yearn_withdraw",
        {**_VAULT, "shares": str(4_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("yearn_deposit",),
        moves={"USDC": 4_080 * _USD},
        holds={"USDC": -4_080 * _USD},
        refuses=((_NOWHERE, "YEARN_VAULT_NOT_KNOWN"), ({"shares": str(10_001 * _USD)}, "VAULT_SHARES_MISSING")),
    ),
    Case(
        "yearn_withdraw",
        {**_VAULT, "shares": "max", "max_loss_bps": 10},
        ActionClass.CLOSE_POSITION,
        name="yearn_withdraw_all",
        after=("yearn_deposit",),
        moves={"USDC": About(10_200 * _USD, 1)},
        holds={"USDC": About(-10_200 * _USD, 1)},
    ),
)
WALK: Final = (PutIn("yearn_deposit", "USDC", _VAULT), TakeOut("yearn_withdraw", USDC, "shares", _VAULT))

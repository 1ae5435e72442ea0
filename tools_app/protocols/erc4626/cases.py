"""What the vault tools do on the local chain, whose vault gives a share for 1.05 USDC."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.erc4626.addresses import ENTRY, LOCAL_CHAIN_ID, deployments
from tools_app.toolkit.case import About, Case
from tools_app.toolkit.enums import ActionClass

_USDC: Final = 10**6
_VAULT: Final = {"vault": (deployments(LOCAL_CHAIN_ID) or {})[ENTRY]}
_NOWHERE: Final = {"vault": "0x" + "11" * 20}

CASES: Final = (
    Case(
        "vault_deposit",
        {**_VAULT, "amount": str(10_500 * _USDC)},
        ActionClass.NEW_POSITION,
        moves={"USDC": -10_500 * _USDC},
        holds={"USDC": 10_500 * _USDC},
        tells={"assets_deposited": str(10_500 * _USDC), "share_price_at_deposit": "1.050000000", "fee_deducted": "0"},
        refuses=(
            (_NOWHERE, "VAULT_NOT_KNOWN"),
            ({"amount": "0"}, "INVALID_PARAMS"),
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
        ),
    ),
    Case(
        "vault_withdraw",
        {**_VAULT, "shares": str(4_000 * _USDC)},
        ActionClass.DECREASE_POSITION,
        after=("vault_deposit",),
        moves={"USDC": 4_200 * _USDC},
        holds={"USDC": -4_200 * _USDC},
        refuses=((_NOWHERE, "VAULT_NOT_KNOWN"), ({"shares": str(10_001 * _USDC)}, "VAULT_SHARES_MISSING")),
    ),
    Case(
        "vault_withdraw",
        {**_VAULT, "shares": "max"},
        ActionClass.CLOSE_POSITION,
        name="vault_withdraw_all",
        after=("vault_deposit",),
        moves={"USDC": About(10_500 * _USDC, 1)},
        holds={"USDC": About(-10_500 * _USDC, 1)},
    ),
)

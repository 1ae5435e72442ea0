"""Describes, case by case, what the vault tools do on the local chain, whose vault gives a share for 1.05 USDC; beside
it one that is asked, and savings that pay 4.5% a year.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.erc4626.addresses import ENTRY, LOCAL_CHAIN_ID, REQUEST, SAVINGS, deployments
from tools_app.toolkit.case import About, Case, Leave, Look, PutIn, ReadCase, TakeOut, Together
from tools_app.toolkit.enums import ActionClass

_USDC: Final = 10**6
_VAULT: Final = {"vault": (deployments(LOCAL_CHAIN_ID) or {})[ENTRY]}
_ASKED: Final = {"vault": (deployments(LOCAL_CHAIN_ID) or {})[REQUEST]}
_SETTLED: Final = ("the vault by request has settled what was asked of it",)
_SHARES: Final = {
    ("requestRedeem(uint256,address,address)", 0): "a base unit of shares more or less is worth less than one of USDC"
}
_WAD: Final = 10**18
_SAVINGS: Final = {"vault": (deployments(LOCAL_CHAIN_ID) or {})[SAVINGS]}
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
    Case(
        "vault_deposit",
        {**_ASKED, "amount": str(10_000 * _USDC)},
        ActionClass.NEW_POSITION,
        name="vault_ask_in",
        moves={"USDC": -10_000 * _USDC},
        holds={"USDC": 10_000 * _USDC},
        tells={"shares_received": "0", "share_price_at_deposit": None, "request_id": f"deposit-{_ASKED['vault']}"},
        refuses=(({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),),
    ),
    Case(
        "vault_cancel_request",
        _ASKED,
        ActionClass.CLOSE_POSITION,
        after=("vault_ask_in",),
        moves={"USDC": 10_000 * _USDC},
        holds={"USDC": -10_000 * _USDC},
        tells={"assets_returned": str(10_000 * _USDC)},
        refuses=((_VAULT, "VAULT_NOT_KNOWN"), (_NOWHERE, "VAULT_NOT_KNOWN")),
    ),
    Case(
        "vault_claim_request",
        {**_ASKED, "request": "deposit"},
        ActionClass.REBALANCE,
        name="vault_claim_in",
        after=("vault_ask_in",),
        given=_SETTLED,
        tells={"request": "deposit", "shares_received": str(10_000 * 10**18), "assets_received": None},
        refuses=(
            ({"request": "withdrawal"}, "VAULT_NOTHING_TO_CLAIM"),
            (_VAULT, "VAULT_NOT_KNOWN"),
        ),
    ),
    Case(
        "vault_withdraw",
        {**_ASKED, "shares": str(4_000 * 10**18)},
        ActionClass.DECREASE_POSITION,
        name="vault_ask_out",
        after=("vault_claim_in",),
        tells={"assets_received": "0", "shares_redeemed": str(4_000 * 10**18), "share_price_at_withdraw": None},
        refuses=(({"shares": str(10_001 * 10**18)}, "VAULT_SHARES_MISSING"),),
        meaningless=_SHARES,
    ),
    Case(
        "vault_claim_request",
        {**_ASKED, "request": "withdrawal"},
        ActionClass.CLOSE_POSITION,
        name="vault_claim_out",
        after=("vault_ask_out",),
        given=_SETTLED,
        moves={"USDC": 4_000 * _USDC},
        holds={"USDC": -4_000 * _USDC},
        refuses=(({"request": "deposit"}, "VAULT_NOTHING_TO_CLAIM"),),
    ),
    Case(
        "vault_deposit",
        {**_SAVINGS, "amount": str(10_000 * _WAD)},
        ActionClass.NEW_POSITION,
        name="savings_deposit",
        moves={"DAI": -10_000 * _WAD},
        holds={"DAI": About(10_000 * _WAD, 1)},
        refuses=(({"amount": str(10**27)}, "INSUFFICIENT_BALANCE"),),
    ),
    Case(
        "vault_withdraw",
        {**_SAVINGS, "shares": str(4_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        name="savings_withdraw",
        after=("savings_deposit",),
        moves={"DAI": About(4_000 * _WAD, 1)},
        holds={"DAI": About(-4_000 * _WAD, 1)},
        refuses=(({"shares": str(10_001 * _WAD)}, "VAULT_SHARES_MISSING"),),
    ),
    Case(
        "vault_withdraw",
        {**_SAVINGS, "shares": "max"},
        ActionClass.CLOSE_POSITION,
        name="savings_withdraw_all",
        after=("savings_deposit",),
        moves={"DAI": About(10_000 * _WAD, 1)},
        holds={"DAI": About(-10_000 * _WAD, 1)},
    ),
)

TOGETHER: Final = (
    Together(
        "vault_withdraw",
        {"shares": str(6_000 * _USDC)},
        {"shares": str(7_000 * _USDC)},
        {"shares": str(3_000 * _USDC)},
        before="vault_deposit",
    ),
)
WALK: Final = (
    PutIn("vault_deposit", "USDC", _VAULT),
    TakeOut("vault_withdraw", ENTRY, "shares", _VAULT),
    PutIn("vault_deposit", "DAI", _SAVINGS),
    TakeOut("vault_withdraw", SAVINGS, "shares", _SAVINGS),
    # At the vault that is asked.
    PutIn("vault_deposit", "USDC", _ASKED),
    Leave("vault_cancel_request", "USDC", _ASKED, parameter=""),
)

_WORTH: Final = "function convertToAssets(uint256) view returns (uint256)"
_BALANCE: Final = "function balanceOf(address) view returns (uint256)"


def _shares(look: Look) -> int:
    return int(look.call(look.at(SAVINGS), _BALANCE, look.account))


READS: Final = (
    ReadCase(
        "vault_get_savings",
        tells={
            "vault": lambda look: look.at(SAVINGS),
            "savings_rate": "4.5",
            "shares": lambda look: str(_shares(look)),
            "redeemable_shares": lambda look: str(_shares(look)),
            "assets": lambda look: str(look.call(look.at(SAVINGS), _WORTH, _shares(look))),
            "is_simulated": True,
        },
        after=("savings_deposit",),
        most_exchanges=8,
    ),
    ReadCase(
        "vault_get_share_price_history",
        _VAULT,
        {
            "share_price": About(1_050_000, 1),
            "past.data_points.#": 0,
            "past.is_followed": True,
            "past.source": "this server's index",
        },
        refuses=((_NOWHERE, "VAULT_NOT_KNOWN"),),
        most_exchanges=8,
    ),
)

"""Describes, case by case, what the `yearn_*` writes do on the local chain, whose vault gives a share for 1.02 USDC."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.yearn.addresses import LOCAL_CHAIN_ID, USDC, deployments
from tools_app.toolkit.case import About, Case, Look, PutIn, ReadCase, TakeOut, Together
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

TOGETHER: Final = (
    Together(
        "yearn_withdraw",
        {"shares": str(6_000 * _USD)},
        {"shares": str(7_000 * _USD)},
        {"shares": str(3_000 * _USD)},
        before="yearn_deposit",
    ),
)
_WORTH: Final = "function convertToAssets(uint256) view returns (uint256)"
_SHARES: Final = "function balanceOf(address) view returns (uint256)"
_ALL: Final = "function totalAssets() view returns (uint256)"


def _shares(look: Look) -> int:
    return int(look.call(look.at(USDC), _SHARES, look.account))


def _worth(look: Look) -> int:
    return int(look.call(look.at(USDC), _WORTH, _shares(look)))


def _dollars(look: Look) -> str:
    cents = _worth(look) * look.price("USDC") // 10**12
    return f"${cents // 100:,}.{cents % 100:02}"


READS: Final = (
    ReadCase(
        "yearn_get_vaults",
        {"asset": "USDC"},
        {
            "vaults.#": 1,
            "vaults.0.tvl": lambda look: look.call(look.at(USDC), _ALL),
            "vaults.0.apy": "0",
            "vaults.0.strategy_type": "single",
        },
        most_exchanges=10,
    ),
    ReadCase(
        "yearn_get_position",
        tells={
            "positions.0.shares": _shares,
            "positions.0.assets_value": _worth,
            "positions.0.yield_earned": About(0, 1),
            "total_value_usd": _dollars,
        },
        after=("yearn_deposit",),
        most_exchanges=12,
    ),
)
WALK: Final = (PutIn("yearn_deposit", "USDC", _VAULT), TakeOut("yearn_withdraw", USDC, "shares", _VAULT))

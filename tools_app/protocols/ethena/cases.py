"""Describes, case by case, what the `ethena_*` writes do on the local chain, whose sUSDe stands for 1.04 of its
token.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.ethena.addresses import SUSDE
from tools_app.toolkit.case import About, Case, Look, PutIn, ReadCase, TakeOut, Together
from tools_app.toolkit.enums import ActionClass

_WAD: Final = 10**18
_SHARES: Final = {("cooldownShares(uint256)", 0): "a base unit more is within what rewards may add until the call"}

CASES: Final = (
    Case(
        "ethena_stake_usde",
        {"amount": str(10_400 * _WAD)},
        ActionClass.NEW_POSITION,
        moves={"DAI": -10_400 * _WAD},
        holds={"DAI": 10_400 * _WAD},
        tells={"usde_staked": str(10_400 * _WAD), "lockup_period": 7 * 86_400, "funding_rate_component": None},
        refuses=(({"amount": str(10**25)}, "INSUFFICIENT_BALANCE"),),
    ),
    Case(
        "ethena_unstake_usde",
        {"amount": str(4_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("ethena_stake_usde",),
        tells={
            "usde_cooling": str(4_160 * _WAD - 1),
            "usde_received": None,
            "request_id": "cooldown",
            "instant_fee": None,
        },
        refuses=(
            ({"amount": str(10_001 * _WAD)}, "VAULT_SHARES_MISSING"),
            ({"mode": "instant"}, "INSTANT_EXIT_IS_A_SALE"),
        ),
        meaningless=_SHARES,
    ),
    Case(
        "ethena_unstake_usde",
        {"amount": "max", "restart_cooldown": True},
        ActionClass.DECREASE_POSITION,
        name="ethena_unstake_the_rest",
        after=("ethena_unstake_usde",),
        refuses=(({"restart_cooldown": False}, "COOLDOWN_WOULD_RESTART"),),
    ),
    Case(
        "ethena_claim_unstaked",
        {},
        ActionClass.CLOSE_POSITION,
        after=("ethena_unstake_usde",),
        given=("a week has passed",),
        moves={"DAI": About(4_160 * _WAD, 1)},
        holds={"DAI": About(-4_160 * _WAD, 1)},
    ),
)

TOGETHER: Final = (
    Together(
        "ethena_unstake_usde",
        {"amount": str(6_000 * _WAD)},
        {"amount": str(7_000 * _WAD)},
        {"amount": str(3_000 * _WAD)},
        before="ethena_stake_usde",
    ),
)
WALK: Final = (
    PutIn("ethena_stake_usde", "DAI"),
    TakeOut("ethena_unstake_usde", SUSDE, "amount", {"restart_cooldown": True}),
)

_WORTH: Final = "function convertToAssets(uint256) view returns (uint256)"
_BALANCE: Final = "function balanceOf(address) view returns (uint256)"
_COOLDOWN: Final = "function cooldownDuration() view returns (uint24)"


def _shares(look: Look) -> int:
    return int(look.call(look.at(SUSDE), _BALANCE, look.account))


READS: Final = (
    ReadCase(
        "ethena_get_position",
        tells={
            "usde_balance": lambda look: look.balance("DAI"),
            "susde_balance": _shares,
            "susde_in_usde": lambda look: look.call(look.at(SUSDE), _WORTH, _shares(look)),
        },
        after=("ethena_stake_usde",),
        most_exchanges=8,
    ),
    ReadCase(
        "ethena_get_apy",
        tells={
            "cooldown_seconds": lambda look: look.call(look.at(SUSDE), _COOLDOWN),
            "staking_yield_component": None,
        },
        after=("ethena_stake_usde",),
        most_exchanges=8,
    ),
)

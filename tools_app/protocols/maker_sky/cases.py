"""Describes, case by case, what the `maker_*` writes do on the local chain, whose ETH-A asks for 145% and a fee of 5% a
year.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, FromReport, Together
from tools_app.toolkit.enums import ActionClass

_WAD: Final = 10**18
_VAULT: Final = {"vault_id": FromReport("vault_id")}
_NO_VAULT: Final = ({"vault_id": "999"}, "MAKER_VAULT_NOT_FOUND")

CASES: Final = (
    Case(
        "maker_open_vault",
        {"collateral_type": "ETH-A"},
        ActionClass.NEW_POSITION,
        tells={"collateral_type": "ETH-A"},
        refuses=(({"collateral_type": "USDC-A"}, "INVALID_PARAMS"),),
    ),
    Case(
        "maker_deposit_collateral",
        {**_VAULT, "amount": str(10 * _WAD)},
        ActionClass.NEW_POSITION,
        after=("maker_open_vault",),
        moves={"WETH": -10 * _WAD},
        holds={"WETH": 10 * _WAD},
        tells={"collateral_deposited": str(10 * _WAD), "collateralization_ratio": None},
        refuses=(_NO_VAULT, ({"amount": str(10**24)}, "INSUFFICIENT_BALANCE")),
    ),
    Case(
        "maker_generate_dai",
        {**_VAULT, "dai_amount": str(10_000 * _WAD)},
        ActionClass.INCREASE_POSITION,
        after=("maker_deposit_collateral",),
        moves={"DAI": 10_000 * _WAD},
        owes={"DAI": About(10_000 * _WAD, 1)},
        tells={"dai_generated": str(10_000 * _WAD), "collateralization_ratio": "300.00"},
        refuses=(
            _NO_VAULT,
            ({"dai_amount": str(15_000 * _WAD)}, "HEALTH_TOO_LOW"),
            ({"dai_amount": str(99 * _WAD)}, "MAKER_DEBT_TOO_SMALL"),
        ),
        meaningless={
            (
                "frob(uint256,int256,int256)",
                2,
            ): "a wei more of debt is less than the fee of the seconds that are allowed for",
            (
                "move(uint256,address,uint256)",
                2,
            ): "the smallest part of a wei, which stays in the ledger as the account's",
        },
    ),
    Case(
        "maker_repay_dai",
        {**_VAULT, "dai_amount": str(3_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("maker_generate_dai",),
        moves={"DAI": -3_000 * _WAD},
        owes={"DAI": About(-3_000 * _WAD, 1)},
        refuses=(_NO_VAULT, ({"dai_amount": str(9_950 * _WAD)}, "MAKER_DEBT_TOO_SMALL")),
        meaningless={
            (
                "frob(uint256,int256,int256)",
                2,
            ): "a few wei of debt are less than the fee of the seconds that are allowed for"
        },
        loses_bps=1,
    ),
    Case(
        "maker_close_vault",
        _VAULT,
        ActionClass.CLOSE_POSITION,
        after=("maker_generate_dai",),
        moves={"DAI": About(-10_000 * _WAD, 1), "WETH": 10 * _WAD},
        holds={"WETH": -10 * _WAD},
        owes={"DAI": About(-10_000 * _WAD, 1)},
        tells={"collateral_withdrawn": str(10 * _WAD)},
        refuses=(_NO_VAULT,),
        # What the fee does not need of the DAI that is paid in stays inside.
        loses_bps=1,
    ),
    Case(
        "lending_unwind_loop",
        {"protocol": "maker", "account": FromReport("account"), "percent_to_unwind": 100},
        ActionClass.CLOSE_POSITION,
        name="maker_unwind_all",
        after=("maker_generate_dai",),
        moves={"WETH": About(66 * _WAD // 10, 200), "DAI": About(50 * _WAD, 9_900)},
        holds={"WETH": -10 * _WAD},
        owes={"DAI": About(-10_000 * _WAD, 1)},
        loses_bps=100,
    ),
)

TOGETHER: Final = (
    Together(
        "maker_generate_dai",
        {"dai_amount": str(10_000 * _WAD)},
        {"dai_amount": str(9_000 * _WAD)},
        {"dai_amount": str(1_000 * _WAD)},
        before="maker_deposit_collateral",
        is_cover=True,
    ),
)

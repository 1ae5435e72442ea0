"""What the `lending_*` writes do on the local chain, at the lender that stands there with every market."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, Told
from tools_app.toolkit.enums import ActionClass

_ETH: Final = 10**18
_USD: Final = 10**6
_LENDER: Final = {"protocol": "aave"}
_PAIR: Final = {**_LENDER, "collateral_asset": "WETH", "borrow_asset": "USDC"}
_OWN: Final = {**_LENDER, "account": Told("account")}
_REPLACED: Final = {
    ("approve(address,uint256)", 1): "of what one round leaves of an approval the next round's takes the place"
}
_RESTS: Final = {
    ("withdraw(address,uint256,address)", 1): "what is taken out first, the last withdrawal takes out less"
}
_STRANGER: Final = ({"account": "0x" + "11" * 20}, "INVALID_PARAMS")

CASES: Final = (
    Case(
        "lending_execute_leverage_loop",
        {**_PAIR, "initial_amount": str(4 * _ETH), "target_leverage": "1.8"},
        ActionClass.INCREASE_POSITION,
        moves={"WETH": About(-4 * _ETH, 100)},
        holds={"WETH": About(72 * _ETH // 10, 100)},
        owes={"USDC": About(9_600 * _USD, 100)},
        refuses=(
            ({"target_leverage": "4"}, "LEVERAGE_OUT_OF_REACH"),
            ({"borrow_asset": "WETH"}, "MARKET_NOT_FOUND"),
            ({"initial_amount": str(10**24)}, "INSUFFICIENT_BALANCE"),
        ),
        meaningless=_REPLACED,
        loses_bps=100,
    ),
    Case(
        "lending_unwind_loop",
        {**_OWN, "percent_to_unwind": 50},
        ActionClass.DECREASE_POSITION,
        after=("lending_execute_leverage_loop",),
        moves={"USDC": About(24 * _USD, 9_900)},
        holds={"WETH": About(-16 * _ETH // 10, 200)},
        owes={"USDC": About(-4_800 * _USD, 100)},
        refuses=(_STRANGER,),
        loses_bps=100,
    ),
    Case(
        "lending_unwind_loop",
        {**_OWN, "percent_to_unwind": 100},
        ActionClass.CLOSE_POSITION,
        name="lending_unwind_all",
        after=("lending_execute_leverage_loop",),
        moves={"WETH": About(4 * _ETH, 200), "USDC": About(48 * _USD, 9_900)},
        holds={"WETH": About(-72 * _ETH // 10, 100)},
        owes={"USDC": About(-9_600 * _USD, 100)},
        meaningless={**_REPLACED, **_RESTS},
        loses_bps=100,
    ),
    Case(
        "lending_auto_deleverage",
        {**_OWN, "target_health_factor": "2.5"},
        ActionClass.DECREASE_POSITION,
        after=("lending_execute_leverage_loop",),
        moves={"USDC": About(24 * _USD, 9_900)},
        holds={"WETH": About(-13 * _ETH // 10, 2_000)},
        owes={"USDC": About(-3_900 * _USD, 2_000)},
        refuses=(_STRANGER, ({"target_health_factor": "1.1"}, "LENDING_NOTHING_THERE")),
        loses_bps=100,
    ),
    Case(
        "lending_flash_loan",
        {"asset": "USDC", "amount": str(1_000 * _USD), "receiver_calldata": "0x", "provider": "aave"},
        ActionClass.REBALANCE,
        refused="FLASH_LOAN_NEEDS_CONTRACT",
    ),
)

"""What the `lido_*` writes do on the local chain. All of it is ether in one form or another."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, Told
from tools_app.toolkit.enums import ActionClass

_ETH: Final = 10**18
_FEW_WEI: Final = 16
_REFERRAL: Final = {("submit(address)", 0): "who is named there as having referred gets nothing of the account's"}

CASES: Final = (
    Case(
        "lido_stake",
        {"amount": str(10 * _ETH)},
        ActionClass.NEW_POSITION,
        moves={"ETH": -10 * _ETH},
        holds={"ETH": 10 * _ETH},
        tells={"eth_staked": str(10 * _ETH), "token_symbol": "wstETH", "route": "direct"},
        refuses=(({"amount": str(500 * _ETH)}, "INSUFFICIENT_BALANCE"), ({"amount": "3"}, "STAKE_TOO_SMALL")),
        meaningless=_REFERRAL,
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_stake",
        {"amount": str(10 * _ETH), "output_token": "stETH"},
        ActionClass.NEW_POSITION,
        name="lido_stake_rebasing",
        moves={"ETH": -10 * _ETH},
        holds={"ETH": 10 * _ETH},
        meaningless=_REFERRAL,
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_wrap",
        {"amount": str(3 * _ETH)},
        ActionClass.INCREASE_POSITION,
        after=("lido_stake_rebasing",),
        tells={"st_eth_wrapped": str(3 * _ETH)},
        refuses=(({"amount": str(50 * _ETH)}, "INSUFFICIENT_BALANCE"), ({"amount": "3"}, "STAKE_TOO_SMALL")),
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_unwrap",
        {"amount": str(3 * _ETH)},
        ActionClass.REBALANCE,
        after=("lido_stake",),
        refuses=(({"amount": str(50 * _ETH)}, "INSUFFICIENT_BALANCE"),),
        meaningless={("unwrap(uint256)", 0): "a base unit more is within the rounding that the plan allows for"},
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_unstake",
        {"amounts": [str(3 * _ETH), str(2 * _ETH)]},
        ActionClass.DECREASE_POSITION,
        after=("lido_stake_rebasing",),
        tells={"total_st_eth_queued": str(5 * _ETH)},
        refuses=(
            ({"amounts": ["99"]}, "WITHDRAWAL_AMOUNT_REFUSED"),
            ({"amounts": [str(50 * _ETH)]}, "INSUFFICIENT_BALANCE"),
            ({"amounts": []}, "INVALID_PARAMS"),
        ),
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_unstake",
        {"amounts": [str(_ETH)], "token": "wstETH"},
        ActionClass.DECREASE_POSITION,
        name="lido_unstake_wrapped",
        after=("lido_stake",),
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_claim_withdrawal",
        {"request_ids": Told("request_ids")},
        ActionClass.CLOSE_POSITION,
        after=("lido_unstake",),
        given=("the queue has paid all requests",),
        moves={"ETH": 5 * _ETH},
        holds={"ETH": -5 * _ETH},
        refuses=(({"request_ids": ["9999999"]}, "WITHDRAWAL_REQUEST_NOT_FOUND"),),
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_harvest_yield",
        {},
        ActionClass.DECREASE_POSITION,
        after=("lido_stake",),
        given=("staking earned a tenth of a percent", "somebody makes a market of wstETH and USDC"),
        moves={"USDC": About(30_000_000, 2_000)},
        holds={"ETH": About(-_ETH // 100, 2_000)},
        refuses=(({"account": "0x" + "11" * 20}, "NOTHING_TO_HARVEST"),),
        # Only the yield of the last 90 days is looked for.
        when_old="NOTHING_TO_HARVEST",
        loses_bps=200,
    ),
)

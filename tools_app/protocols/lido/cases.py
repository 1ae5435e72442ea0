"""Describes, case by case, what the `lido_*` writes do on the local chain. All of it is ether in one form or
another.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, FromReport, Look, ReadCase, Together
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import decimals_text

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
        "lido_unstake",
        {"amount": str(_ETH)},
        ActionClass.DECREASE_POSITION,
        name="lido_unstake_what_stake_gave",
        after=("lido_stake",),
        refuses=(
            ({"amounts": [str(_ETH)]}, "INVALID_PARAMS"),
            ({"amount": str(50 * _ETH)}, "INSUFFICIENT_BALANCE"),
        ),
        rounding=_FEW_WEI,
    ),
    Case(
        "lido_claim_withdrawal",
        {"request_ids": FromReport("request_ids")},
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

TOGETHER: Final = (
    Together(
        "lido_unstake",
        {"amounts": [str(6 * _ETH)]},
        {"amounts": [str(7 * _ETH)]},
        {"amounts": [str(3 * _ETH)]},
        before="lido_stake_rebasing",
    ),
)

_BALANCE: Final = "function balanceOf(address) view returns (uint256)"
_UNWRAPPED: Final = "function getStETHByWstETH(uint256) view returns (uint256)"
_POOLED: Final = "function getPooledEthByShares(uint256) view returns (uint256)"
_SHARES: Final = "function sharesOf(address) view returns (uint256)"
_QUORUM: Final = "function getQuorum() view returns (uint256)"
_STAKED: Final = ("lido_stake", "lido_unstake")


def _wrapped(look: Look) -> int:
    return int(look.call(look.at("wsteth"), _BALANCE, look.account))


def _staked(look: Look) -> int:
    """stETH by its own word, and wstETH by what it would be unwrapped."""
    unwrapped = int(look.call(look.at("wsteth"), _UNWRAPPED, _wrapped(look)))
    return int(look.call(look.at("steth"), _BALANCE, look.account)) + unwrapped


def _rate(look: Look) -> str:
    return decimals_text(int(look.call(look.at("steth"), _POOLED, 10**27)), 10**27, 18)


READS: Final = (
    ReadCase(
        "lido_get_position",
        tells={
            "st_eth_balance": lambda look: look.call(look.at("steth"), _BALANCE, look.account),
            "wst_eth_balance": _wrapped,
            "shares": lambda look: look.call(look.at("steth"), _SHARES, look.account) + _wrapped(look),
            "current_share_rate": _rate,
            "eth_float": lambda look: look.balance("ETH"),
            # What was staked, and what of it waits in the queue.
            "eth_equivalent": About(20 * _ETH, 1),
            "open_withdrawal_requests.#": 2,
            "open_withdrawal_requests.0.eth": 3 * _ETH,
            "open_withdrawal_requests.1.is_final": False,
        },
        after=_STAKED,
        most_exchanges=15,
    ),
    ReadCase(
        "lido_get_rates",
        tells={"share_rate": _rate, "is_simulated": True},
        after=_STAKED,
        most_exchanges=5,
    ),
    ReadCase(
        "lido_get_oracle_status",
        tells={
            "quorum_size": lambda look: look.call(look.at("consensus"), _QUORUM),
            "members": 3,
            "epochs_overdue": 0,
            "is_oracle_stalled": False,
        },
    ),
    ReadCase(
        "lido_exit_decision",
        tells={
            "decision": "queue",
            "eth_equivalent": lambda look: About(_staked(look), 1),
            "market_eth": None,
            "queue_requests": 1,
        },
        after=_STAKED,
        most_exchanges=8,
    ),
)

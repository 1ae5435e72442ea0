"""Describes, case by case, what the `rocketpool_*` writes do on the local chain, whose network keeps a fee of 0.05%."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, Look, ReadCase, Together
from tools_app.toolkit.enums import ActionClass

_ETH: Final = 10**18

CASES: Final = (
    Case(
        "rocketpool_stake",
        {"amount": str(10 * _ETH)},
        ActionClass.NEW_POSITION,
        moves={"ETH": -10 * _ETH},
        holds={"ETH": 10 * _ETH - 10 * _ETH // 2_000},
        tells={"eth_staked": str(10 * _ETH)},
        refuses=(({"amount": str(500 * _ETH)}, "INSUFFICIENT_BALANCE"),),
        loses_bps=6,
        rounding=16,
    ),
    Case(
        "rocketpool_unstake",
        {"amount": str(_ETH)},
        ActionClass.DECREASE_POSITION,
        after=("rocketpool_stake",),
        moves={"ETH": About(1_125 * _ETH // 1_000, 100)},
        holds={"ETH": About(-1_125 * _ETH // 1_000, 100)},
        tells={"route": "burn"},
        refuses=(({"amount": str(10 * _ETH)}, "INSUFFICIENT_BALANCE"),),
    ),
)

TOGETHER: Final = (
    Together(
        "rocketpool_unstake",
        {"amount": str(5 * _ETH)},
        {"amount": str(6 * _ETH)},
        {"amount": str(2 * _ETH)},
        before="rocketpool_stake",
    ),
)

_BALANCE: Final = "function balanceOf(address) view returns (uint256)"
_WORTH: Final = "function getEthValue(uint256) view returns (uint256)"
_POOL: Final = "function getBalance() view returns (uint256)"


def _held(look: Look) -> int:
    return int(look.call(look.at("reth"), _BALANCE, look.account))


READS: Final = (
    ReadCase(
        "rocketpool_get_position",
        tells={
            "r_eth_balance": _held,
            "eth_equivalent": lambda look: look.call(look.at("reth"), _WORTH, _held(look)),
            "yield_earned_eth": 0,
            "is_simulated": True,
        },
        after=("rocketpool_stake",),
        most_exchanges=10,
    ),
    ReadCase(
        "rocketpool_get_rates",
        tells={
            "exchange_rate": About(1_122_663, 5),
            "deposit_pool_balance": lambda look: look.call(look.at("deposit_pool"), _POOL),
            "redeemable": lambda look: look.call(look.at("deposit_pool"), _POOL),
            "deposit_fee": "0.05",
            "node_commission": "14",
            # Forty, twelve, three and one.
            "active_minipools": 56,
        },
        after=("rocketpool_stake",),
        most_exchanges=7,
    ),
    ReadCase(
        "rocketpool_get_operators",
        tells={
            "total_operators": 4,
            "operators.#": 4,
            "operators[minipools=40].staked_eth": 38 * 32 * _ETH,
            # Thirty-eight of its forty validators stake.
            "operators[minipools=40].performance_score": "95",
            "operators[minipools=12].commission_rate": "14",
            "network_average_commission": "12",
        },
        most_exchanges=5,
    ),
    ReadCase(
        "rocketpool_get_operators",
        {"min_staked": 400, "max_commission": 10},
        {"operators.#": 1, "operators.0.minipools": 40, "operators.0.slashing_is_told": False},
        name="rocketpool_get_operators_of_some_size",
        most_exchanges=5,
    ),
)

"""What the `rocketpool_*` writes do on the local chain, whose network keeps a fee of 0.05%."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case
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
        refuses=(({"amount": str(500 * _ETH)}, "INSUFFICIENT_BALANCE"), ({"amount": "0"}, "INVALID_PARAMS")),
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

"""Describes, case by case, what the `sushi_bar_*` writes do on the local chain, whose bar gives a share for 1.05 of its
token.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.sushi_bar.addresses import ENTRY
from tools_app.toolkit.case import About, Case, Look, PutIn, ReadCase, TakeOut, Together
from tools_app.toolkit.enums import ActionClass

_WAD: Final = 10**18

CASES: Final = (
    Case(
        "sushi_bar_enter",
        {"amount": str(10_500 * _WAD)},
        ActionClass.NEW_POSITION,
        moves={"DAI": -10_500 * _WAD},
        holds={"DAI": 10_500 * _WAD},
        tells={"amount": str(10_500 * _WAD), "shares": str(10_000 * _WAD)},
        refuses=(({"amount": str(10**24)}, "INSUFFICIENT_BALANCE"),),
    ),
    Case(
        "sushi_bar_leave",
        {"shares": str(4_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("sushi_bar_enter",),
        moves={"DAI": 4_200 * _WAD},
        holds={"DAI": -4_200 * _WAD},
        tells={"amount": str(4_200 * _WAD)},
        refuses=(({"shares": str(10_001 * _WAD)}, "VAULT_SHARES_MISSING"),),
    ),
    Case(
        "sushi_bar_leave",
        {"shares": "max"},
        ActionClass.CLOSE_POSITION,
        name="sushi_bar_leave_all",
        after=("sushi_bar_enter",),
        moves={"DAI": About(10_500 * _WAD, 1)},
        holds={"DAI": About(-10_500 * _WAD, 1)},
    ),
)

TOGETHER: Final = (
    Together(
        "sushi_bar_leave",
        {"shares": str(6_000 * _WAD)},
        {"shares": str(7_000 * _WAD)},
        {"shares": str(3_000 * _WAD)},
        before="sushi_bar_enter",
    ),
)
WALK: Final = (PutIn("sushi_bar_enter", "DAI"), TakeOut("sushi_bar_leave", ENTRY, "shares"))

_SUPPLY: Final = "function totalSupply() view returns (uint256)"


def _share_of_bar(look: Look) -> int:
    return 10_000 * 10_000 * _WAD // int(look.call(look.at(ENTRY), _SUPPLY))


READS: Final = (
    ReadCase(
        "sushi_bar_get_position",
        tells={
            "shares": 10_000 * _WAD,
            # What was put in, and nothing came since: the bar gives a share for 1.05.
            "worth": 10_500 * _WAD,
            "share_of_bar_bps": _share_of_bar,
        },
        after=("sushi_bar_enter",),
    ),
)

"""Describes, case by case, what the tools of the jar do on the local chain, where its contracts are ours and DAI is
what is given up.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.firepit.addresses import JAR, LOCAL_CHAIN_ID, RELEASER, place_on
from tools_app.toolkit.case import Case, Look, ReadCase
from tools_app.toolkit.enums import ActionClass

_WAD: Final = 10**18

CASES: Final = (
    Case(
        "firepit_burn",
        {"assets": ["ETH", "USDC", "WBTC"]},
        ActionClass.REBALANCE,
        moves={"DAI": -4_000 * _WAD, "ETH": _WAD // 2, "USDC": 1_500 * 10**6, "WBTC": 5_000_000},
        gains_bps=6_000,
        tells={"nonce": "0", "burned": str(4_000 * _WAD)},
        refuses=(
            ({"assets": ["USDT"]}, "JAR_HOLDS_NONE"),
            ({"assets": ["USDC"]}, "BURN_NOT_WORTH_IT"),
            ({"assets": ["USDC", "USDC"]}, "BURN_ASSETS_REFUSED"),
            ({"assets": ["DAI", "USDC"]}, "BURN_ASSETS_REFUSED"),
        ),
    ),
)


def _nonce(look: Look) -> str:
    return str(look.call(look.at(RELEASER), "function nonce() view returns (uint256)"))


READS: Final = (
    ReadCase(
        "firepit_get_tokenjar_balances",
        tells={
            "jar": lambda look: look.at(JAR),
            "nonce": _nonce,
            "threshold": 4_000 * _WAD,
            "balances.1.amount": lambda look: look.balance("USDC", look.at(JAR)),
            # Half a coin at 3,000, 1,500 USDC and a twentieth of a bitcoin at 60,000.
            "total_usd": "6000.000000",
            "surplus_usd": "2000.000000",
        },
    ),
    ReadCase(
        "stream_tokenjar",
        {"jar_address": place_on(LOCAL_CHAIN_ID).jar, "chain_id": LOCAL_CHAIN_ID},
        {"event": "tokenjar:update", "interval_ms": 60_000, "chain_ids.0": LOCAL_CHAIN_ID},
        refuses=(({"jar_address": place_on(LOCAL_CHAIN_ID).releaser}, "JAR_NOT_FOUND"),),
    ),
)

"""The bond on the shelf: a valuer counts claims and parts of the pool, and coupons as nothing."""

from __future__ import annotations

from typing import Any

from tools_app.standards.dated_claim_values import AVERAGE_SECONDS
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef, Valuer

from .addresses import deployments
from .effects import BondEffects
from .positions import NAME, BondExits, BondPositions


def _ask_bond(chain_id: int) -> Reads[tuple[Any, ...]]:
    yield []
    return ((deployments(chain_id) or {})["bond"], AVERAGE_SECONDS)


_CALLS = (
    "function buy(uint256,uint256)",
    "function sell(uint256,uint256)",
    "function redeem(uint256)",
    "function buyCoupons(uint256,uint256)",
    "function sellCoupons(uint256,uint256)",
    "function part(uint256)",
)

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up bond",
    deployments=deployments,
    entry="bond",
    contracts=(Contract("bond", "The made-up bond", _CALLS, "bond", takes_tokens=True),),
    valuers=(
        Valuer(
            subject="bond",
            code="MadeUpBondValuer",
            constructor="constructor(address bond_, uint256 window_)",
            arguments=_ask_bond,
            views=("function bond() view returns (address)", "function window() view returns (uint256)"),
        ),
    ),
    positions=BondPositions(),
    exits=BondExits(),
    leaving=tuple(LeavingCall("bond", _CALLS[index]) for index in (1, 2, 4, 5)),
    effects=BondEffects(),
    simulated_on=frozenset({31337}),
    errors=("error NotReady(uint256 oldest, uint256 wanted)", "error TooLittle(uint256 given, uint256 least)"),
)

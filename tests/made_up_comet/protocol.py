"""The comet on the shelf. What leaves it is said with its conditions: the same calls borrow and put in as well."""

from __future__ import annotations

from tools_app.toolkit.exit_conditions import AtMostHeld, AtMostOwed, Everything, IsContract, WhileOwed
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef, Trait

from .addresses import deployments
from .effects import SUPPLY, WITHDRAW, CometEffects
from .positions import NAME, CometExits, CometPositions

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up comet",
    deployments=deployments,
    entry="comet",
    contracts=(Contract("comet", "The made-up comet", (SUPPLY, WITHDRAW), NOT_UNDER_A_CAGE, takes_tokens=True),),
    positions=CometPositions(),
    exits=CometExits(),
    leaving=(
        LeavingCall("comet", WITHDRAW, only=(IsContract((0,), ("base",)), Everything((1,)))),
        LeavingCall("comet", WITHDRAW, only=(AtMostHeld(amount=(1,), token=(0,)),)),
        LeavingCall("comet", SUPPLY, only=(IsContract((0,), ("base",)), Everything((1,)), WhileOwed(token=(0,)))),
        LeavingCall("comet", SUPPLY, only=(AtMostOwed(amount=(1,), token=(0,)),)),
    ),
    effects=CometEffects(),
    traits=frozenset({Trait.LEVERAGE}),
    uncaged="nobody wrote a valuer of it",
    no_lending="its debts are for tests of leaving alone",
    simulated_on=frozenset({31337}),
    errors=("error TooMuchDebt(uint256 cover, uint256 debt)",),
)

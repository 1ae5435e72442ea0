"""Compound V3 as the product knows it. What leaves it is said with its conditions: the same calls borrow and lend."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.compound_v3 import signatures
from tools_app.protocols.compound_v3.addresses import COMETS, LOCAL_CHAIN_ID, NAME, REWARDS, deployments
from tools_app.protocols.compound_v3.effects import EFFECTS
from tools_app.protocols.compound_v3.lending import CometLending
from tools_app.protocols.compound_v3.positions import CometExits, CometPositions
from tools_app.toolkit.exit_conditions import AtMostHeld, AtMostOwed, Everything, IsContract, WhileOwed
from tools_app.toolkit.protocol import (
    NOT_UNDER_A_CAGE,
    NOTHING_HELD,
    AskedRight,
    Contract,
    LeavingCall,
    ProtocolDef,
    Trait,
)

_SUPPLY: Final = "function supply(address,uint256)"
_WITHDRAW: Final = "function withdraw(address,uint256)"
_CLAIM: Final = "function claim(address,address,bool)"
_ALLOW: Final = "function allow(address,bool)"
_IS_ALLOWED: Final = "function isAllowed(address,address) view returns (bool)"


def _ask_right(account: str, given: tuple[object, ...]) -> tuple[str, tuple[object, ...]]:
    return _IS_ALLOWED, (account, given[0])


PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Compound V3",
    deployments=deployments,
    entry="comet_usdc",
    contracts=(
        *(
            Contract(
                key,
                f"Compound V3 {symbol}",
                (_SUPPLY, _WITHDRAW),
                NOT_UNDER_A_CAGE,
                takes_tokens=True,
                tokens={_SUPPLY: ((0,),), _WITHDRAW: ((0,),)},
            )
            for key, symbol in COMETS.items()
        ),
        Contract(REWARDS, "Compound V3 rewards", (_CLAIM,), NOTHING_HELD, own={_CLAIM: ((1,),)}),
    ),
    has_doors=True,
    positions=CometPositions(),
    exits=CometExits(),
    leaving=(
        *(
            leaving
            for key in COMETS
            for leaving in (
                # All that is lent there, which borrows nothing; and so much of anything as is there.
                LeavingCall(key, _WITHDRAW, only=(Everything((1,)),)),
                LeavingCall(key, _WITHDRAW, only=(AtMostHeld(amount=(1,), token=(0,)),)),
                LeavingCall(key, _SUPPLY, only=(Everything((1,)), WhileOwed(token=(0,)))),
                LeavingCall(key, _SUPPLY, only=(AtMostOwed(amount=(1,), token=(0,)),)),
            )
        ),
        LeavingCall(REWARDS, _CLAIM, own=((1,),), only=(IsContract((0,), tuple(COMETS)),)),
    ),
    effects=EFFECTS,
    lending=CometLending(),
    listed_as=("compound-v3",),
    asked_rights=tuple(
        AskedRight(
            key=key,
            gives=_ALLOW,
            taker=0,
            asks=_ask_right,
            ends=_ALLOW,
            end=lambda given: (given[0], False),
            label=f"may take out and borrow in the {symbol} market of Compound V3",
        )
        for key, symbol in COMETS.items()
    ),
    traits=frozenset({Trait.LEVERAGE}),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=signatures.EVENTS,
    errors=signatures.ERRORS,
    uncaged=(
        "the same call takes out for who lends and borrows for who has collateral, and what covers a debt counts at the"
        " market's own feeds: no valuer of loans reads a market that has neither tokens of deposits nor of debts"
    ),
)

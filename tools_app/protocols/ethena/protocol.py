"""Ethena as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.ethena.addresses import LOCAL_CHAIN_ID, NAME, SUSDE, deployments
from tools_app.protocols.ethena.cage_valuer import VALUER
from tools_app.protocols.ethena.effects import EFFECTS
from tools_app.protocols.ethena.positions import StakedExits, StakedPositions
from tools_app.protocols.ethena.reads import REWARDS
from tools_app.protocols.ethena.yields import list_yields
from tools_app.standards.erc4626 import DEPOSIT_EVENT, WITHDRAW_EVENT
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef, Trait

_DEPOSIT: Final = "function deposit(uint256,address)"
_REDEEM: Final = "function redeem(uint256,address,address)"
_COOL: Final = "function cooldownShares(uint256)"
_CLAIM: Final = "function unstake(address)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Ethena",
    deployments=deployments,
    entry=SUSDE,
    contracts=(
        Contract(
            SUSDE,
            "Ethena sUSDe",
            (_DEPOSIT, _REDEEM, _COOL, _CLAIM),
            takes_tokens=True,
            valued_at=SUSDE,
            is_token=True,
            own={_DEPOSIT: ((1,),), _REDEEM: ((1,), (2,)), _CLAIM: ((0,),)},
        ),
    ),
    valuers=(VALUER,),
    positions=StakedPositions(),
    exits=StakedExits(),
    # What cools down is the account's own.
    leaving=(
        LeavingCall(SUSDE, _COOL),
        LeavingCall(SUSDE, _CLAIM, own=((0,),)),
        LeavingCall(SUSDE, _REDEEM, own=((1,), (2,))),
    ),
    effects=EFFECTS,
    yields=list_yields,
    listed_as=("ethena-usde",),
    traits=frozenset({Trait.ASYNC}),
    issues=(SUSDE, "USDe"),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(DEPOSIT_EVENT, WITHDRAW_EVENT, REWARDS),
    errors=(
        "error InvalidAmount()",
        "error OperationNotAllowed()",
        "error MinSharesViolation()",
        "error InvalidCooldown()",
        "error ExcessiveWithdrawAmount()",
        "error ExcessiveRedeemAmount()",
    ),
)

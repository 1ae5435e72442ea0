"""Morpho Blue as the product knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.protocols.morpho_blue import plans
from tools_app.protocols.morpho_blue.addresses import MORPHO, NAME, deployments
from tools_app.protocols.morpho_blue.cage_valuer import VALUER
from tools_app.protocols.morpho_blue.effects import ROWS
from tools_app.protocols.morpho_blue.lending import FLASH_LOAN, MorphoLending
from tools_app.protocols.morpho_blue.positions import MorphoExits, MorphoPositions, trails
from tools_app.standards.call_table import CallTable
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef, RightEvent, Trait

_PARAMS: Final = "(address,address,address,address,uint256)"
_OWN: Final[Mapping[str, tuple[tuple[int, ...], ...]]] = {
    f"supply({_PARAMS},uint256,uint256,address,bytes)": ((3,),),
    f"withdraw({_PARAMS},uint256,uint256,address,address)": ((3,), (4,)),
    f"borrow({_PARAMS},uint256,uint256,address,address)": ((3,), (4,)),
    f"repay({_PARAMS},uint256,uint256,address,bytes)": ((3,),),
    f"supplyCollateral({_PARAMS},uint256,address,bytes)": ((2,),),
    f"withdrawCollateral({_PARAMS},uint256,address,address)": ((2,), (3,)),
}
_LIQUIDATE: Final = f"liquidate({_PARAMS},address,uint256,uint256,bytes)"
_EMPTY: Final[Mapping[str, tuple[tuple[int, ...], ...]]] = {
    f"supply({_PARAMS},uint256,uint256,address,bytes)": ((4,),),
    f"repay({_PARAMS},uint256,uint256,address,bytes)": ((4,),),
    f"supplyCollateral({_PARAMS},uint256,address,bytes)": ((3,),),
    _LIQUIDATE: ((4,),),
}
_EVENTS: Final = (
    "event Supply(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets,"
    " uint256 shares)",
    "event Withdraw(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver,"
    " uint256 assets, uint256 shares)",
    "event Borrow(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver,"
    " uint256 assets, uint256 shares)",
    "event Repay(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets, uint256 shares)",
    "event SupplyCollateral(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets)",
    "event WithdrawCollateral(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver,"
    " uint256 assets)",
    "event Liquidate(bytes32 indexed id, address indexed caller, address indexed borrower, uint256 repaidAssets,"
    " uint256 repaidShares, uint256 seizedAssets, uint256 badDebtAssets, uint256 badDebtShares)",
    "event AccrueInterest(bytes32 indexed id, uint256 prevBorrowRate, uint256 interest, uint256 feeShares)",
    "event SetAuthorization(address indexed caller, address indexed authorizer, address indexed authorized,"
    " bool newIsAuthorized)",
)


def take_back(contract: str, taker: str, token: str | None) -> tuple[str, tuple[object, ...]]:
    """The call that ends an authorization."""
    return "function setAuthorization(address authorized, bool newIsAuthorized)", (taker, False)


PROTOCOL = ProtocolDef(
    name=NAME,
    label="Morpho Blue",
    deployments=deployments,
    entry=MORPHO,
    contracts=(
        Contract(
            key=MORPHO,
            label="Morpho",
            functions=(*_OWN, _LIQUIDATE, "setAuthorization(address,bool)"),
            besides=(FLASH_LOAN,),
            own=_OWN,
            tokens=dict.fromkeys((*_OWN, _LIQUIDATE), ((0, 0), (0, 1))),
            empty=_EMPTY,
            takes_tokens=True,
            valued_at=MORPHO,
        ),
    ),
    valuers=(VALUER,),
    positions=MorphoPositions(),
    exits=MorphoExits(),
    leaving=(
        LeavingCall(MORPHO, plans.REPAY, own=((3,),)),
        LeavingCall(MORPHO, plans.WITHDRAW, own=((3,), (4,))),
        LeavingCall(MORPHO, plans.RELEASE, own=((2,), (3,))),
    ),
    effects=CallTable(NAME, deployments, {(MORPHO, signature): says for signature, says in ROWS.items()}),
    lending=MorphoLending(),
    listed_as=("morpho-v1", "morpho-blue"),
    rights=(
        RightEvent(
            signature=_EVENTS[-1],
            giver=1,
            taker=2,
            amount=3,
            revoke=take_back,
            label="may act on every Morpho position of the account",
        ),
    ),
    trails=trails,
    traits=frozenset({Trait.LEVERAGE}),
    events=_EVENTS,
)

"""EigenLayer as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.eigenlayer import plans
from tools_app.protocols.eigenlayer.addresses import DELEGATION, DEPOSITS, LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.eigenlayer.effects import EFFECTS
from tools_app.protocols.eigenlayer.operators import DELEGATED, OPERATOR_SLASHED, SERVICE_NAMED
from tools_app.protocols.eigenlayer.positions import RestakedExits, RestakedPositions
from tools_app.protocols.eigenlayer.reads import SHARES_DEPOSITED, WITHDRAWAL_QUEUED
from tools_app.protocols.eigenlayer.yields import list_yields
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef, Trait

_DEPOSIT: Final = "function depositIntoStrategy(address,address,uint256)"
_DELEGATE: Final = "function delegateTo(address,(bytes,uint256),bytes32)"
_REDELEGATE: Final = "function redelegate(address,(bytes,uint256),bytes32)"
_UNDELEGATE: Final = "function undelegate(address)"
_QUEUE: Final = "function queueWithdrawals((address[],uint256[],address)[])"
_COMPLETE: Final = (
    "function completeQueuedWithdrawal((address,address,address,uint256,uint32,address[],uint256[]),address[],bool)"
)

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="EigenLayer",
    deployments=deployments,
    entry=DELEGATION,
    contracts=(
        Contract(
            DEPOSITS,
            "EigenLayer deposits",
            (_DEPOSIT,),
            valued_at=NOT_UNDER_A_CAGE,
            takes_tokens=True,
            tokens={_DEPOSIT: ((1,),)},
        ),
        Contract(
            DELEGATION,
            "EigenLayer delegation",
            (_DELEGATE, _REDELEGATE, _UNDELEGATE, _QUEUE, _COMPLETE),
            valued_at=NOT_UNDER_A_CAGE,
            own={_UNDELEGATE: ((0,),), _COMPLETE: ((0, 0), (0, 2))},
        ),
    ),
    positions=RestakedPositions(),
    exits=RestakedExits(),
    # The contract refuses a withdrawer who is not the caller, and a withdrawal that is not the caller's.
    leaving=(
        LeavingCall(DELEGATION, plans.UNDELEGATE, own=((0,),)),
        LeavingCall(DELEGATION, plans.QUEUE),
        LeavingCall(DELEGATION, plans.COMPLETE, own=((0, 0), (0, 2))),
    ),
    effects=EFFECTS,
    yields=list_yields,
    traits=frozenset({Trait.ASYNC}),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(SHARES_DEPOSITED, WITHDRAWAL_QUEUED, DELEGATED, OPERATOR_SLASHED, SERVICE_NAMED),
    errors=(
        "error CurrentlyPaused()",
        "error ActivelyDelegated()",
        "error NotActivelyDelegated()",
        "error OperatorNotRegistered()",
        "error OperatorsCannotUndelegate()",
        "error CallerCannotUndelegate()",
        "error FullySlashed()",
        "error WithdrawalDelayNotElapsed()",
        "error WithdrawalNotQueued()",
        "error WithdrawerNotCaller()",
        "error StrategyNotWhitelisted()",
        "error SharesAmountTooHigh()",
    ),
    uncaged=(
        "what shares of a strategy stand for does not fall with a slash, what can be withdrawn does, and what waits in"
        " the queue is in no balance: a valuer of shares would count what is gone and miss what is there"
    ),
)

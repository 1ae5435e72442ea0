"""Liquid restaking as the product knows it: ether.fi, Kelp and Renzo, one by one issuers of a token for ether."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.liquid_restaking import etherfi, kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.liquid_restaking.effects import EFFECTS
from tools_app.protocols.liquid_restaking.history import IssuerRates
from tools_app.protocols.liquid_restaking.positions import (
    RestakedEtherExits,
    RestakedEtherPositions,
    is_only_in_logs,
    list_trails,
)
from tools_app.protocols.liquid_restaking.yields import list_yields
from tools_app.standards.erc721_approvals import describe_item_rights
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef, Trait

_ASK_ETHERFI: Final = "function requestWithdraw(address,uint256)"
_REDEEM_ETHERFI: Final = "function redeemWeEth(uint256,address,address)"
_ASK_KELP: Final = "function initiateWithdrawal(address,uint256,string)"
_CLAIM_KELP: Final = "function completeWithdrawal(address,string)"
_REDEEM_KELP: Final = "function instantWithdrawal(address,uint256,string)"
_ASK_RENZO: Final = "function withdraw(uint256,address)"
_CLAIM_RENZO: Final = "function claim(uint256,address)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Liquid restaking",
    deployments=deployments,
    entry="weeth",
    contracts=(
        Contract("etherfi_adapter", "ether.fi deposits", ("function depositETHForWeETH(address)",), NOT_UNDER_A_CAGE),
        Contract("weeth", "ether.fi weETH", ("function unwrap(uint256)",), NOT_UNDER_A_CAGE, is_token=True),
        Contract("eeth", "ether.fi eETH", (), NOT_UNDER_A_CAGE, is_token=True),
        Contract(
            "etherfi_pool",
            "ether.fi pool",
            (_ASK_ETHERFI,),
            NOT_UNDER_A_CAGE,
            takes_tokens=True,
            own={_ASK_ETHERFI: ((0,),)},
        ),
        Contract("etherfi_requests", "ether.fi requests", ("function claimWithdraw(uint256)",), NOT_UNDER_A_CAGE),
        Contract(
            "etherfi_redemption",
            "ether.fi redemption",
            (_REDEEM_ETHERFI,),
            NOT_UNDER_A_CAGE,
            takes_tokens=True,
            own={_REDEEM_ETHERFI: ((1,),)},
        ),
        Contract("kelp_pool", "Kelp deposits", ("function depositETH(uint256,string)",), NOT_UNDER_A_CAGE),
        Contract("rseth", "Kelp rsETH", (), NOT_UNDER_A_CAGE, is_token=True),
        Contract(
            "kelp_withdrawals",
            "Kelp withdrawals",
            (_ASK_KELP, _CLAIM_KELP, _REDEEM_KELP),
            NOT_UNDER_A_CAGE,
            takes_tokens=True,
        ),
        Contract("renzo_manager", "Renzo deposits", ("function depositETH(uint256)",), NOT_UNDER_A_CAGE),
        Contract("ezeth", "Renzo ezETH", (), NOT_UNDER_A_CAGE, is_token=True),
        Contract(
            "renzo_queue",
            "Renzo withdrawals",
            (_ASK_RENZO, _CLAIM_RENZO),
            NOT_UNDER_A_CAGE,
            takes_tokens=True,
            own={_CLAIM_RENZO: ((1,),)},
        ),
    ),
    positions=RestakedEtherPositions(),
    exits=RestakedEtherExits(),
    # Kelp and Renzo take only what is the caller's own and pay the caller.
    leaving=(
        LeavingCall("weeth", "function unwrap(uint256)"),
        LeavingCall("etherfi_pool", _ASK_ETHERFI, own=((0,),)),
        LeavingCall("etherfi_requests", "function claimWithdraw(uint256)"),
        LeavingCall("etherfi_redemption", _REDEEM_ETHERFI, own=((1,),)),
        LeavingCall("kelp_withdrawals", _ASK_KELP),
        LeavingCall("kelp_withdrawals", _CLAIM_KELP),
        LeavingCall("kelp_withdrawals", _REDEEM_KELP),
        LeavingCall("renzo_queue", _ASK_RENZO),
        LeavingCall("renzo_queue", _CLAIM_RENZO, own=((1,),)),
    ),
    effects=EFFECTS,
    yields=list_yields,
    listed_as=("ether.fi-stake", "kelp", "renzo"),
    rates=IssuerRates(),
    rights=describe_item_rights(
        "etherfi_requests", one="may move a withdrawal request", every="may move every withdrawal request"
    ),
    traits=frozenset({Trait.ASYNC}),
    trails=list_trails,
    is_only_in_logs=is_only_in_logs,
    issues=("weeth", "eeth", "rseth", "ezeth"),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(etherfi.REBASED, etherfi.CREATED, kelp.PRICED, kelp.QUEUED, renzo.DEPOSITED, renzo.CREATED),
    errors=(
        "error InvalidAmountToWithdraw()",
        "error ExceedAmountToWithdraw()",
        "error WithdrawalLocked()",
        "error CantInstantWithdrawMoreThanAvailable()",
        "error MinimumAmountToReceiveNotMet()",
        "error MaximumDepositLimitReached()",
        "error EarlyClaim()",
        "error QueuedWithdrawalNotFilled()",
        "error InvalidWithdrawIndex()",
        "error MaxTVLReached()",
    ),
    uncaged=(
        "what is asked back is in no balance of the issuer's token while it waits, and a slash makes less of it before"
        " it is paid: a valuer of balances would count a request as a loss, and one of what was asked for too much"
    ),
)

"""Everything the product knows of Lido, as one value."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.lido import plans
from tools_app.protocols.lido.addresses import LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.lido.cage_valuer import VALUER
from tools_app.protocols.lido.effects import EFFECTS
from tools_app.protocols.lido.history import ShareRate
from tools_app.protocols.lido.positions import LidoExits, LidoPositions
from tools_app.protocols.lido.yields import list_yields
from tools_app.standards.erc721_approvals import describe_item_rights
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef, Trait

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Lido",
    deployments=deployments,
    entry="steth",
    contracts=(
        Contract(
            "steth",
            "Lido stETH",
            ("function submit(address)", "function approve(address,uint256)"),
            valued_at="steth",
            is_token=True,
        ),
        Contract(
            "wsteth",
            "Lido wstETH",
            ("function wrap(uint256)", "function unwrap(uint256)", "function approve(address,uint256)"),
            takes_tokens=True,
            valued_at="steth",
            is_token=True,
        ),
        Contract(
            "queue",
            "Lido withdrawal queue",
            (
                "function requestWithdrawals(uint256[],address)",
                "function requestWithdrawalsWstETH(uint256[],address)",
                "function claimWithdrawals(uint256[],uint256[])",
            ),
            takes_tokens=True,
            valued_at="steth",
            own={
                "function requestWithdrawals(uint256[],address)": ((1,),),
                "function requestWithdrawalsWstETH(uint256[],address)": ((1,),),
            },
        ),
    ),
    valuers=(VALUER,),
    positions=LidoPositions(),
    exits=LidoExits(),
    leaving=(
        LeavingCall("wsteth", plans.UNWRAP),
        LeavingCall("queue", plans.REQUEST_STETH, own=((1,),)),
        LeavingCall("queue", plans.REQUEST_WSTETH, own=((1,),)),
        LeavingCall("queue", plans.CLAIM),
    ),
    effects=EFFECTS,
    yields=list_yields,
    rates=ShareRate(),
    listed_as=("lido",),
    rights=describe_item_rights(
        "queue", one="may move a withdrawal request", every="may move every withdrawal request"
    ),
    traits=frozenset({Trait.ASYNC}),
    issues=("steth", "wsteth"),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(
        "event Submitted(address indexed sender, uint256 amount, address referral)",
        "event TransferShares(address indexed from, address indexed to, uint256 sharesValue)",
        "event TokenRebased(uint256 indexed reportTimestamp, uint256 timeElapsed, uint256 preTotalShares,"
        " uint256 preTotalEther, uint256 postTotalShares, uint256 postTotalEther, uint256 sharesMintedAsFees)",
        "event WithdrawalRequested(uint256 indexed requestId, address indexed requestor, address indexed owner,"
        " uint256 amountOfStETH, uint256 amountOfShares)",
        "event WithdrawalsFinalized(uint256 indexed from, uint256 indexed to, uint256 amountOfETHLocked,"
        " uint256 sharesToBurn, uint256 timestamp)",
        "event WithdrawalClaimed(uint256 indexed requestId, address indexed owner, address indexed receiver,"
        " uint256 amountOfETH)",
    ),
    errors=(
        "error RequestAmountTooSmall(uint256 amountOfStETH)",
        "error RequestAmountTooLarge(uint256 amountOfStETH)",
        "error RequestNotFoundOrNotFinalized(uint256 requestId)",
        "error RequestAlreadyClaimed(uint256 requestId)",
        "error InvalidRequestId(uint256 requestId)",
        "error InvalidHint(uint256 hint)",
        "error NotOwner(address sender, address owner)",
        "error ResumedExpected()",
        "error CantSendValueRecipientMayHaveReverted()",
    ),
)
"""Approvals of stETH and wstETH are those of any token; rights over requests are those of any NFT."""

"""Maker as the product knows it."""

from __future__ import annotations

from tools_app.protocols.maker_sky.addresses import LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.maker_sky.cage_valuer import VALUER
from tools_app.protocols.maker_sky.effects import EFFECTS
from tools_app.protocols.maker_sky.lending import MakerLending
from tools_app.protocols.maker_sky.positions import NEW_CDP, MakerExits, MakerPositions
from tools_app.protocols.maker_sky.reads import CDP_CAN, VAT_CAN, ask_contracts
from tools_app.protocols.maker_sky.signatures import CDP_ALLOW, HOPE, NOPE
from tools_app.toolkit.protocol import NOTHING_HELD, AskedRight, Contract, LeavingCall, ProtocolDef, Trait

_JOIN = ("join(address,uint256)", "exit(address,uint256)")
_EXIT = {"exit(address,uint256)": ((0,),)}

_HOPE = AskedRight(
    "vat",
    gives=HOPE,
    taker=0,
    asks=lambda account, arguments: (VAT_CAN, (account, arguments[0])),
    ends=NOPE,
    end=lambda arguments: arguments,
    label="may move the account's DAI and collateral inside Maker",
    known=ask_contracts,
)
_CDP_ALLOW = AskedRight(
    "cdp_manager",
    gives=CDP_ALLOW,
    taker=1,
    asks=lambda account, arguments: (CDP_CAN, (account, *arguments[:2])),
    ends=CDP_ALLOW,
    end=lambda arguments: (*arguments[:2], 0),
    label="may act on a Maker vault of the account",
)

PROTOCOL = ProtocolDef(
    name=NAME,
    label="Maker",
    deployments=deployments,
    entry="cdp_manager",
    contracts=(
        Contract(
            "cdp_manager",
            "Maker vault manager",
            (
                "open(bytes32,address)",
                "frob(uint256,int256,int256)",
                "flux(uint256,address,uint256)",
                "move(uint256,address,uint256)",
            ),
            valued_at="cdp_manager",
            own=dict.fromkeys(
                ("open(bytes32,address)", "flux(uint256,address,uint256)", "move(uint256,address,uint256)"), ((1,),)
            ),
        ),
        Contract("vat", "Maker ledger", ("hope(address)", "nope(address)"), NOTHING_HELD),
        Contract("jug", "Maker fees", ("drip(bytes32)",), NOTHING_HELD),
        Contract("join_dai", "Maker DAI adapter", _JOIN, takes_tokens=True, valued_at="cdp_manager", own=_EXIT),
        Contract("join_eth_a", "Maker ETH-A adapter", _JOIN, takes_tokens=True, valued_at="cdp_manager", own=_EXIT),
        Contract("join_eth_b", "Maker ETH-B adapter", _JOIN, takes_tokens=True, valued_at="cdp_manager", own=_EXIT),
        Contract("join_eth_c", "Maker ETH-C adapter", _JOIN, takes_tokens=True, valued_at="cdp_manager", own=_EXIT),
    ),
    valuers=(VALUER,),
    positions=MakerPositions(),
    exits=MakerExits(),
    # DAI goes into a vault by the address of its urn, which no bytes tell whose it is: that the account's own debt
    # shrinks by it is measured by hook 5.
    leaving=(
        LeavingCall("jug", "function drip(bytes32)"),
        LeavingCall("join_dai", "function join(address,uint256)"),
        LeavingCall("cdp_manager", "function frob(uint256,int256,int256)", never_up=((1,), (2,))),
        LeavingCall("cdp_manager", "function flux(uint256,address,uint256)", own=((1,),)),
        *(LeavingCall(f"join_eth_{each}", "function exit(address,uint256)", own=((0,),)) for each in "abc"),
    ),
    effects=EFFECTS,
    asked_rights=(_HOPE, _CDP_ALLOW),
    lending=MakerLending(),
    traits=frozenset({Trait.LEVERAGE}),
    issues=("DAI", "USDS"),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(NEW_CDP,),
)

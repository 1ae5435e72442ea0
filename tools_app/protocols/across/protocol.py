"""Across as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.across.addresses import NAME, SPOKE, deployments
from tools_app.protocols.across.effects import SpokePoolEffects
from tools_app.protocols.across.positions import TransferExits, TransferPositions
from tools_app.protocols.across.transfers import DEPOSITED, FILLED
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, ProtocolDef, Trait

_DEPOSIT: Final = (
    "function deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)"
)

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Across",
    deployments=deployments,
    entry=SPOKE,
    contracts=(Contract(SPOKE, "Across spoke pool", (_DEPOSIT,), NOT_UNDER_A_CAGE, takes_tokens=True),),
    positions=TransferPositions(),
    exits=TransferExits(),
    effects=SpokePoolEffects(),
    traits=frozenset({Trait.ASYNC, Trait.CROSS_CHAIN}),
    uncaged="what is on its way lies on no chain that a valuer could ask",
    events=(DEPOSITED, FILLED),
    errors=(
        "error DepositsArePaused()",
        "error FillsArePaused()",
        "error InvalidQuoteTimestamp()",
        "error InvalidFillDeadline()",
        "error ExpiredFillDeadline()",
        "error InvalidOutputToken()",
        "error RelayFilled()",
    ),
)

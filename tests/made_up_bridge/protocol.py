"""The bridge on the shelf."""

from __future__ import annotations

from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, ProtocolDef, Trait

from .addresses import deployments
from .effects import BridgeEffects
from .positions import NAME, SENT, BridgeExits, BridgePositions

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up bridge",
    deployments=deployments,
    entry="bridge",
    contracts=(
        Contract(
            "bridge",
            "The made-up bridge",
            ("function send(address,uint256,uint256,address,uint256,address,uint256)",),
            NOT_UNDER_A_CAGE,
            takes_tokens=True,
        ),
    ),
    positions=BridgePositions(),
    exits=BridgeExits(),
    effects=BridgeEffects(),
    traits=frozenset({Trait.ASYNC, Trait.CROSS_CHAIN}),
    uncaged="what is on its way lies on no chain that a valuer could ask",
    simulated_on=frozenset({31337, 31338}),
    events=(SENT,),
)

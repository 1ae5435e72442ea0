"""The keepers on the shelf."""

from __future__ import annotations

from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef, Trait

from .addresses import deployments
from .effects import KeeperEffects
from .positions import NAME, KeeperExits, KeeperOrders, KeeperPositions

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up keepers",
    deployments=deployments,
    entry="keeper",
    contracts=(
        Contract(
            "keeper",
            "The made-up keepers",
            (
                "function place(uint256,uint256,uint256,address)",
                "function cancel(uint256)",
                "function close(uint256)",
            ),
            NOT_UNDER_A_CAGE,
            takes_tokens=True,
        ),
    ),
    positions=KeeperPositions(),
    exits=KeeperExits(),
    orders=KeeperOrders(),
    leaving=tuple(LeavingCall("keeper", f"function {name}(uint256)") for name in ("cancel", "close")),
    effects=KeeperEffects(),
    traits=frozenset({Trait.ASYNC}),
    uncaged="what an order becomes is up to its keeper",
    simulated_on=frozenset({31337}),
)

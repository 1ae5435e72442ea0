"""The made-up pools on the shelf."""

from __future__ import annotations

from tools_app.toolkit.protocol import NOTHING_HELD, Contract, ProtocolDef, Trait

from .addresses import NAME, deployments
from .effects import PoolsEffects
from .markets import MadeUpMarkets

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up pools",
    deployments=deployments,
    entry="manager",
    contracts=(
        Contract(
            "manager",
            "The made-up pools",
            ("function trade(bytes32,bool,uint256,uint256)",),
            NOTHING_HELD,
            takes_tokens=True,
            runs_hooks=True,
        ),
    ),
    effects=PoolsEffects(),
    markets=MadeUpMarkets(),
    traits=frozenset({Trait.HOOKS}),
    simulated_on=frozenset({31337}),
    errors=("error TooLittle(uint256 least, uint256 got)",),
)

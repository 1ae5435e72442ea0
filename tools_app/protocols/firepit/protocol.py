"""The jar of fees as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.firepit.addresses import LABEL, LOCAL_CHAIN_ID, NAME, RELEASER, deployments
from tools_app.protocols.firepit.effects import JarEffects
from tools_app.protocols.firepit.jars import FeeJars
from tools_app.protocols.firepit.tools import RELEASED
from tools_app.toolkit.protocol import NOTHING_HELD, Contract, ProtocolDef

_RELEASE: Final = "function release(uint256,address[],address)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label=LABEL,
    deployments=deployments,
    entry=RELEASER,
    contracts=(
        Contract(
            RELEASER,
            "Uniswap's releaser of fees",
            (_RELEASE,),
            takes_tokens=True,
            valued_at=NOTHING_HELD,
            own={_RELEASE: ((2,),)},
        ),
    ),
    effects=JarEffects(),
    jars=FeeJars(),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(RELEASED,),
    errors=("error InvalidNonce()", "error TooManyAssets()"),
)

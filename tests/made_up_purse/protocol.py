"""The purse on the shelf."""

from __future__ import annotations

from tools_app.toolkit.protocol import NOTHING_HELD, Contract, ProtocolDef

from .addresses import deployments
from .effects import DRAW, PurseEffects
from .received import PurseRights
from .tools import NAME

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up purse",
    deployments=deployments,
    entry="purse",
    contracts=(Contract("purse", "The made-up purse", (DRAW,), NOTHING_HELD),),
    effects=PurseEffects(),
    received=PurseRights(),
    simulated_on=frozenset({31337}),
)

"""The cards on the shelf."""

from __future__ import annotations

from tools_app.toolkit.protocol import NOTHING_HELD, Contract, ProtocolDef

from .addresses import deployments
from .effects import GIVE, CardEffects
from .tools import NAME

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up cards",
    deployments=deployments,
    entry="cards",
    contracts=(Contract("cards", "The made-up cards", (GIVE,), NOTHING_HELD),),
    effects=CardEffects(),
    simulated_on=frozenset({31337}),
)

"""SushiBar as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.sushi_bar.addresses import ENTRY, NAME, deployments
from tools_app.protocols.sushi_bar.cage_valuer import VALUER
from tools_app.protocols.sushi_bar.effects import EFFECTS
from tools_app.protocols.sushi_bar.positions import BarExits, BarPositions
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef

_LEAVE: Final = "function leave(uint256)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="SushiBar",
    deployments=deployments,
    entry=ENTRY,
    contracts=(Contract(ENTRY, "SushiBar", ("function enter(uint256)", _LEAVE), takes_tokens=True, valued_at=ENTRY),),
    valuers=(VALUER,),
    positions=BarPositions(),
    exits=BarExits(),
    # What is given back comes to who gives it.
    leaving=(LeavingCall(ENTRY, _LEAVE),),
    effects=EFFECTS,
)

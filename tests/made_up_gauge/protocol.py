"""The gauge on the shelf. Nobody wrote a valuer of it, so no cage may call it."""

from __future__ import annotations

from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef

from .addresses import deployments
from .effects import EFFECTS
from .positions import NAME, GaugeExits, GaugePositions

_CALLS = ("function deposit(uint256)", "function withdraw(uint256)", "function claim()")

PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up gauge",
    deployments=deployments,
    entry="gauge",
    contracts=(Contract("gauge", "The made-up gauge", _CALLS, NOT_UNDER_A_CAGE, takes_tokens=True),),
    positions=GaugePositions(),
    exits=GaugeExits(),
    leaving=(LeavingCall("gauge", _CALLS[1]), LeavingCall("gauge", _CALLS[2])),
    effects=EFFECTS,
    simulated_on=frozenset({31337}),
    uncaged="what lies in the gauge is told by nobody but the gauge",
)

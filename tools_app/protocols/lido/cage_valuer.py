"""Describes how a cage's valuer of what is staked at Lido is made: stETH, wstETH and places in the queue are one
position.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.lido.addresses import contracts_on
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Valuer


def _ask(chain_id: int) -> Reads[AbiValues]:
    yield []
    place = contracts_on(chain_id)
    if place is None:
        raise ValueError(f"Lido is not deployed on chain {chain_id}")
    return place.steth, place.wsteth, place.queue


VALUER: Final = Valuer(
    subject="steth",
    code="StakeValuer",
    constructor="constructor(address stETH_, address wstETH_, address queue_)",
    arguments=_ask,
    views=(
        "function stETH() view returns (address)",
        "function wstETH() view returns (address)",
        "function queue() view returns (address)",
    ),
)

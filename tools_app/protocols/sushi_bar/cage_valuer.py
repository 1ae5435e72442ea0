"""Describes how a cage counts shares of the bar: by what lies in it, as the bar pays them."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.sushi_bar.addresses import ENTRY, place_on
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Valuer


def _ask(chain_id: int) -> Reads[AbiValues]:
    yield []
    place = place_on(chain_id)
    return place.bar, place.token


VALUER: Final = Valuer(
    subject=ENTRY,
    code="PooledShareValuer",
    constructor="constructor(address token_, address underlying_)",
    arguments=_ask,
    views=("function token() view returns (address)", "function underlying() view returns (address)"),
)

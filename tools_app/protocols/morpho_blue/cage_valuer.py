"""Describes how a cage's valuer of an account at Morpho Blue is made: over the markets that are known on the chain."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.morpho_blue.addresses import MORPHO, known_markets
from tools_app.protocols.morpho_blue.reads import address_on, ask_markets
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Valuer


def _ask(chain_id: int) -> Reads[AbiValues]:
    ids = tuple(dict.fromkeys(params.id for params in known_markets(chain_id)))
    markets = yield from ask_markets(chain_id, ids)
    created = [market.id for market in markets if market is not None]
    return address_on(chain_id), [bytes.fromhex(each[2:]) for each in created]


VALUER: Final = Valuer(
    subject=MORPHO,
    code="MarketValuer",
    constructor="constructor(address morpho_, bytes32[] ids)",
    arguments=_ask,
    views=(
        "function morpho() view returns (address)",
        "function listMarkets() view returns (bytes32[])",
    ),
)

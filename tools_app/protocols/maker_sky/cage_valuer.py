"""Describes how a cage's valuer of an account's vaults at Maker is made: over the kinds that are served on the
chain.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.maker_sky.addresses import collateral_types, contracts_at
from tools_app.protocols.maker_sky.positions import tokens_on
from tools_app.protocols.maker_sky.reads import word_of
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Valuer

_PLACES: Final = "(address manager, address ledger, address fees, address dai)"
_KINDS: Final = "(bytes32 ilk, address collateral)[]"


def _ask(chain_id: int) -> Reads[AbiValues]:
    yield []
    place = contracts_at(chain_id)
    collateral, dai = tokens_on(chain_id)
    places = (place.cdp_manager, place.vat, place.jug, dai)
    return places, [(word_of(kind), collateral) for kind in collateral_types(chain_id)]


VALUER: Final = Valuer(
    subject="cdp_manager",
    code="CollateralVaultValuer",
    constructor=f"constructor({_PLACES} places_, {_KINDS} kinds_)",
    arguments=_ask,
    views=(
        f"function places() view returns ({_PLACES})",
        f"function listKinds() view returns ({_KINDS})",
    ),
)

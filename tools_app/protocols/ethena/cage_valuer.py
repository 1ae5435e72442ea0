"""Describes how a cage counts sUSDe and what cools down: at what its contract says they give."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.ethena.addresses import SUSDE, vault_on
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Valuer


def _ask(chain_id: int) -> Reads[AbiValues]:
    yield []
    vault = vault_on(chain_id)
    return vault.address, vault.asset


VALUER: Final = Valuer(
    subject=SUSDE,
    code="CooldownValuer",
    constructor="constructor(address token_, address underlying_)",
    arguments=_ask,
    views=("function token() view returns (address)", "function underlying() view returns (address)"),
)

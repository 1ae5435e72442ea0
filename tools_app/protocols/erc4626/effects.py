"""Reads what calls to known ERC-4626 vaults do from their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.protocols.erc4626.addresses import NAME, find_vault
from tools_app.standards.erc4626 import VaultFamily
from tools_app.standards.erc7540_effects import RequestEffects
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call


class VaultEffects:
    """Reads deposits, mints, withdrawals and redemptions; at a vault by request what is asked for and claimed."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        vault = find_vault(chain.chain_id, call.to)
        if vault is None:
            raise UnknownCall(f"{call.to} is no known vault")
        family = VaultFamily(NAME)
        reader = RequestEffects(family) if vault.by_request else family
        reader.read_effects(call, vault, account, chain, into)

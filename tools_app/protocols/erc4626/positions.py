"""What an account has in known ERC-4626 vaults, and what a call to one of them does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.protocols.erc4626.addresses import NAME, known_vaults
from tools_app.standards.erc4626 import KnownVaults, VaultFamily
from tools_app.toolkit.positions import Act, ExitStep, Position, Stuck, Wait

FAMILY: Final = VaultFamily(NAME)
POSITIONS: Final = KnownVaults(FAMILY, known_vaults)


class VaultExits:
    """Out of a vault: give the shares back, as many as it takes."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Redeem all, or what the vault takes back now."""
        shares, redeemable = int(position.facts["shares"]), int(position.facts["redeemable_shares"])
        if not shares:
            return None
        if not redeemable and position.facts.get("by_request"):
            return Stuck("the vault gives back by request alone: its owner asks for it, waits, and claims it")
        if not redeemable:
            return Wait(None, "the vault takes no shares back now")
        wanted = "max" if redeemable >= shares else str(redeemable)
        params = {"vault": position.ref.id, "shares": wanted, "chain_id": position.ref.chain_id}
        return Act("vault_withdraw", params, "the shares are given back for what they stand for")

"""Reads what an account has in known Yearn V3 vaults, and the way out: shares given back, as many as it gives for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.core.stored_json import read_stored
from tools_app.protocols.yearn.addresses import NAME, known_vaults
from tools_app.standards.erc4626 import KnownVaults, VaultFamily
from tools_app.toolkit.positions import Act, ExitStep, Position, Wait

FAMILY: Final = VaultFamily(NAME)
POSITIONS: Final = KnownVaults(FAMILY, known_vaults)
EXIT_LOSS_BPS: Final = 50
"""What a halt lets a strategy's loss take of what leaves; with more its owner decides."""


@dataclass(frozen=True, slots=True)
class _Facts:
    shares: int
    redeemable_shares: int


class VaultExits:
    """Out of a vault: give the shares back, as many as it has assets for."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Redeem all, or what the vault can give now."""
        facts = read_stored(_Facts, position.facts)
        shares, redeemable = facts.shares, facts.redeemable_shares
        if not shares:
            return None
        if not redeemable:
            return Wait(None, "its strategies cannot give anything back now")
        wanted = "max" if redeemable >= shares else str(redeemable)
        params = {
            "vault": position.ref.id,
            "shares": wanted,
            "max_loss_bps": EXIT_LOSS_BPS,
            "chain_id": position.ref.chain_id,
        }
        return Act("yearn_withdraw", params, "the shares are given back for what they stand for")

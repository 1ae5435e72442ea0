"""What an account has in known ERC-4626 vaults, and what a call to one of them does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tools_app.protocols.erc4626.addresses import NAME, known_vaults
from tools_app.standards.erc4626 import VaultFamily
from tools_app.toolkit.positions import Act, ExitStep, Position, PositionRef, Reads, Wait
from tools_app.toolkit.views import LogEntry

FAMILY: Final = VaultFamily(NAME)


class VaultPositions:
    """Shares at what the vault says they would give."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every known vault in which `account` has shares. Raises PositionsUnreadable."""
        vaults = known_vaults(chain_id)
        return (yield from FAMILY.list_positions(chain_id, account, vaults)) if vaults else ()

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The vaults whose shares came to `account`."""
        return FAMILY.born(chain_id, logs, account, known_vaults(chain_id))


class VaultExits:
    """Out of a vault: give the shares back, as many as it takes."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Redeem all, or what the vault takes back now."""
        shares, redeemable = int(position.facts["shares"]), int(position.facts["redeemable_shares"])
        if not shares:
            return None
        if not redeemable:
            return Wait(None, "the vault takes no shares back now")
        wanted = "max" if redeemable >= shares else str(redeemable)
        params = {"vault": position.ref.id, "shares": wanted, "chain_id": position.ref.chain_id}
        return Act("vault_withdraw", params, "the shares are given back for what they stand for")

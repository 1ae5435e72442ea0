"""What an account has in known ERC-4626 vaults, and what a call to one of them does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.protocols.erc4626.addresses import NAME, known_vaults
from tools_app.standards.erc4626 import VaultFamily
from tools_app.standards.erc7540 import OUT, VaultsWithRequests
from tools_app.standards.erc7540_plans import RequestPlans
from tools_app.toolkit.positions import REQUEST_KIND, Act, ExitStep, Position, Stuck, Wait

FAMILY: Final = VaultFamily(NAME)
REQUESTS: Final = RequestPlans(FAMILY)
POSITIONS: Final = VaultsWithRequests(FAMILY, known_vaults)


class VaultExits:
    """Out of a vault: give the shares back, as many as it takes; where it is asked, ask, wait and claim."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Redeem or ask for all, or what the vault takes back now; take a deposit back that is not settled."""
        if position.is_settled:
            return None
        if position.ref.kind == REQUEST_KIND:
            return _end_request(position)
        shares, redeemable = int(position.facts["shares"]), int(position.facts["redeemable_shares"])
        if not shares:
            return None
        if position.facts.get("is_paused"):
            return Wait(None, "the vault is paused: it takes no request")
        if position.facts.get("is_barred") and not redeemable:
            return Stuck("the vault took the account off its list: only those who run it can let its shares out")
        is_asked = bool(position.facts.get("by_request")) and redeemable < shares
        if not redeemable and not is_asked:
            return Wait(None, "the vault takes no shares back now")
        wanted = "max" if redeemable >= shares or is_asked else str(redeemable)
        params = {"vault": position.ref.id, "shares": wanted, "chain_id": position.ref.chain_id}
        if is_asked:
            return Act("vault_withdraw", params, "the vault is asked for what the shares stand for")
        return Act("vault_withdraw", params, "the shares are given back for what they stand for")


def _end_request(position: Position) -> ExitStep | None:
    facts = position.facts
    if facts["is_paused"]:
        return Wait(None, "the vault is paused: nothing of it is claimed or taken back")
    params = {"vault": facts["vault"], "chain_id": position.ref.chain_id}
    if int(facts["claimable"]):
        return Act("vault_claim_request", {**params, "request": facts["way"]}, "the vault has settled it")
    if facts["way"] == OUT:
        return Wait(None, "the vault has not settled it yet, and nobody but those who run it can")
    return Act("vault_cancel_request", params, "it is not settled, and is taken back", is_early=True)

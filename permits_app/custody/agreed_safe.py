"""Compares a golem's Safe with what its owners agreed to.

Of a cage its mirror keeps it, of any other Safe the wallet. Rows are read here, and nothing is asked of the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from archetypes_app.models import Golem
from permits_app.models import CageMirror, Wallet
from permits_app.models.wallet import SAFES
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.safe_watch import Change, SafeState, list_unagreed
from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.json_types import JsonObject

_HANDLERS: Final = frozenset(
    {
        # Safe's CompatibilityFallbackHandler of 1.3.0 and 1.4.1, at these addresses on every chain that has them.
        "0xf48f2B2d2a534e402487b3ee7C18c33Aec0Fe5e4",
        "0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99",
    }
)


@dataclass(frozen=True, slots=True)
class AgreedSafe:
    """The Safe of a golem: what was seen of it last and what was agreed to, None where nobody looked yet."""

    account: str
    seen: SafeState | None
    noted: SafeState | None
    known: frozenset[str]
    handlers: frozenset[str]

    def list_unagreed(self, state: SafeState) -> list[Change]:
        """What of `state` its owners did not agree to."""
        return list_unagreed(state, self.noted, known=self.known, handlers=self.handlers)

    def list_agreed(self) -> list[str]:
        """Addresses of all that may act for it, or on what it signs, by what its owners agreed to."""
        noted = self.noted
        acts = {*noted.modules, noted.guard, noted.module_guard, noted.handler} if noted is not None else set()
        return sorted({*acts, *self.known} - {ZERO_ADDRESS})


def find_agreed_safe(golem: Golem) -> AgreedSafe | None:
    """Of the account that the golem acts with; None where that is no Safe."""
    wallet: Wallet | None = getattr(golem, "wallet", None)
    if wallet is None or wallet.kind not in SAFES:
        return None
    return find_agreed_of(golem, wallet.address)


def find_agreed_of(golem: Golem, account: str) -> AgreedSafe:
    """Of any Safe whose owners are asked to sign for the golem: also one that it does not act with, or not yet."""
    wallet: Wallet | None = getattr(golem, "wallet", None)
    mirror: CageMirror | None = getattr(getattr(golem, "policy_cage", None), "mirror", None)
    handlers = list_handlers(golem.home_chain_id)
    if mirror is not None and mirror.account == account:
        known = frozenset(one for one in (mirror.contract, mirror.replaced) if one)
        return AgreedSafe(account, _read(mirror.safe), _read(mirror.safe_noted), known, handlers)
    if wallet is not None and wallet.kind in SAFES and wallet.address == account:
        return AgreedSafe(account, _read(wallet.safe), _read(wallet.safe_noted), frozenset(), handlers)
    return AgreedSafe(account, None, None, frozenset(), handlers)


def list_handlers(chain_id: int) -> frozenset[str]:
    """Fallback handlers that answer for a Safe and change nothing."""
    try:
        own = get_deployment(chain_id).contracts.get("safe_fallback_handler", "")
    except ChainNotSupported:
        own = ""
    return _HANDLERS | ({own} if own else set())


def _read(kept: JsonObject | None) -> SafeState | None:
    return SafeState.from_dict(kept) if kept else None

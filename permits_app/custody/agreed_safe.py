"""What the owners of a golem's Safe agreed to, and what of the Safe as it is goes beyond that.

Of a cage its mirror keeps it, of any other Safe the wallet. Rows are read here, and nothing is asked of the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.models import CageMirror, Wallet
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.safe_watch import Change, SafeState, list_unagreed
from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import ChainNotSupported

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


def find_agreed_safe(golem: Golem) -> AgreedSafe | None:
    """Of the account that the golem acts with; None where that is no Safe."""
    wallet: Wallet | None = getattr(golem, "wallet", None)
    if wallet is None or wallet.kind not in (WalletKind.GNOSIS_SAFE, WalletKind.POLICY_CAGE):
        return None
    mirror: CageMirror | None = getattr(getattr(golem, "policy_cage", None), "mirror", None)
    handlers = list_handlers(golem.home_chain_id)
    if mirror is not None and mirror.account == wallet.address:
        known = frozenset(one for one in (mirror.contract, mirror.replaced) if one)
        return AgreedSafe(wallet.address, _read(mirror.safe), _read(mirror.safe_noted), known, handlers)
    return AgreedSafe(wallet.address, _read(wallet.safe), _read(wallet.safe_noted), frozenset(), handlers)


def list_handlers(chain_id: int) -> frozenset[str]:
    """Fallback handlers that answer for a Safe and change nothing."""
    try:
        own = get_deployment(chain_id).contracts.get("safe_fallback_handler", "")
    except ChainNotSupported:
        own = ""
    return _HANDLERS | ({own} if own else set())


def _read(kept: Any) -> SafeState | None:
    return SafeState.from_dict(kept) if kept else None

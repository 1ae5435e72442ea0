"""Lists golems whose account runs several calls as one transaction: a Safe, a cage or a smart account."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from archetypes_app.models import Golem
from permits_app.models import Wallet
from permits_app.models.wallet import WalletKind

BATCHING_KINDS: Final = frozenset({WalletKind.GNOSIS_SAFE, WalletKind.POLICY_CAGE, WalletKind.ZERODEV})
"""Kinds of wallet whose account is a contract that batches; a plain key sends a sequence instead."""


def pays_no_gas(golem: Golem) -> bool:
    """Whether a paymaster pays for what the golem sends. One row, where a paymaster is set."""
    if not settings.GOLEM_ZERODEV_PAYMASTER:
        return False
    return Wallet.objects.filter(golem_id=golem.pk, kind=WalletKind.ZERODEV).exists()


def can_batch(golem: Golem) -> bool:
    """Whether the golem's signer stands for an account that batches. One row, where it was not read with the golem."""
    if not golem.address:
        return False
    if Golem._meta.get_field("wallet").is_cached(golem):
        wallet: Wallet | None = getattr(golem, "wallet", None)
        return wallet is not None and wallet.kind in BATCHING_KINDS
    return Wallet.objects.filter(golem_id=golem.pk, kind__in=BATCHING_KINDS).exists()

"""Which signer holds a wallet's key. Without one: WALLET_NOT_CONFIGURED, never a default."""

from __future__ import annotations

from permits_app.errors import SignerUnavailable
from permits_app.execution.signers.base import Signer
from permits_app.execution.signers.keystore import Keystore
from permits_app.execution.signers.local import LocalSigner
from permits_app.models import Wallet
from permits_app.models.wallet import WalletKind

_keystore: Keystore | None = None


def configure(keystore: Keystore) -> None:
    """Hand over the keystore once per process. Called by wiring."""
    global _keystore
    _keystore = keystore


def open_keystore() -> Keystore:
    """The server's keystore. Raises SignerUnavailable before wiring ran."""
    if _keystore is None:
        raise SignerUnavailable("no keystore is set up in this process")
    return _keystore


def open_signer(address: str) -> Signer:
    """The signer of `address`. Raises SignerUnavailable."""
    wallet = Wallet.objects.filter(address=address).first()
    if wallet is None:
        raise SignerUnavailable(f"no wallet on this server has the address {address}", address=address)
    if wallet.kind != WalletKind.LOCAL_KEYSTORE:
        raise SignerUnavailable(f"no signer serves wallets of kind {wallet.kind}", address=address)
    return LocalSigner(keystore=open_keystore(), address=wallet.address)

"""Chooses the signer that holds a key. Without one it raises SIGNER_UNAVAILABLE; there is no default."""

from __future__ import annotations

from django.db.models import Q

from permits_app.custody.signers.base import KeySigner, Signer
from permits_app.custody.signers.bundler import BundlerClient
from permits_app.custody.signers.keystore import Keystore
from permits_app.custody.signers.local import LocalSigner
from permits_app.custody.signers.privy import PrivyClient, PrivySigner
from permits_app.custody.signers.zerodev import UserOperationSigner
from permits_app.errors import SignerUnavailable
from permits_app.models import SigningKey
from permits_app.models.signing_key import KeyHolder
from tools_app.core.compiled_query import CompiledQuery

_KEY: CompiledQuery[SigningKey] = CompiledQuery(
    lambda address: SigningKey.objects.filter(Q(address=address) | Q(account=address)).order_by("pk"), "an address"
)
_keystore: Keystore | None = None
_privy: PrivyClient | None = None
_zerodev: BundlerClient | None = None


def configure(keystore: Keystore, *, privy: PrivyClient | None = None, zerodev: BundlerClient | None = None) -> None:
    """Hand over the keystore, and the clients of Privy and ZeroDev where there are any. Called by wiring."""
    global _keystore, _privy, _zerodev
    _keystore, _privy, _zerodev = keystore, privy, zerodev


def open_keystore() -> Keystore:
    """The server's keystore. Raises SignerUnavailable before wiring ran."""
    if _keystore is None:
        raise SignerUnavailable("no keystore is set up in this process")
    return _keystore


def open_privy() -> PrivyClient:
    """The client of Privy. Raises SignerUnavailable where none is configured."""
    if _privy is None:
        raise SignerUnavailable(
            "Privy is not configured on this server: its operator sets GOLEM_PRIVY_APP_ID and its secret"
        )
    return _privy


def open_zerodev() -> BundlerClient:
    """The client of ZeroDev's bundler. Raises SignerUnavailable where none is configured."""
    if _zerodev is None:
        raise SignerUnavailable(
            "ZeroDev is not configured on this server: its operator sets GOLEM_ZERODEV_PROJECT_ID_FILE"
        )
    return _zerodev


def open_signer(address: str) -> Signer:
    """The signer of `address`, a key or a smart account that a key owns. Raises SignerUnavailable."""
    key = next(iter(_KEY.fetch(address)), None)
    if key is None:
        raise SignerUnavailable(f"no key on this server has the address {address}", address=address)
    if key.address != address:
        return UserOperationSigner(client=open_zerodev(), address=address, owner=_open_key(key))
    return _open_key(key)


def _open_key(key: SigningKey) -> KeySigner:
    if key.holder == KeyHolder.LOCAL_KEYSTORE:
        return LocalSigner(keystore=open_keystore(), address=key.address)
    if key.holder == KeyHolder.PRIVY:
        return PrivySigner(client=open_privy(), address=key.address, wallet_id=key.external_id)
    raise SignerUnavailable(f"no signer serves keys held by {key.holder}", address=key.address)

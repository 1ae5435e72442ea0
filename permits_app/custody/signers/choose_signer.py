"""Chooses the signer that holds a key. Without one it raises SIGNER_UNAVAILABLE; there is no default."""

from __future__ import annotations

from django.db.models import Q

from permits_app.custody.signers.aws_kms import KmsClient
from permits_app.custody.signers.base import KeySigner, Signer
from permits_app.custody.signers.bundler import BundlerClient
from permits_app.custody.signers.external_digest_signer import DigestSigner
from permits_app.custody.signers.keystore import Keystore
from permits_app.custody.signers.local import LocalSigner
from permits_app.custody.signers.privy import PrivyClient, PrivySigner
from permits_app.custody.signers.turnkey import TurnkeyClient, TurnkeySigner
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
_kms: KmsClient | None = None
_turnkey: TurnkeyClient | None = None
# What is held stays so while the process lives; what is not may come.
_held: set[str] = set()


def configure(
    keystore: Keystore,
    *,
    privy: PrivyClient | None = None,
    zerodev: BundlerClient | None = None,
    kms: KmsClient | None = None,
    turnkey: TurnkeyClient | None = None,
) -> None:
    """Hand over the keystore, and the clients of who else keeps keys or bundles. Called by wiring."""
    global _keystore, _privy, _zerodev, _kms, _turnkey
    _keystore, _privy, _zerodev, _kms, _turnkey = keystore, privy, zerodev, kms, turnkey
    _held.clear()


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


def open_kms() -> KmsClient:
    """The client of AWS KMS. Raises SignerUnavailable where none is configured."""
    if _kms is None:
        raise SignerUnavailable(
            "AWS KMS is not configured on this server: its operator sets GOLEM_KMS_REGION and an access key"
        )
    return _kms


def open_turnkey() -> TurnkeyClient:
    """The client of Turnkey. Raises SignerUnavailable where none is configured."""
    if _turnkey is None:
        raise SignerUnavailable(
            "Turnkey is not configured on this server: its operator sets GOLEM_TURNKEY_ORGANIZATION_ID and its API key"
        )
    return _turnkey


def open_zerodev() -> BundlerClient:
    """The client of ZeroDev's bundler. Raises SignerUnavailable where none is configured."""
    if _zerodev is None:
        raise SignerUnavailable(
            "ZeroDev is not configured on this server: its operator sets GOLEM_ZERODEV_PROJECT_ID_FILE"
        )
    return _zerodev


def is_held_here(address: str) -> bool:
    """Whether this process has what signs for `address`. Of one that no process knows a key of, every one is the place
    to refuse it.
    """
    if address in _held:
        return True
    key = next(iter(_KEY.fetch(address)), None)
    if key is None:
        return True
    if key.holder == KeyHolder.LOCAL_KEYSTORE:
        is_held = _keystore is not None and _keystore.holds(key.address)
    else:
        clients = {KeyHolder.PRIVY: _privy, KeyHolder.AWS_KMS: _kms, KeyHolder.TURNKEY: _turnkey}
        is_held = clients.get(KeyHolder(key.holder)) is not None
    if is_held and key.address != address:
        is_held = _zerodev is not None
    if is_held:
        _held.add(address)
    return is_held


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
    if key.holder == KeyHolder.AWS_KMS:
        return DigestSigner(holder=open_kms(), address=key.address, key_id=key.external_id)
    if key.holder == KeyHolder.TURNKEY:
        return TurnkeySigner(client=open_turnkey(), address=key.address)
    raise SignerUnavailable(f"no signer serves keys held by {key.holder}", address=key.address)

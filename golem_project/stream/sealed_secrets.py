"""Seals the secrets of webhooks: AES-256-GCM under a key derived from the keystore's passphrase.

They must be read back to sign with, so they cannot be hashed; a copy of the database alone reveals none.
"""

from __future__ import annotations

import os
from typing import cast

from Crypto.Cipher import AES
from Crypto.Hash import SHA256
from Crypto.Protocol.KDF import HKDF

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.taint import Secret

_KEY_BYTES, _NONCE_BYTES, _TAG_BYTES = 32, 12, 16
_key: bytes | None = None


class SealBroken(
    GolemError, recovery=Recovery.ASK_OWNER, title="A stored secret does not open with this server's passphrase"
):
    """A sealed secret does not open with this server's passphrase."""


def configure(passphrase: Secret) -> None:
    """Derive the key, once per process. Called by wiring."""
    global _key
    derived = HKDF(passphrase.reveal().encode(), _KEY_BYTES, b"", SHA256, context=b"golem webhook secrets v1")
    _key = cast("bytes", derived)


def seal(secret: bytes, *, bound_to: bytes) -> bytes:
    """`secret` sealed; it opens only together with `bound_to`, so rows cannot be exchanged."""
    nonce = os.urandom(_NONCE_BYTES)
    cipher = AES.new(_get_key(), AES.MODE_GCM, nonce=nonce, mac_len=_TAG_BYTES)
    cipher.update(bound_to)
    text, tag = cipher.encrypt_and_digest(secret)
    return nonce + tag + text


def unseal(sealed: bytes, *, bound_to: bytes) -> bytes:
    """The secret again. Raises SealBroken."""
    nonce, tag = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES : _NONCE_BYTES + _TAG_BYTES]
    try:
        cipher = AES.new(_get_key(), AES.MODE_GCM, nonce=nonce, mac_len=_TAG_BYTES)
        cipher.update(bound_to)
        return bytes(cipher.decrypt_and_verify(sealed[_NONCE_BYTES + _TAG_BYTES :], tag))
    except ValueError:
        raise SealBroken("rotate the webhook's secret; the passphrase of the keystore was changed") from None


def _get_key() -> bytes:
    if _key is None:
        raise RuntimeError(
            "golem_project.stream.sealed_secrets was not configured; golem_project.wiring does it at start-up"
        )
    return _key

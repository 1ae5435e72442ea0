"""Seals a message for one browser, so that the push service in between cannot read it (RFC 8291, one record).

Elliptic curve, key derivation and cipher are pycryptodome's; what stands here is the order of the RFC.
"""

from __future__ import annotations

from typing import Any, Final

from Crypto.Cipher import AES
from Crypto.Hash import SHA256
from Crypto.Protocol.DH import key_agreement
from Crypto.Protocol.KDF import HKDF
from Crypto.PublicKey import ECC

AUTH_BYTES: Final = 16
_RECORD: Final = 4_096
_LAST: Final = b"\x02"


class NoBrowserKey(ValueError):
    """What is said to be a browser's key is none."""


def read_point(raw: bytes) -> ECC.EccKey:
    """A browser's public key: 65 bytes, a point of P-256. Raises NoBrowserKey."""
    if len(raw) != 65 or raw[:1] != b"\x04":
        raise NoBrowserKey("a browser's key has 65 bytes")
    try:
        return ECC.import_key(raw, curve_name="p256")
    except ValueError:
        raise NoBrowserKey("a browser's key is a point of P-256") from None


def seal_message(message: bytes, *, browser_key: bytes, auth: bytes, own: ECC.EccKey, salt: bytes) -> bytes:
    """The body to post. `own` and `salt` are made anew for each message. Raises NoBrowserKey."""
    theirs = read_point(browser_key)
    point = own.public_key().export_key(format="raw")
    context = b"WebPush: info\x00" + browser_key + point

    def derive(shared: bytes | bytearray | memoryview) -> bytes:
        return _derive(bytes(shared), 32, auth, context)

    secret: Any  # Any: pycryptodome types bytes or a tuple of them
    secret = key_agreement(static_priv=own, static_pub=theirs, kdf=derive)
    key = _derive(secret, 16, salt, b"Content-Encoding: aes128gcm\x00")
    nonce = _derive(secret, 12, salt, b"Content-Encoding: nonce\x00")
    sealed, tag = AES.new(key, AES.MODE_GCM, nonce=nonce).encrypt_and_digest(message + _LAST)
    return salt + _RECORD.to_bytes(4) + bytes([len(point)]) + point + sealed + tag


def _derive(secret: bytes, length: int, salt: bytes, context: bytes) -> bytes:
    found: Any = HKDF(secret, length, salt, SHA256, context=context)  # Any: pycryptodome types bytes or a tuple
    return bytes(found)

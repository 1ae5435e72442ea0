"""A browser that subscribed: its keys, and how it opens what a push service hands it. Written from RFC 8291 apart from
the product's own sealing.
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def to_text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class BrowserKeys:
    """What `PushManager.subscribe` makes."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)

    @property
    def point(self) -> bytes:
        return self.private.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )

    def target(self, url: str) -> dict[str, str]:
        return {"url": url, "p256dh": to_text(self.point), "auth": to_text(self.auth)}

    def open(self, body: bytes) -> dict[str, Any]:
        salt, length = body[:16], body[20]
        server, sealed = body[21 : 21 + length], body[21 + length :]
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), server)
        shared = self.private.exchange(ec.ECDH(), theirs)
        secret = _derive(shared, 32, self.auth, b"WebPush: info\x00" + self.point + server)
        key = _derive(secret, 16, salt, b"Content-Encoding: aes128gcm\x00")
        nonce = _derive(secret, 12, salt, b"Content-Encoding: nonce\x00")
        plain = AESGCM(key).decrypt(nonce, sealed, None)
        assert plain[-1:] == b"\x02"
        told: dict[str, Any] = json.loads(plain[:-1])
        return told


def _derive(secret: bytes, length: int, salt: bytes, context: bytes) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, context).derive(secret)

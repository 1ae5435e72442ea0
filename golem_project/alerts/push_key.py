"""The server's P-256 key for web push (VAPID, RFC 8292), derived from the keystore's passphrase and never stored.

A browser subscribes for its public half, and a push service takes messages from whoever holds the other.
"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from Crypto.Hash import SHA256
from Crypto.Protocol.KDF import HKDF
from Crypto.PublicKey import ECC

from tools_app.core.taint import Secret

_INFO: Final = b"golem web push v1"
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_LASTS: Final = timedelta(hours=12)
"""A push service refuses a signature that is good for more than a day."""

_key: ECC.EccKey | None = None


def configure(passphrase: Secret) -> None:
    """Derive the key, once per process. Called by wiring."""
    global _key
    # 16 bytes more than the curve has, so that no number of it is likelier than another.
    seed: Any  # Any: pycryptodome types bytes or a tuple of them
    seed = HKDF(passphrase.reveal().encode(), 48, b"", SHA256, context=_INFO)
    _key = ECC.construct(curve="p256", d=int.from_bytes(seed) % (_ORDER - 1) + 1)


def read_public_key() -> str:
    """What a browser is given when it subscribes: the point, uncompressed, in base64url."""
    return to_text(_get_key().public_key().export_key(format="raw"))


def authorize(endpoint: str, *, contact: str, now: datetime) -> str:
    """The Authorization header for one message to a push service. `contact` is a mailto: or https: address."""
    import jwt

    where = urlsplit(endpoint)
    claims = {"aud": f"{where.scheme}://{where.netloc}", "exp": int((now + _LASTS).timestamp()), "sub": contact}
    signed = jwt.encode(claims, _get_key().export_key(format="PEM"), algorithm="ES256")
    return f"vapid t={signed}, k={read_public_key()}"


def to_text(raw: bytes) -> str:
    """Bytes in base64url without padding, as web push writes them."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def to_bytes(text: str) -> bytes:
    """The bytes again. Raises ValueError."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _get_key() -> ECC.EccKey:
    if _key is None:
        raise RuntimeError("golem_project.alerts.push_key was not configured; golem_project.wiring does it at start-up")
    return _key

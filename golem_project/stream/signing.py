"""Signatures of webhooks as the Standard Webhooks specification says: `v1`, HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256

SECRET_PREFIX = "whsec_"  # noqa: S105  (a prefix)
TOLERANCE_SECONDS = 300
_KEY_BYTES = 32


class SignatureWrong(ValueError):
    """The headers do not sign this body, or are too old."""


def make_secret() -> str:
    """A new secret, as its owner enters it at the receiver."""
    return SECRET_PREFIX + base64.b64encode(os.urandom(_KEY_BYTES)).decode()


def sign_headers(*, secrets: Iterable[str], message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """The three headers; with several secrets (during a rotation) one signature for each."""
    timestamp = int(now.timestamp())
    signatures = " ".join(_sign(secret, message_id, timestamp, body) for secret in secrets)
    return {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": signatures}


def verify_headers(*, secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
    """What a receiver does. Raises SignatureWrong."""
    lowered = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp = lowered["webhook-id"], int(lowered["webhook-timestamp"])
        given = lowered["webhook-signature"].split()
    except (KeyError, ValueError):
        raise SignatureWrong("a header is missing or malformed") from None
    if abs(now.timestamp() - timestamp) > TOLERANCE_SECONDS:
        raise SignatureWrong("too old, or from the future")
    expected = _sign(secret, message_id, timestamp, body)
    if not any(hmac.compare_digest(expected, signature) for signature in given):
        raise SignatureWrong("no signature fits")


def _sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        raise SignatureWrong("the secret is not whsec_ and base64") from None
    signed = hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"

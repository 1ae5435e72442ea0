"""Signs webhooks as the Standard Webhooks specification says, and makes their secrets."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from datetime import UTC, datetime

from standardwebhooks import Webhook

_SECRET_PREFIX = "whsec_"  # noqa: S105  (a prefix)
_KEY_BYTES = 32


def make_secret() -> str:
    """A new secret, as its owner enters it at the receiver."""
    return _SECRET_PREFIX + base64.b64encode(os.urandom(_KEY_BYTES)).decode()


def sign_headers(*, secrets: Iterable[str], message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """The three headers; with several secrets (during a rotation) one signature for each. `body` is UTF-8."""
    # The package reads whatever clock time it is given as UTC.
    at, text = now.astimezone(UTC), body.decode()
    signatures = " ".join(Webhook(secret).sign(msg_id=message_id, timestamp=at, data=text) for secret in secrets)
    return {"webhook-id": message_id, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signatures}

"""Lists the keys of a golem that are good now, by fingerprint; no token and no secret."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from archetypes_app.models import ApiKey
from permits_app.models import SigningKey
from permits_app.models.signing_key import KeyState
from tools_app.toolkit.credentials import Credential, Credentials

_MOST: Final = 50
_SHOWN: Final = 16


def list_credentials(*, golem_id: UUID, now: datetime) -> Credentials:
    """Its API keys, and session keys that a cage on the chain knows; the newest first, at most 50 of each."""
    keys = ApiKey.objects.filter(golem_id=golem_id, revoked_at=None, expires_at__gt=now).order_by("-created_at")
    sessions = SigningKey.objects.filter(golem_id=golem_id, state=KeyState.ACTIVE).order_by("-created_at")
    return Credentials(
        api_keys=tuple(
            Credential(_fingerprint(key.digest), tuple(key.scopes), key.expires_at.isoformat()) for key in keys[:_MOST]
        ),
        session_keys=tuple(
            Credential(_fingerprint(key.address), ("sign",), _time(key.granted.get("expires_at")))
            for key in sessions[:_MOST]
        ),
    )


def _fingerprint(public: str) -> str:
    return "sha256:" + hashlib.sha256(public.lower().encode()).hexdigest()[:_SHOWN]


def _time(seconds: object) -> str | None:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat() if isinstance(seconds, int) else None

"""Create an API key for a golem."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from archetypes_app.errors import UnknownScope
from archetypes_app.models import ApiKey, Golem
from archetypes_app.models.api_key import Scope
from archetypes_app.tool_loadout import MOST_TOOLS
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted

TOKEN_PREFIX = "golem_"  # noqa: S105  (a prefix, not a secret)
LIFETIME_DAYS = 90
_VISIBLE_CHARACTERS = 14


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key and its token text, which exists only here and is shown once."""

    key: ApiKey
    token: str = field(repr=False)


@retry_aborted
def create_api_key(
    *,
    golem: Golem,
    scopes: Iterable[str],
    label: str,
    created_by: Any,  # Any: which model accounts have is a setting
    now: datetime,
    lifetime_days: int = LIFETIME_DAYS,
    session_id: UUID | None = None,
    most_tools: int | None = MOST_TOOLS,
    loaded_tools: Iterable[str] = (),
) -> NewApiKey:
    """Make a token with `scopes` that expires after `lifetime_days` days. Writes the audit log.

    With the `session_id` of another key it shares that one's session limit; else it has one of its own. Its
    model is shown `most_tools` tools at once, None for all the golem has. Raises UnknownScope.
    """
    wanted = check_scopes(scopes)
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        key = ApiKey.objects.create(
            golem=golem,
            label=label,
            prefix=token[:_VISIBLE_CHARACTERS],
            digest=hash_token(token),
            scopes=wanted,
            session_id=session_id or uuid4(),
            most_tools=most_tools,
            loaded_tools=list(loaded_tools),
            created_by=created_by,
            created_at=now,
            expires_at=now + timedelta(days=lifetime_days),
        )
        audit_log.append(
            golem_id=golem.id,
            event="ApiKeyCreated",
            actor=f"owner:{created_by.pk}" if created_by else "system:seed",
            data={
                "prefix": key.prefix,
                "scopes": wanted,
                "expires_at": key.expires_at.isoformat(),
                "shares_session": session_id is not None,
            },
            now=now,
        )
    return NewApiKey(key=key, token=token)


def check_scopes(scopes: Iterable[str]) -> list[str]:
    """Each once and in order. Raises UnknownScope."""
    wanted = sorted(set(scopes))
    if unknown := [scope for scope in wanted if scope not in Scope.values]:
        raise UnknownScope(f"unknown scopes: {', '.join(unknown)}", known=list(Scope.values))
    return wanted


def find_session(*, golem: Golem, now: datetime) -> UUID | None:
    """The session of the golem's newest key that still works; None without one."""
    active = ApiKey.objects.filter(golem=golem, revoked_at__isnull=True, expires_at__gt=now)
    return active.order_by("-created_at", "pk").values_list("session_id", flat=True).first()


def hash_token(token: str) -> str:
    """SHA-256 of a token with 256 bits of its own randomness; a slow hash would add nothing."""
    return hashlib.sha256(token.encode()).hexdigest()

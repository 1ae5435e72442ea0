"""Revoke or rotate an API key; effective on the next request."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.actions.create_api_key import NewApiKey, create_api_key
from archetypes_app.models import ApiKey
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


def revoke_api_key(
    *,
    key: ApiKey,
    revoked_by: Any,  # Any: which model accounts have is a setting
    now: datetime,
) -> None:
    """Make `key` useless from now on, as an owner; does nothing when it is revoked already. Writes the audit log."""
    revoke_as(key=key, actor=f"owner:{revoked_by.pk}", now=now)


@retry_aborted
def revoke_as(*, key: ApiKey, actor: str, now: datetime) -> None:
    """The same, by whoever `actor` names."""
    with transaction.atomic():
        if end_key(key=key, now=now):
            record_end(key=key, actor=actor, now=now)


def end_key(*, key: ApiKey, now: datetime) -> bool:
    """The row of a key that is revoked; False where it was already. Joins the caller's transaction."""
    return bool(ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=now))


def record_end(*, key: ApiKey, actor: str, now: datetime) -> None:
    """The audit entry of a key that is revoked, last in the transaction: the log's head is locked after other rows."""
    audit_log.append(golem_id=key.golem_id, event="ApiKeyRevoked", actor=actor, data={"prefix": key.prefix}, now=now)


@retry_aborted
def rotate_api_key(*, key: ApiKey, rotated_by: object, now: datetime) -> NewApiKey:
    """Revoke `key` and make one with the same golem, label, scopes and loaded tools, in one transaction."""
    with transaction.atomic():
        revoke_api_key(key=key, revoked_by=rotated_by, now=now)
        # A limit that other keys spend from is not made anew by replacing one of them.
        is_shared = ApiKey.objects.filter(session_id=key.session_id).exclude(pk=key.pk).exists()
        fresh = create_api_key(
            golem=key.golem,
            scopes=key.scopes,
            label=key.label,
            created_by=rotated_by,
            now=now,
            session_id=key.session_id if is_shared else None,
            most_tools=key.most_tools,
            loaded_tools=key.loaded_tools,
        )
        ApiKey.objects.filter(pk=key.pk).update(replaced_by=fresh.key)
    return fresh

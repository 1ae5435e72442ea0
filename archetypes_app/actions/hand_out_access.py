"""Hand out what a signed-in agent acts with: a token for minutes, and another to renew it with, each shown once."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils.crypto import salted_hmac

from archetypes_app.actions.create_api_key import TOKEN_PREFIX, create_api_key, hash_token
from archetypes_app.actions.decide_sign_in import is_over
from archetypes_app.actions.revoke_api_key import end_key, record_end
from archetypes_app.audit_actor_names import name_key
from archetypes_app.errors import RenewalRefused, SignInOver
from archetypes_app.models import AccessToken, AgentSignIn, ApiKey
from archetypes_app.models.agent_sign_in import SignInState
from archetypes_app.ownership import has_power
from archetypes_app.roles import Power
from tools_app.core import audit_log
from tools_app.core.required_value import require
from tools_app.core.transaction_retry import retry_aborted

ACCESS_PREFIX: Final = f"{TOKEN_PREFIX}at_"
ACCESS_LENGTH: Final = len(ACCESS_PREFIX) + 43
"""Another length than a key's token: which of the two one is, its length tells."""
RENEWAL_PREFIX: Final = f"{TOKEN_PREFIX}rt_"
ACCESS_MINUTES: Final = 10
LOST_ANSWER_SECONDS: Final = 60
"""So long the refresh token used last is good once more: the answer to it may have been lost."""
_MOST_TOKENS: Final = 4
"""Older ones of a key go: an agent that renews in a loop leaves no rows behind."""


@dataclass(frozen=True, slots=True)
class Access:
    """What the agent is told, once."""

    key: ApiKey
    access_token: str = field(repr=False)
    renewal_token: str = field(repr=False)

    @property
    def seconds(self) -> int:
        """How long the access token is good for."""
        return ACCESS_MINUTES * 60


@retry_aborted
def collect_sign_in(*, row: AgentSignIn, now: datetime) -> Access:
    """Make the key of an agent that was approved. Writes the audit log. Raises SignInOver, also for whoever is second
    and where who approved it may do that no longer.
    """
    with transaction.atomic():
        asked = AgentSignIn.objects.select_for_update(of=("self",)).select_related("golem", "decided_by").get(pk=row.pk)
        golem, person = asked.golem, asked.decided_by
        if asked.state != SignInState.APPROVED or is_over(asked, now) or golem is None:
            raise SignInOver("it was collected before, or its minutes are over; ask again")
        if golem.retired_at is not None or person is None or not has_power(golem, person, Power.OPERATE):
            raise SignInOver("who approved it may not give this golem's keys any more; ask again")
        # Its own token is told to nobody: what it acts with are access tokens.
        key = create_api_key(
            golem=golem,
            scopes=asked.scopes,
            label=asked.agent,
            created_by=person,
            now=now,
            lifetime_days=require(asked.lifetime_days),
        ).key
        renewal = _derive_renewal(asked, 0)
        AgentSignIn.objects.filter(pk=asked.pk).update(
            state=SignInState.COLLECTED, key=key, renewal_digest=hash_token(renewal), renewed_at=now
        )
        access = _add_token(key, now)
        audit_log.append(
            golem_id=golem.pk,
            event="AgentSignedIn",
            actor=name_key(key.prefix),
            data={"agent": asked.agent, "prefix": key.prefix, "asked_from": asked.asked_from},
            now=now,
        )
    return Access(key=key, access_token=access, renewal_token=renewal)


def find_renewable(token: str) -> AgentSignIn | None:
    """The signed-in agent of a refresh token, or of the one before."""
    digest = hash_token(token)
    rows = AgentSignIn.objects.select_related("key__created_by")
    return rows.filter(Q(renewal_digest=digest) | Q(used_digest=digest)).first()


def renew_access(*, row: AgentSignIn, token: str, now: datetime) -> Access:
    """A new pair for a refresh token that `find_renewable` found this row by. Raises RenewalRefused; one that was used
    a while ago is in two hands, so it ends the key, whoever comes with it.
    """
    access = _renew(row, token, now)
    if access is None:
        raise RenewalRefused("this refresh token was used before; its key is revoked, sign the agent in again")
    return access


@retry_aborted
def _renew(found: AgentSignIn, token: str, now: datetime) -> Access | None:
    """None where the token was used before; then its key is ended."""
    digest = hash_token(token)
    with transaction.atomic():
        row = AgentSignIn.objects.select_for_update(of=("self",)).select_related("key__created_by").get(pk=found.pk)
        key = require(row.key)
        if key.revoked_at is not None or now >= key.expires_at:
            raise RenewalRefused("an owner ended this agent's key, or its days are over; sign it in again")
        if key.created_by is None or not key.created_by.is_active:
            raise RenewalRefused("the account of who signed this agent in is not active")
        is_newest = row.renewal_digest == digest
        age = abs(now - require(row.renewed_at))
        if not is_newest and (row.used_digest != digest or age > timedelta(seconds=LOST_ANSWER_SECONDS)):
            if end_key(key=key, now=now):
                record_end(key=key, actor="system:used-refresh-token", now=now)
            return None
        renewals = row.renewals + is_newest
        renewal = _derive_renewal(row, renewals)
        used = {"used_digest": digest, "renewed_at": now, "renewals": renewals} if is_newest else {}
        AgentSignIn.objects.filter(pk=row.pk).update(renewal_digest=hash_token(renewal), **used)
        access = _add_token(key, now)
    return Access(key=key, access_token=access, renewal_token=renewal)


def _add_token(key: ApiKey, now: datetime) -> str:
    """Another access token; those before stay good for their minutes, so that nothing under way is cut off."""
    token = ACCESS_PREFIX + secrets.token_urlsafe(32)
    ends_at = min(now + timedelta(minutes=ACCESS_MINUTES), key.expires_at)
    AccessToken.objects.create(digest=hash_token(token), key=key, ends_at=ends_at)
    kept = AccessToken.objects.filter(key=key).order_by("-ends_at", "pk").values("pk")[:_MOST_TOKENS]
    AccessToken.objects.filter(key=key).exclude(pk__in=kept).delete()
    return token


def _derive_renewal(row: AgentSignIn, renewals: int) -> str:
    """The refresh token after so many renewals: who asks again because an answer was lost gets the same one."""
    told = salted_hmac("agent-sign-in", f"{row.pk}:{row.device_digest}:{renewals}", algorithm="sha256").digest()
    return RENEWAL_PREFIX + base64.urlsafe_b64encode(told).decode().rstrip("=")

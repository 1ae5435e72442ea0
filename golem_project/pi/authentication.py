"""Authenticates bearer tokens: who is calling, and for which golem.

A token is looked up by its SHA-256 digest, so the database never sees it and the look-up time says nothing about it.
One round trip brings the key, its golem, the golem's archetype and Warden, and whether its people are active.
`last_used_at` is written at most once a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TypeVar

from django.db.models import Model, Q
from django.urls import reverse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from archetypes_app.actions.create_api_key import TOKEN_PREFIX, hash_token
from archetypes_app.actions.hand_out_access import ACCESS_LENGTH, ACCESS_MINUTES, ACCESS_PREFIX
from archetypes_app.audit_actor_names import name_key
from archetypes_app.errors import OwnerGone
from archetypes_app.models import AccessToken, ApiKey, Golem
from archetypes_app.ownership import is_owned
from golem_project.pi.errors import AccessTokenOver, ApiKeyExpired, ApiKeyInvalid, ApiKeyRevoked, ApiKeySuspended
from golem_project.pi.known_callers import KNOWN
from golem_project.pi.visible_tools import KeyShelf
from tools_app.core import clock
from tools_app.core.compiled_query import CompiledQuery, CompiledStatement
from tools_app.core.prepared_statements import Rows, fetch_together

REALM = 'Bearer realm="golem"'
RESOURCE_PATH = "/.well-known/oauth-protected-resource"
"""Tells clients where a token comes from (RFC 9728)."""
LAST_USE_STEP = timedelta(minutes=1)
_LONGEST_TOKEN = 200
M = TypeVar("M", bound=Model)
_KEY: CompiledQuery[ApiKey] = CompiledQuery(
    lambda digest: ApiKey.objects.select_related("golem__archetype", "golem__warden").filter(digest=digest).order_by(),
    "-",
)
_ACCESS: CompiledQuery[AccessToken] = CompiledQuery(
    lambda digest: (
        AccessToken.objects.select_related("key__golem__archetype", "key__golem__warden")
        .filter(digest=digest)
        .order_by()
    ),
    "-",
)
_ACTIVE_OF_ACCESS = CompiledStatement(
    lambda digest: (
        AccessToken.objects.filter(digest=digest)
        .order_by()
        .values_list("key__created_by__is_active", "key__golem__owner__is_active")
    ),
    "-",
)
_ACTIVE = CompiledStatement(
    lambda digest: (
        ApiKey.objects.filter(digest=digest).order_by().values_list("created_by__is_active", "golem__owner__is_active")
    ),
    "-",
)


@dataclass(frozen=True)
class Agent:
    """The caller: one golem, acting through one key."""

    golem: Golem
    key: ApiKey

    @property
    def actor(self) -> str:
        """How audit entries name this caller."""
        return name_key(self.key.prefix)

    @cached_property
    def shelf(self) -> KeyShelf:
        """What this key is shown of the golem's tools."""
        return KeyShelf(golem=self.golem, key=self.key)

    @property
    def is_authenticated(self) -> bool:
        return True


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer golem_…`. Raises ApiKeyInvalid, ApiKeyExpired, ApiKeyRevoked; None when no token came."""

    def authenticate(self, request: Request) -> tuple[Agent, ApiKey] | None:
        token = read_bearer(request)
        if token is None:
            return None
        key = identify(token, now=clock.now())
        return Agent(golem=key.golem, key=key), key

    def authenticate_header(self, request: Request) -> str:
        return REALM


class ApiKeyScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document describes the token."""

    target_class = ApiKeyAuthentication
    name = "golemToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, object]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": f"A golem's token, beginning with `{TOKEN_PREFIX}`; its owner makes and revokes it.",
        }


def read_bearer(request: Request) -> str | None:
    """The bearer token of a request; None when there is no Authorization header of that scheme."""
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    if scheme.lower() != "bearer":
        return None
    return token.strip()


def identify(token: str, *, now: datetime) -> ApiKey:
    """The key of `token`, alive at `now`, with its golem and people. One round trip, and at most one write a minute."""
    key, access, active = None, None, Rows()
    if token.startswith(ACCESS_PREFIX) and len(token) == ACCESS_LENGTH and token.isascii():
        access, active = _look_up(token, _ACCESS, _ACTIVE_OF_ACCESS)
        key = access.key if access is not None else None
    elif token.startswith(TOKEN_PREFIX) and token.isascii() and len(token) <= _LONGEST_TOKEN:
        key, active = _look_up(token, _KEY, _ACTIVE)
    if key is None:
        raise ApiKeyInvalid(
            "no key of this server has this token, or its minutes are over; renew it with its refresh token, check it,"
            " or ask the owner for one"
        )
    if key.revoked_at is not None:
        raise ApiKeyRevoked("the owner revoked this token; ask for another")
    if now >= key.expires_at:
        raise ApiKeyExpired(
            "this token's time is over; the owner can rotate it in the admin", expired_at=key.expires_at.isoformat()
        )
    if access is not None and clock.is_over(access.ends_at, longest=timedelta(minutes=ACCESS_MINUTES), now=now):
        raise AccessTokenOver(
            "this access token's minutes are over; renew it at the token endpoint with its refresh token",
            expired_at=access.ends_at.isoformat(),
            token_endpoint=reverse("oauth_token"),
        )
    _check_people(key, active)
    _note_use(key, now=now)
    KNOWN.note(token, who=f"owner:{key.golem.owner_id}")
    return key


def _look_up(token: str, rows: CompiledQuery[M], people: CompiledStatement) -> tuple[M | None, Rows]:
    """The row of a token, and whether its people are active, in one round trip."""
    digest = hash_token(token)
    found, active = fetch_together(rows.fill(digest), people.fill(digest))
    return next(iter(rows.read(found)), None), active


def _check_people(key: ApiKey, active: Rows) -> None:
    """Raises ApiKeySuspended and OwnerGone. A key that no person made has no account that could end."""
    is_maker_active, is_owner_active = active[0] if active else (False, False)
    if is_maker_active is False:
        raise ApiKeySuspended(
            "the account of who made this token is not active; an owner of the golem can make another token"
        )
    if not is_owner_active and not is_owned(key.golem_id):
        raise OwnerGone("nobody with an active account owns this golem; it does nothing until somebody does")


def _note_use(key: ApiKey, *, now: datetime) -> None:
    if key.last_used_at is not None and now - key.last_used_at < LAST_USE_STEP:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - LAST_USE_STEP)
    ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)

"""Identifies who asks over A2A: the holder of a golem's key, or a stranger who proved a wallet."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from archetypes_app.actions.create_api_key import hash_token
from archetypes_app.audit_actor_names import name_key
from archetypes_app.errors import OwnerGone
from archetypes_app.models import ApiKey, Golem
from archetypes_app.ownership import is_owned
from golem_project.a2a.errors import AgentUnknown, VisitOver
from golem_project.a2a.models import Visit
from golem_project.pi.authentication import Agent, identify, read_bearer
from golem_project.pi.errors import ApiKeyMissing
from tools_app.core.clock import is_over

VISIT_PREFIX = "visit_"


@dataclass(frozen=True, slots=True)
class A2ACaller:
    """One asker at one golem. `key` None: a stranger, who is the wallet `visitor` (lower-case 0x address)."""

    golem: Golem
    key: ApiKey | None
    visitor: str = ""
    token: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """How limits name this caller."""
        return name_key(self.key.prefix) if self.key is not None else f"visitor:{self.golem.pk}:{self.visitor}"

    @property
    def owner(self) -> str:
        """Whose room its streams take: the owner's, or that of all strangers at this golem."""
        return f"owner:{self.golem.owner_id}" if self.key is not None else f"visitors:{self.golem.pk}"

    @property
    def agent(self) -> Agent | None:
        """The same as the agent API knows it."""
        return Agent(golem=self.golem, key=self.key) if self.key is not None else None

    def match_theirs(self) -> Q:
        """The condition on tasks that are this caller's."""
        if self.key is not None:
            return Q(golem=self.golem, api_key=self.key)
        return Q(golem=self.golem, api_key__isnull=True, visitor=self.visitor)


def identify_caller(
    request: Any,  # Any: the A2A and x402 libraries leave it untyped
    *,
    golem_id: UUID,
    now: datetime,
) -> A2ACaller:
    """The caller behind a request's bearer token.

    Raises ApiKeyMissing, ApiKeyInvalid, ApiKeyExpired, ApiKeyRevoked, VisitOver, AgentUnknown.
    """
    token = read_bearer(request)
    if token is None:
        raise ApiKeyMissing(
            "send a token of this golem as `Authorization: Bearer golem_…`, or prove a wallet at its /challenge"
        )
    if token.startswith(VISIT_PREFIX):
        return _identify_visitor(token, golem_id=golem_id, now=now)
    key = identify(token, now=now)
    if key.golem_id != golem_id:
        raise AgentUnknown("this token is not for an agent at this address")
    return A2ACaller(golem=key.golem, key=key, token=token)


def _identify_visitor(token: str, *, golem_id: UUID, now: datetime) -> A2ACaller:
    visit = (
        Visit.objects.select_related("golem__archetype", "golem__warden")
        .filter(digest=hash_token(token), golem_id=golem_id)
        .first()
    )
    life = timedelta(seconds=settings.GOLEM_A2A_VISIT_SECONDS)
    if visit is None or is_over(visit.expires_at, longest=life, now=now):
        raise VisitOver("sign a new challenge")
    if not is_owned(golem_id):
        raise OwnerGone("nobody with an active account owns this golem; it answers nobody until somebody does")
    return A2ACaller(golem=visit.golem, key=None, visitor=visit.address)

"""Identifies who follows events: an agent of one golem, or an owner of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user
from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from archetypes_app.audit_actor_names import name_key
from archetypes_app.models.api_key import Scope
from archetypes_app.ownership import is_operator, list_golems_with
from archetypes_app.roles import Power
from golem_project.pi.authentication import REALM, identify, read_bearer
from golem_project.pi.errors import ApiKeyMissing, Forbidden, ScopeMissing
from golem_project.pi.known_callers import KNOWN, name_session
from tools_app.core import clock


@dataclass(frozen=True, slots=True)
class EventFollower:
    """Somebody who may follow events. `golem_ids` None means all of them: an operator of the server."""

    name: str
    golem_ids: frozenset[str] | None
    owner: str = ""
    """Whose streams they are: of one owner all tokens together, and their own session."""

    @property
    def is_authenticated(self) -> bool:
        return True


def identify_caller(request: Any, *, now: datetime) -> EventFollower:  # Any: a request of Django or of its framework
    """The caller behind a request: a bearer token first, else a session of the admin.

    Raises ApiKeyMissing, ApiKeyInvalid, ApiKeyExpired, ApiKeyRevoked, ScopeMissing, Forbidden.
    """
    token = read_bearer(request)
    if token is not None:
        key = identify(token, now=now)
        if Scope.EVENTS not in key.scopes:
            raise ScopeMissing(
                "this needs the scope 'events'; the owner can make a token that has it",
                scope=str(Scope.EVENTS),
                scopes=sorted(key.scopes),
            )
        return EventFollower(
            name=name_key(key.prefix),
            golem_ids=frozenset({str(key.golem_id)}),
            owner=f"owner:{key.golem.owner_id}",
        )
    user: Any = get_user(request)  # Any: which model accounts have is a setting
    if not user.is_authenticated:
        raise ApiKeyMissing("send the golem's token as `Authorization: Bearer golem_…`, or sign in to the admin")
    if not (user.is_active and user.is_staff):
        raise Forbidden("this account has no access to the admin")
    KNOWN.note(name_session(request.session.session_key), who=f"owner:{user.pk}")
    if is_operator(user):
        return EventFollower(name=f"owner:{user.pk}", golem_ids=None, owner=f"owner:{user.pk}")
    owned = list_golems_with(user, Power.SEE).values_list("pk", flat=True)
    return EventFollower(
        name=f"owner:{user.pk}", golem_ids=frozenset(str(pk) for pk in owned), owner=f"owner:{user.pk}"
    )


class CallerAuthentication(BaseAuthentication):
    """The same for Django REST framework's views; they only answer GET, so a session needs no CSRF token."""

    def authenticate(self, request: Request) -> tuple[EventFollower, None]:
        return identify_caller(_plain(request), now=clock.now()), None

    def authenticate_header(self, request: Request) -> str:
        return REALM


class CallerScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document describes it: the agent's own scheme, or the admin's session cookie."""

    target_class = CallerAuthentication
    name = ["golemEvents", "adminSession"]

    def get_security_requirement(self, auto_schema: object) -> list[dict[str, list[object]]]:
        """Either of them; one mapping with both names would ask for both at once."""
        return [{name: []} for name in self.name]

    def get_security_definition(self, auto_schema: object) -> Any:  # Any: as drf-spectacular types it
        return [
            {"type": "http", "scheme": "bearer", "description": "A golem's token with the scope `events`."},
            {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "A session of the admin."},
        ]


class IsCaller(BasePermission):
    """Lets in whom `CallerAuthentication` knew."""

    def has_permission(self, request: Request, view: object) -> bool:
        return isinstance(request.user, EventFollower)


def _plain(request: Request) -> HttpRequest:
    inner: HttpRequest = request._request
    return inner

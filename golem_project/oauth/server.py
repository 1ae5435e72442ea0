"""The OAuth endpoints on Authlib: it reads requests and writes answers and errors, our own actions decide.

Clients are public and register nowhere: a `client_id` is how an agent calls itself, and proves nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from authlib.integrations.django_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, InvalidGrantError, InvalidRequestError, RefreshTokenGrant
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE, DeviceAuthorizationEndpoint, DeviceCodeGrant
from django.urls import reverse

from archetypes_app.actions.ask_sign_in import MINUTES, POLL_SECONDS, ask_sign_in
from archetypes_app.actions.create_api_key import hash_token
from archetypes_app.actions.decide_sign_in import is_over
from archetypes_app.actions.hand_out_access import Access, collect_sign_in, find_renewable, renew_access
from archetypes_app.actions.revoke_api_key import revoke_as
from archetypes_app.audit_actor_names import name_key
from archetypes_app.errors import RenewalRefused, SignInOver
from archetypes_app.models import AgentSignIn
from archetypes_app.models.agent_sign_in import SignInState
from archetypes_app.models.api_key import Scope
from golem_project.front.addresses import read_address_of
from tools_app.core import clock
from tools_app.core.required_value import require

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DEFAULT_SCOPES: Final = (Scope.READ, Scope.PREVIEW, Scope.COMMIT)
GRANT_TYPES: Final = (DEVICE_CODE_GRANT_TYPE, "refresh_token")
"""What the token endpoint takes."""


# Bases and arguments of Authlib have no types.
@dataclass(frozen=True, slots=True)
class PublicClient(ClientMixin):
    """An agent by the name it gave itself."""

    name: str

    def get_client_id(self) -> str:
        return self.name

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in GRANT_TYPES


@dataclass(frozen=True, slots=True)
class SignInCredential:
    """A sign-in as Authlib asks about it."""

    row: AgentSignIn

    def get_client_id(self) -> str:
        return self.row.agent

    def check_client(self, client: PublicClient) -> bool:
        return client.name == self.row.agent

    def get_scope(self) -> str:
        return " ".join(self.row.scopes or self.row.asked_scopes)

    def is_expired(self) -> bool:
        return is_over(self.row, clock.now())

    def get_user_code(self) -> str:
        return self.row.user_code


class Server(AuthorizationServer):
    """Any name is a client, and our actions keep the tokens."""

    def query_client(self, client_id: str) -> PublicClient | None:
        return PublicClient(client_id) if _NAME.fullmatch(client_id) else None

    def save_token(self, token: object, request: object) -> None:
        """Kept where it was made."""


class DeviceAuthorization(DeviceAuthorizationEndpoint):
    """An agent asks."""

    CLIENT_AUTH_METHODS = ("none",)

    def create_endpoint_response(
        self,
        request: Any,  # Any: authlib has no types
    ) -> tuple[int, dict[str, object], object]:
        """The codes, and no link that holds one: who follows a stranger's link would approve a stranger's agent."""
        client = self.authenticate_client(request)
        self.server.validate_requested_scope(request.payload.scope)
        asked = ask_sign_in(
            agent=client.name,
            scopes=(request.payload.scope or "").split() or _DEFAULT_SCOPES,
            asked_from=read_address_of(request._request.META),
            now=clock.now(),
        )
        told = {
            "device_code": asked.device_code,
            "user_code": asked.row.user_code,
            "verification_uri": request._request.build_absolute_uri(reverse("sign_in")),
            "expires_in": MINUTES * 60,
            "interval": POLL_SECONDS,
        }
        return 200, told, [("Content-Type", "application/json"), ("Cache-Control", "no-store")]


def _describe(access: Access) -> dict[str, object]:
    return {
        "token_type": "Bearer",
        "access_token": access.access_token,
        "expires_in": access.seconds,
        "refresh_token": access.renewal_token,
        "scope": " ".join(access.key.scopes),
    }


class DeviceCode(DeviceCodeGrant):
    """An agent asks whether an owner has approved it, and gets its first tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)

    def query_device_credential(self, device_code: str) -> SignInCredential | None:
        self._row = AgentSignIn.objects.filter(device_digest=hash_token(device_code)).first()
        return SignInCredential(self._row) if self._row is not None else None

    def query_user_grant(self, user_code: str) -> tuple[object, bool] | None:
        """Who decided, and what, in the row of this device's own code; None while nobody has."""
        row = require(self._row)
        if row.state == SignInState.WAITING:
            return None
        return row.decided_by_id, row.state != SignInState.DENIED

    def should_slow_down(self, credential: SignInCredential) -> bool:
        """Whether it asks again sooner than it was told."""
        now, before = clock.now(), credential.row.polled_at
        AgentSignIn.objects.filter(pk=credential.row.pk).update(polled_at=now)
        return before is not None and 0 <= (now - before).total_seconds() < POLL_SECONDS - 1

    def generate_token(self, **given: object) -> dict[str, object]:
        """Made and kept in one transaction, once."""
        try:
            return _describe(collect_sign_in(row=self.request.credential.row, now=clock.now()))
        except SignInOver as error:
            raise InvalidGrantError(error.detail) from None


class Renewal(RefreshTokenGrant):
    """An agent renews its tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)

    def authenticate_refresh_token(self, refresh_token: str) -> SignInCredential | None:
        row = find_renewable(refresh_token)
        return SignInCredential(row) if row is not None else None

    def authenticate_user(self, credential: SignInCredential) -> bool:
        """Asked where it is renewed."""
        return True

    def generate_token(self, **given: Any) -> dict[str, object]:  # Any: JSON of an event
        """Of the same scopes: fewer would need a key of their own."""
        row = self.request.refresh_token.row
        if set(given["scope"].split()) != set(row.scopes):
            raise InvalidRequestError("ask for the same scopes, or for none to keep them")
        try:
            return _describe(renew_access(row=row, token=self.request.form["refresh_token"], now=clock.now()))
        except RenewalRefused as error:
            raise InvalidGrantError(error.detail) from None

    def revoke_old_credential(self, credential: SignInCredential) -> None:
        """Done where it was renewed."""


class Revocation(RevocationEndpoint):
    """An agent signs itself out: its key ends, with every token of it."""

    CLIENT_AUTH_METHODS = ("none",)

    def query_token(self, token: str, token_type_hint: str | None) -> SignInCredential | None:
        row = find_renewable(token) or _find_by_access(token)
        return SignInCredential(row) if row is not None else None

    def revoke_token(self, token: SignInCredential, request: object) -> None:
        key = require(token.row.key)
        revoke_as(key=key, actor=name_key(key.prefix), now=clock.now())


def _find_by_access(token: str) -> AgentSignIn | None:
    rows = AgentSignIn.objects.select_related("key").filter(key__access_tokens__digest=hash_token(token))
    return rows.first()


def make_server() -> Server:
    """With every grant and endpoint."""
    server = Server(None, None)
    server.scopes_supported = list(Scope.values)
    server.register_grant(DeviceCode)
    server.register_grant(Renewal)
    server.register_endpoint(DeviceAuthorization)
    server.register_endpoint(Revocation)
    return server


SERVER: Final = make_server()

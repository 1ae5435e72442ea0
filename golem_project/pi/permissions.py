"""Checks scopes: every view names the one it needs; a view that names none lets nobody in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from archetypes_app.errors import GolemHalted
from archetypes_app.models import ApiKey
from archetypes_app.models.api_key import Scope
from golem_project.pi.errors import ApiKeyMissing, Forbidden, ScopeMissing

if TYPE_CHECKING:
    # The framework imports this module while it makes APIView.
    from rest_framework.views import APIView


class HasScope(BasePermission):
    """Lets a key in whose scopes hold `view.required_scope`. Raises ApiKeyMissing, ScopeMissing, Forbidden."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        key = request.auth
        if not isinstance(key, ApiKey):
            raise ApiKeyMissing("send the golem's token as `Authorization: Bearer golem_…`")
        scope = getattr(view, "required_scope", None)
        if scope is None:
            raise Forbidden("no scope opens this endpoint")
        if scope not in key.scopes and scope == Scope.COMMIT and key.golem.is_halted:
            raise GolemHalted("this golem is halted; only its owner can resume it", reason=key.golem.halt_reason)
        if scope not in key.scopes:
            raise ScopeMissing(
                f"this needs the scope {str(scope)!r}; the owner can make a token that has it",
                scope=str(scope),
                scopes=sorted(key.scopes),
            )
        return True

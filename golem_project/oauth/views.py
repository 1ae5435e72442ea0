"""The paths of signing in: an agent asks, polls, renews and signs out, and clients learn where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from authlib.oauth2 import OAuth2Error
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from archetypes_app.errors import TooManySignIns
from archetypes_app.models.api_key import Scope
from golem_project.oauth.server import GRANT_TYPES, SERVER


@csrf_exempt
@never_cache
@require_POST
def ask(request: HttpRequest) -> HttpResponse:
    """RFC 8628, 3.1: the codes of an agent that asks to be signed in."""
    try:
        return _answer(SERVER.create_endpoint_response, "device_authorization", request)
    except TooManySignIns as error:
        told = {"error": "slow_down", "error_description": f"{error.title}: {error.detail}"}
        return JsonResponse(told, status=429, headers={"Retry-After": str(error.data["retry_after_seconds"])})


@csrf_exempt
@never_cache
@require_POST
def give_token(request: HttpRequest) -> HttpResponse:
    """RFC 8628, 3.4, and RFC 6749, 6: the tokens of an agent that was approved, or renews itself."""
    return _answer(SERVER.create_token_response, request)


@csrf_exempt
@never_cache
@require_POST
def revoke(request: HttpRequest) -> HttpResponse:
    """RFC 7009: an agent signs itself out."""
    return _answer(SERVER.create_endpoint_response, "revocation", request)


@require_safe
def show_server(request: HttpRequest) -> HttpResponse:
    """RFC 8414: where the endpoints are."""
    return JsonResponse(
        {
            "issuer": request.build_absolute_uri("/").rstrip("/"),
            "device_authorization_endpoint": request.build_absolute_uri(reverse("oauth_ask")),
            "token_endpoint": request.build_absolute_uri(reverse("oauth_token")),
            "revocation_endpoint": request.build_absolute_uri(reverse("oauth_revoke")),
            "grant_types_supported": list(GRANT_TYPES),
            "response_types_supported": [],
            "scopes_supported": list(Scope.values),
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "service_documentation": request.build_absolute_uri(reverse("llms")),
        }
    )


@require_safe
def show_resource(request: HttpRequest, path: str = "") -> HttpResponse:
    """RFC 9728: which server gives tokens for this one, also asked with the path of a door behind it."""
    root = request.build_absolute_uri("/").rstrip("/")
    return JsonResponse(
        {
            "resource": f"{root}/{path}" if path else root,
            "authorization_servers": [root],
            "scopes_supported": list(Scope.values),
            "bearer_methods_supported": ["header"],
        }
    )


def _answer(endpoint: Callable[..., Any], *asked: Any) -> HttpResponse:  # Any: authlib has no types
    """What the endpoint says, as JSON, which Authlib writes and does not name; a request without TLS is refused."""
    try:
        found: HttpResponse = endpoint(*asked)
    except OAuth2Error as error:
        return JsonResponse(dict(error.get_body()), status=error.status_code)
    found["Content-Type"] = "application/json"
    return found

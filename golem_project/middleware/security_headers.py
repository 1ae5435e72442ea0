"""Adds the security headers to every answer: nothing from elsewhere, in nobody's frame, with no device.

No page has an inline script or style; what the admin's theme would write inline is replaced (decision 0194).
The theme evaluates the expressions of its own templates (Alpine), so the admin alone allows `unsafe-eval`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponse

ADMIN_PATH = "/admin/"
PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()"
_NOWHERE = {"frame-ancestors": "'none'", "base-uri": "'none'", "object-src": "'none'"}
_DATA = {"default-src": "'none'", **_NOWHERE, "form-action": "'none'"}
_PAGE = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    **_NOWHERE,
    "form-action": "'self'",
}


def _join(directives: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


DATA_POLICY, PAGE_POLICY = _join(_DATA), _join(_PAGE)
ADMIN_POLICY = _join({**_PAGE, "script-src": "'self' 'unsafe-eval'"})


class PageHeaders:
    """Adds Content-Security-Policy and Permissions-Policy to every answer that does not bring its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", choose_policy(request, response))
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response


def choose_policy(request: HttpRequest, response: HttpResponse) -> str:
    """The strictest policy under which this answer still works."""
    if not response.headers.get("Content-Type", "").startswith("text/html"):
        return DATA_POLICY
    return ADMIN_POLICY if request.path.startswith(ADMIN_PATH) else PAGE_POLICY

"""Gives back what a person typed into a form while their session ended, and does nothing with it."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.urls import reverse

ADMIN_PATH = "/admin/"
MOST_KEPT = 60
_SECRET_PARTS = ("csrf", "password", "passphrase", "code", "secret", "token", "key", "proof", "signature", "digest")
_ALWAYS_OPEN = ("/admin/login/", "/admin/logout/")


class KeptForms:
    """Answers a POST to the admin by nobody with what was typed, instead of the login page alone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        person: Any = request.user  # Any: which model accounts have is a setting
        is_form = request.method == "POST" and request.path.startswith(ADMIN_PATH)
        had_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if is_form and had_session and request.path not in _ALWAYS_OPEN and not person.is_authenticated:
            login = f"{reverse('admin:login')}?next={request.path}"
            return show_kept(request, "You were logged out", "Your session ended before this was sent.", login)
        return self.get_response(request)


def show_kept(request: HttpRequest, title: str, why: str, again: str, *, status: int = 403) -> HttpResponse:
    """The page with what was typed, secrets left out. It asks neither the database nor who is there."""
    context = {
        "title": title,
        "why": why,
        "kept": _read_kept(request),
        "again": again,
        "is_unsure": status == HTTPStatus.INTERNAL_SERVER_ERROR,
    }
    return HttpResponse(render_to_string("kept_form.html", context), status=status)


def has_typed(request: HttpRequest) -> bool:
    """Whether this is a form of the admin with something in it that a person would miss."""
    return request.method == "POST" and request.path.startswith(ADMIN_PATH) and bool(_read_kept(request))


def _read_kept(request: HttpRequest) -> list[tuple[str, str]]:
    try:
        typed = list(request.POST.lists())
    except (OSError, RequestDataTooBig, TooManyFieldsSent, MultiPartParserError):
        return []
    kept = [
        (name.replace("_", " "), value)
        for name, values in typed
        for value in values
        if value and not name.startswith("_") and not any(part in name.lower() for part in _SECRET_PARTS)
    ]
    return kept[:MOST_KEPT]

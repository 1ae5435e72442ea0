"""A form that was filled in while the session ended: the person gets back what they typed, and nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
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
        person: Any = request.user
        is_form = request.method == "POST" and request.path.startswith(ADMIN_PATH)
        had_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if is_form and had_session and request.path not in _ALWAYS_OPEN and not person.is_authenticated:
            login = f"{reverse('admin:login')}?next={request.path}"
            return show_kept(request, "You were logged out", "Your session ended before this was sent.", login)
        return self.get_response(request)


def show_kept(request: HttpRequest, title: str, why: str, again: str) -> HttpResponse:
    """The page with what was typed, secrets left out; status 403."""
    kept = [
        (name.replace("_", " "), value)
        for name, values in request.POST.lists()
        for value in values
        if value and not name.startswith("_") and not any(part in name.lower() for part in _SECRET_PARTS)
    ]
    context = {"title": title, "why": why, "kept": kept[:MOST_KEPT], "again": again}
    return render(request, "kept_form.html", context, status=403)

"""Tells the waiting lines whose session was good (middleware)."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from golem_project.pi.known_callers import KNOWN, name_session


class KnownSessions:
    """Notes a session once its person was looked up, or has just signed in; looks nobody up itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        was_asked = "_cached_user" in vars(request) or not isinstance(request.user, SimpleLazyObject)
        key = request.session.session_key
        # The REST framework leaves no user where a view asks nobody who they are, and an agent where a key came.
        person = request.user if was_asked else None
        if key and isinstance(person, AbstractBaseUser) and person.is_authenticated:
            KNOWN.note(name_session(key), who=f"owner:{person.pk}")
        return response

"""Notes where a person signs in, lists it, and ends a session from another browser."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from archetypes_app.models import SignIn
from tools_app.core import clock

_LONGEST_BROWSER = 200


def note_sign_in(
    sender: object,
    *,
    request: HttpRequest | None,
    user: Any,  # Any: which model accounts have is a setting
    **given: object,
) -> None:
    """Write a sign-in down; those whose session is gone are forgotten."""
    key = request.session.session_key if request is not None else None
    if request is None or not key:
        return
    living = Session.objects.filter(expire_date__gt=clock.now()).values("session_key")
    SignIn.objects.filter(person=user).exclude(session_key__in=living).delete()
    facts = {
        "person": user,
        "browser": request.headers.get("User-Agent", "")[:_LONGEST_BROWSER],
        "address": str(request.META.get("REMOTE_ADDR", ""))[:45],
        "signed_in_at": clock.now(),
    }
    SignIn.objects.update_or_create(session_key=key, defaults=facts)


def listen() -> None:
    """Have every sign-in noted."""
    user_logged_in.connect(note_sign_in, dispatch_uid="golem_project.people.note_sign_in")


@never_cache
@require_http_methods(["GET", "POST"])
def show_sign_ins(request: HttpRequest) -> HttpResponse:
    """This person's own sign-ins; a POST ends one of them, or all but this one."""
    person: Any = request.user  # Any: which model accounts have is a setting
    living = Session.objects.filter(expire_date__gt=clock.now())
    rows = SignIn.objects.filter(person=person, session_key__in=living.values("session_key"))
    if request.method == "POST":
        wanted = _read_number(request.POST.get("sign_in", ""))
        others = rows.exclude(session_key=request.session.session_key)
        chosen = others if request.POST.get("do") == "all" else others.filter(pk=wanted)
        ended, _ = Session.objects.filter(session_key__in=list(chosen.values_list("session_key", flat=True))).delete()
        messages.success(request, f"{ended} sign-in{'' if ended == 1 else 's'} ended.")
        return HttpResponseRedirect(reverse("sign_ins"))
    context = {
        **admin.site.each_context(request),
        "title": "Where you are signed in",
        "rows": [(row, row.session_key == request.session.session_key) for row in rows],
    }
    return TemplateResponse(request, "golem_project/people/sign_ins.html", context)


def _read_number(text: str) -> int:
    """The key of a row; 0, which none has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0

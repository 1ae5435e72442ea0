"""The page behind an invitation: make an account, or join with the one that is signed in.

The invitation's secret stands behind the `#` of its link, so that it is in no address a server or a log sees.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.forms import BaseUserCreationForm
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from archetypes_app.actions.invite_person import find_invitation, join_golem
from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_member_group
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted

_BACKEND = "django.contrib.auth.backends.ModelBackend"


class InvitationForm(forms.Form):
    """The invitation of somebody who has an account."""

    invitation = forms.CharField(max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"}))


class AccountForm(BaseUserCreationForm):
    """The invitation, a name, and a password that the server's rules for passwords accept."""

    invitation = forms.CharField(max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    field_order = ("invitation", "username", "password1", "password2")

    class Meta:
        model = get_user_model()
        fields = ("username",)


@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest) -> HttpResponse:
    """A form; its POST uses the invitation up. One that is over says so, and nothing about any golem."""
    person: Any = request.user  # Any: which model accounts have is a setting
    has_account = person.is_authenticated and person.is_staff
    form: Any  # Any: two forms with different fields
    form = (InvitationForm if has_account else AccountForm)(request.POST or None)
    context = {"form": form, "person": person if has_account else None}
    if request.method != "POST":
        return render(request, "golem_project/people/join.html", context)
    try:
        # First: whoever has no invitation is not told either which names are taken.
        find_invitation(request.POST.get("invitation", "").strip(), now=clock.now())
        if not form.is_valid():
            return render(request, "golem_project/people/join.html", context)
        golem = _join(request, form, person if has_account else None)
    except GolemError as error:
        bare = {**context, "form": type(form)(), "refusal": error}
        return render(request, "golem_project/people/join.html", bare, status=error.http_status)
    messages.success(request, f"You see {golem.name} now.")
    return HttpResponseRedirect(reverse("cockpit", args=[golem.pk]))


def _join(request: HttpRequest, form: Any, person: Any) -> Golem:  # Any: which model accounts have is a setting
    golem, joined = _make_member(form.cleaned_data["invitation"].strip(), form, person)
    if person is None:
        login(request, joined, backend=_BACKEND)
    return golem


@retry_aborted
def _make_member(
    secret: str,
    form: Any,  # Any: Django hands on any form and row
    person: Any,  # Any: which model accounts have is a setting
) -> tuple[Golem, Any]:  # Any: an account, whose model is a setting of Django's
    """One transaction: no account is left behind by a link that was used up at this moment. Raises InvitationOver."""
    with transaction.atomic():
        find_invitation(secret, now=clock.now())
        if person is None:
            person = form.save(commit=False)
            person.is_staff = True
            person.save()
        golem = join_golem(secret=secret, person=person, now=clock.now())
        person.groups.add(ensure_member_group())
    return golem, person

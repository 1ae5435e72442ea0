"""The page on which a person types the code of an agent, sees what asks, and lets it act for a golem or not."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from archetypes_app.actions.decide_sign_in import approve_sign_in, deny_sign_in, find_waiting
from archetypes_app.models import AgentSignIn, Golem
from archetypes_app.models.api_key import Scope
from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power
from golem_project.front.addresses import read_address_of
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.pages.confirmation import report_refusal

LIFETIME_DAYS = 30
MOST_DAYS = 90
_APPROVE, _DENY = "approve", "deny"
_KEYS = "admin:archetypes_app_apikey_changelist"


class CodeForm(forms.Form):
    """What the agent shows."""

    code = PlainTextField(
        max_length=16,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
        help_text="Eight letters, for example BCDF-GHJK",
    )


class SignInForm(forms.Form):
    """What it may do, and that the person who decides has started it."""

    golem: forms.ModelChoiceField[Golem] = forms.ModelChoiceField(
        queryset=Golem.objects.none(), widget=UnfoldAdminSelectWidget(), empty_label="Choose a golem"
    )
    scopes = forms.MultipleChoiceField(widget=UnfoldAdminCheckboxSelectMultipleWidget(), help_text="Give what it needs")
    lifetime_days = forms.IntegerField(
        label="Signed in for (days)",
        min_value=1,
        max_value=MOST_DAYS,
        initial=LIFETIME_DAYS,
        widget=UnfoldAdminTextInputWidget(),
        help_text="It renews its tokens, which live for ten minutes, until then; you can end it on the page of its key",
    )
    is_mine = forms.BooleanField(
        label="I started this agent, and this is the code that it shows me",
        widget=UnfoldBooleanWidget(),
        help_text="Whoever sends you a code wants to act for your golem",
    )

    def __init__(
        self,
        *args: Any,  # Any: authlib has no types
        golems: Any,  # Any: rows of any model
        row: AgentSignIn,
        **kwargs: Any,  # Any: authlib has no types
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["golem"].queryset = golems  # type: ignore[attr-defined]
        asked = [(value, label) for value, label in Scope.choices if value in row.asked_scopes]
        self.fields["scopes"].choices = asked  # type: ignore[attr-defined]
        self.fields["scopes"].initial = list(row.asked_scopes)


@never_cache
@require_http_methods(["GET", "POST"])
def sign_in_agent(request: HttpRequest) -> HttpResponse:
    """A code, then what asks with it. The code comes in the body alone: no link brings one."""
    person: Any = request.user  # Any: which model accounts have is a setting
    if not person.has_perm("archetypes_app.add_apikey"):
        raise PermissionDenied
    now, did = clock.now(), request.POST.get("do", "")
    code = CodeForm(request.POST or None)
    row = find_waiting(code.cleaned_data["code"], now=now) if request.POST and code.is_valid() else None
    if request.method == "POST" and code.is_valid() and row is None:
        code.add_error("code", "No agent waits with this code. It holds for ten minutes; have the agent ask again.")
    form = None
    if row is not None:
        golems = list_golems_with(person, Power.OPERATE).filter(retired_at__isnull=True).order_by("name")
        form = SignInForm(request.POST if did == _APPROVE else None, golems=golems, row=row)
        if did == _DENY or (did == _APPROVE and form.is_valid()):
            return _decide(request, row, form if did == _APPROVE else None)
    context = {
        **admin.site.each_context(request),
        "title": "Sign an agent in",
        "code": code,
        "row": row,
        "form": form,
        "here": read_address_of(request.META),
        "back_url": reverse(_KEYS),
    }
    return TemplateResponse(request, "golem_project/oauth/sign_in.html", context)


def _decide(request: HttpRequest, row: AgentSignIn, form: SignInForm | None) -> HttpResponse:
    """Back to the list of keys, where the agent's own will stand."""
    now = clock.now()
    try:
        if form is None:
            deny_sign_in(row=row, decided_by=request.user, now=now)
            messages.success(request, f"{row.agent} was told no.")
        else:
            golem = form.cleaned_data["golem"]
            approve_sign_in(
                row=row,
                golem=golem,
                scopes=form.cleaned_data["scopes"],
                lifetime_days=form.cleaned_data["lifetime_days"],
                decided_by=request.user,
                now=now,
            )
            messages.success(request, f"{row.agent} acts for {golem} as soon as it asks again, within ten minutes.")
    except GolemError as error:
        return report_refusal(request, error, reverse("sign_in_agent"))
    return HttpResponseRedirect(reverse(_KEYS))

"""One page for every dangerous button: what will happen, a form when something must be said, and a way back."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextareaWidget

from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField


class ReasonForm(forms.Form):
    """A reason, which ends up in the audit log."""

    reason = PlainTextField(
        max_length=500,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "autofocus": True}),
        help_text="Kept in the audit log",
    )


def show_confirmation(
    *,
    request: HttpRequest,
    model_admin: ModelAdmin,
    title: str,
    explanation: str,
    form: forms.Form,
    submit: str,
    back_url: str,
    is_dangerous: bool = False,
    subject: Any = None,  # Any: Django hands on any value
) -> HttpResponse:
    """The page that asks. It posts to itself."""
    context = {
        **model_admin.admin_site.each_context(request),
        "title": title,
        "explanation": explanation,
        "form": form,
        "submit": submit,
        "back_url": back_url,
        "is_dangerous": is_dangerous,
        "subject": subject,
        "opts": model_admin.opts,
    }
    return TemplateResponse(request, "admin/golem/confirm.html", context)


def report_refusal(request: HttpRequest, error: GolemError, back_url: str) -> HttpResponse:
    """Say why nothing happened, in the words of the error, and go back."""
    messages.error(request, f"{error.title}: {error.detail}" if error.detail != error.title else error.title)
    return HttpResponseRedirect(back_url)

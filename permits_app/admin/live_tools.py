"""The form of a live golem: more tools are asked for, not saved; fewer are saved as ever.

Django's form is carried out in a savepoint that is taken back, so what is asked for is what saving would have done.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from archetypes_app.models import Golem
from archetypes_app.toolset_diff import GolemEffect
from permits_app.actions.request_change import request_operation
from permits_app.approvals.operations.tools import read_tool_sources
from permits_app.approvals.setup import is_in_setup
from permits_app.approvals.views import page_of as page_of_request
from tools_app.admin.confirm import report_refusal
from tools_app.core import clock
from tools_app.core.errors import GolemError

REASON: Final = "_why"


class LiveToolsMixin:
    """Stands before the golem's form."""

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The form, unless saving it would give a live golem more tools."""
        if request.method == "POST" and object_id:
            answer = self._intercept(request, object_id, form_url, extra_context)
            if answer is not None:
                return answer
        shown: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)  # type: ignore[misc]
        return shown

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Note where the tools would come from."""
        super().save_related(request, form, formsets, change)  # type: ignore[misc]
        request.tool_sources_after = read_tool_sources(form.instance)  # type: ignore[attr-defined]

    def _intercept(
        self, request: HttpRequest, object_id: str, form_url: str, extra_context: Any
    ) -> HttpResponse | None:
        admin: Any = self
        golem: Golem = admin.get_row(request, object_id)
        if not golem.is_live or is_in_setup(golem) or not admin.has_change_permission(request, golem):
            return None
        with transaction.atomic():
            admin._rehearse(request, object_id, form_url, extra_context)
        effects: tuple[GolemEffect, ...] = getattr(request, "rehearsed_effects", ())
        after = getattr(request, "tool_sources_after", None)
        if after is None or not any(effect.diff.added for effect in effects):
            return None
        reason = str(request.POST.get(REASON, "")).strip()
        if not reason:
            return self._ask_why(request, golem, effects)
        try:
            opened = request_operation(
                golem=golem, name="tools", arguments=after, owner=request.user, reason=reason, now=clock.now()
            )
        except GolemError as error:
            return report_refusal(request, error, admin.page_of(golem))
        messages.info(request, "The golem is live, so this waits for its owners. Nothing else of the form was saved.")
        return HttpResponseRedirect(page_of_request(opened.pk))

    def _show_diff(self, request: HttpRequest, object_id: str, effects: tuple[GolemEffect, ...]) -> HttpResponse:
        request.rehearsed_effects = effects  # type: ignore[attr-defined]
        shown: HttpResponse = super()._show_diff(request, object_id, effects)  # type: ignore[misc]
        return shown

    def _ask_why(self, request: HttpRequest, golem: Golem, effects: tuple[GolemEffect, ...]) -> HttpResponse:
        admin: Any = self
        fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in ("csrfmiddlewaretoken", REASON)
        ]
        context = {
            **admin.admin_site.each_context(request), "title": "More tools for a live golem", "opts": admin.opts,
            "golem": golem, "fields": fields, "added": [each for effect in effects for each in effect.diff.added],
            "removed": [each for effect in effects for each in effect.diff.removed],
        }  # fmt: skip
        return TemplateResponse(request, "permits_app/approvals/more_tools.html", context)

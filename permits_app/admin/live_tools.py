"""The form of a live golem: more tools are asked for, not saved; fewer are saved as ever.

Django's form is carried out in a savepoint that is taken back, so what is asked for is what saving would have done.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from archetypes_app.models import Golem
from archetypes_app.toolset_diff import GolemEffect
from permits_app.actions.request_change import request_operation
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.approvals.golem_setup import is_in_setup
from permits_app.approvals.operations.tools import read_tool_sources
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import report_refusal

REASON: Final = "_why"


class LiveToolsMixin:
    """Stands before the golem's form."""

    def get_readonly_fields(
        self,
        request: HttpRequest,
        obj: Any = None,  # Any: a row of the page's model
    ) -> tuple[str, ...]:
        """Whom a golem with agents belongs to is not moved by a form: its owners approve what it does."""
        fixed = tuple(super().get_readonly_fields(request, obj))  # type: ignore[misc]
        return (*fixed, "owner") if obj is not None and not is_in_setup(obj) else fixed

    def save_related(self, request: HttpRequest, form: object, formsets: object, change: bool) -> None:
        """Note where the tools would come from."""
        super().save_related(request, form, formsets, change)  # type: ignore[misc]
        request.tool_sources_after = read_tool_sources(form.instance)  # type: ignore[attr-defined]

    def refuse_effects(
        self, request: HttpRequest, object_id: str, effects: tuple[GolemEffect, ...]
    ) -> HttpResponse | None:
        """Asks why, and then the owners, when a live golem would get more tools."""
        admin: Any = self  # Any: the admin that it is mixed into
        golem: Golem = admin.get_row(request, object_id)
        if not golem.is_live or is_in_setup(golem) or not any(effect.diff.added for effect in effects):
            return None
        reason = str(request.POST.get(REASON, "")).strip()
        if not reason:
            return self._ask_why(request, golem, effects)
        after = request.tool_sources_after  # type: ignore[attr-defined]
        try:
            opened = request_operation(
                golem=golem, name="tools", arguments=after, owner=request.user, reason=reason, now=clock.now()
            )
        except GolemError as error:
            return report_refusal(request, error, admin.page_of(golem))
        messages.info(request, "The golem is live, so this waits for its owners. Nothing else of the form was saved.")
        return HttpResponseRedirect(page_of_request(opened.pk))

    def _ask_why(self, request: HttpRequest, golem: Golem, effects: tuple[GolemEffect, ...]) -> HttpResponse:
        admin: Any = self  # Any: the admin that it is mixed into
        fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in ("csrfmiddlewaretoken", REASON)
        ]
        context = {
            **admin.admin_site.each_context(request),
            "title": "More tools for a live golem",
            "opts": admin.opts,
            "golem": golem,
            "fields": fields,
            "added": [each for effect in effects for each in effect.diff.added],
            "removed": [each for effect in effects for each in effect.diff.removed],
        }
        return TemplateResponse(request, "permits_app/approvals/more_tools.html", context)

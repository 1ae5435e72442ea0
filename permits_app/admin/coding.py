"""Coding workspaces of live golems: what gives one more freedom is asked for, anything else is saved as ever."""

from __future__ import annotations

from typing import Final

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from archetypes_app.admin.coding import CodingWorkspaceAdmin as WorkspaceFormAdmin
from archetypes_app.coding_form import CodingWorkspaceForm
from archetypes_app.models import CodingWorkspace, Golem
from archetypes_app.roles import Power
from permits_app.actions.request_change import request_operation
from permits_app.approval_pages.views import page_of
from permits_app.approvals.operations.workspace import list_differences, read_workspace
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import report_refusal

REASON: Final = "_why"


@admin.register(CodingWorkspace)
class CodingWorkspaceGuardAdmin(WorkspaceFormAdmin):
    """The form, unless what is posted would loosen what holds a live golem."""

    write_power = Power.ADMINISTER

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: object = None
    ) -> HttpResponse:
        """Asks why, and then the owners, where the form may not be saved for that alone."""
        if request.method == "POST":
            answer = self._intercept(request, object_id)
            if answer is not None:
                return answer
        shown: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return shown

    def _intercept(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        row: CodingWorkspace | None = self.get_row(request, object_id) if object_id else None
        allowed = self.has_change_permission(request, row) if row else self.has_add_permission(request)
        if not allowed:
            return None
        form: CodingWorkspaceForm = self.get_form(request, row, change=row is not None)(request.POST, instance=row)
        with transaction.atomic():
            asks = form.asks_owners
        if not asks:
            return None
        golem: Golem = row.golem if row is not None else form.instance.golem
        reason = str(request.POST.get(REASON, "")).strip()
        if not reason:
            return self._ask_why(request, golem, form.wished)
        try:
            opened = request_operation(
                golem=golem, name="workspace", arguments=form.wished, owner=request.user, reason=reason, now=clock.now()
            )
        except GolemError as error:
            return report_refusal(request, error, request.path)
        messages.info(request, "The golem is live, so this waits for its owners. Nothing of the form was saved.")
        return HttpResponseRedirect(page_of(opened.pk))

    def _ask_why(self, request: HttpRequest, golem: Golem, wished: dict[str, object]) -> HttpResponse:
        fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in ("csrfmiddlewaretoken", REASON)
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": "More freedom for a live golem",
            "opts": self.opts,
            "golem": golem,
            "fields": fields,
            "found": list_differences(read_workspace(golem), CodingWorkspace(golem=golem, **wished)),
        }
        return TemplateResponse(request, "permits_app/approvals/loosen_workspace.html", context)

"""Forms of a golem's policy: what tightens is saved, what loosens becomes a request to its owners, with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.actions.change_policy import change_policy, compare_policy, list_mirrored
from permits_app.approval_pages.views import page_of
from permits_app.approvals.golem_setup import is_in_setup
from permits_app.approvals.policy_state import CAGE_COLUMNS, LIMIT_COLUMNS, PolicyDifference, longest_wait, name_entry
from permits_app.models import AllowlistEntry, PolicyCage
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import report_refusal
from tools_app.wording.formats import format_seconds

REASON: Final = "_why"


class LooseningMixin:
    """For an admin of rows with a `golem`: a post that loosens the policy asks why and opens a request instead."""

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: object = None
    ) -> HttpResponse:
        """Django's form, unless what is posted would loosen."""
        if request.method == "POST":
            answer = self._intercept(request, object_id)
            if answer is not None:
                return answer
        shown: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)  # type: ignore[misc]
        return shown

    def _intercept(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        admin: Any = self  # Any: the admin that it is mixed into
        row = admin.get_row(request, object_id) if object_id else None
        allowed = admin.has_change_permission(request, row) if row else admin.has_add_permission(request)
        if not allowed:
            return None
        form = admin.get_form(request, row, change=row is not None)(request.POST, request.FILES, instance=row)
        if not form.is_valid():
            return None
        golem: Golem = row.golem if row is not None else form.cleaned_data["golem"]
        changes = _list_changes(form, row)
        found = compare_policy(golem=golem, changes=changes)
        on_chain = list_mirrored(golem, found)
        if not on_chain and (is_in_setup(golem) or not any(each.loosens for each in found)):
            return None
        reason = str(request.POST.get(REASON, "")).strip()
        if not reason:
            return self._ask_why(request, golem, found, is_on_chain=bool(on_chain))
        try:
            outcome = change_policy(golem=golem, changes=changes, owner=request.user, reason=reason, now=clock.now())
        except GolemError as error:
            return report_refusal(request, error, reverse("admin:archetypes_app_golem_change", args=[golem.pk]))
        if outcome.applied:
            messages.success(request, "What tightens holds from now on.")
        words = "It waits for the signature of the Safe's owners." if on_chain else "What loosens waits for the owners."
        messages.info(request, words)
        assert outcome.request is not None
        return HttpResponseRedirect(page_of(outcome.request.pk))

    def _ask_why(
        self, request: HttpRequest, golem: Golem, found: Sequence[PolicyDifference], *, is_on_chain: bool
    ) -> HttpResponse:
        admin: Any = self  # Any: the admin that it is mixed into
        fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in ("csrfmiddlewaretoken", REASON)
        ]
        waiting = [each for each in found if each.loosens]
        title = "This changes in the golem's contract" if is_on_chain else "This loosens what holds now"
        context = {
            **admin.admin_site.each_context(request),
            "title": title,
            "opts": admin.opts,
            "golem": golem,
            "found": found,
            "fields": fields,
            "is_on_chain": is_on_chain,
            "wait": format_seconds(longest_wait(waiting)),
        }
        return TemplateResponse(request, "permits_app/approvals/loosen.html", context)


def _list_changes(form: Any, row: Any) -> list[dict[str, object]]:  # Any: Django's own form or rows
    if form._meta.model is AllowlistEntry:
        return _list_entry_changes(form, row)
    name, columns = ("cage", CAGE_COLUMNS) if form._meta.model is PolicyCage else ("limits", LIMIT_COLUMNS)
    return [
        {"row": name, "name": column, "after": str(form.cleaned_data[column])}
        for column in form.cleaned_data
        if column in columns
    ]


def _list_entry_changes(
    form: Any,  # Any: Django's own form or rows
    row: AllowlistEntry | None,
) -> list[dict[str, object]]:
    given = form.cleaned_data
    key = name_entry(given["chain_id"], given["kind"], given["address"])
    changes: list[dict[str, object]] = []
    if row is not None:
        stored = AllowlistEntry.objects.get(pk=row.pk)
        old = name_entry(stored.chain_id, stored.kind, stored.address)
        if old != key:
            changes.append({"row": "allowlist", "name": old, "after": None})
    return [*changes, {"row": "allowlist", "name": key, "after": given.get("label", "")}]

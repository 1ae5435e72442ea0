"""Every version of PLAYBOOK, STRATEGY and HEURISTICS with its diff; an owner restores one or writes the next."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from memory_app.actions.restore_directive import restore_directive, write_directive
from memory_app.actions.snapshot_heuristics import snapshot_heuristics
from memory_app.admin.agent_written_marks import is_by_agent
from memory_app.heuristic_text import apply_heuristics
from memory_app.models import Directive
from memory_app.models.directive import Document
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation
from tools_app.pages.html import show_age, show_unchecked
from tools_app.pages.opened_rows import OpenedForm


class NextVersionForm(OpenedForm):
    """The whole text of the next version, and why."""

    text = PlainTextField(max_length=1_000_000, strip=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 24}))
    reason = PlainTextField(max_length=500, widget=UnfoldAdminTextInputWidget())


@admin.register(Directive)
class DirectiveAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Versions of a golem's documents with their differences."""

    empty_text = "Nothing written yet: the agent writes its playbook, an owner the strategy on the golem's page."
    list_display = ("document", "version", "golem", "section", "why", "actor", "age")
    list_filter = (GolemFilter, "document")
    list_select_related = ("golem",)
    search_fields = ("section", "reason", "=actor")
    ordering = ("-created_at",)
    fields = ("golem", "document", "version", "section", "why", "actor", "created_at", "difference", "whole_text")
    readonly_fields = ("why", "difference", "whole_text")
    change_form_template = "admin/memory_app/directive/version.html"

    @display(description="When", ordering="created_at")
    def age(self, obj: Directive) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    @display(description="Difference")
    def difference(self, obj: Directive) -> SafeString:
        """As a unified diff."""
        return format_html('<pre class="gx-pre">{}</pre>', obj.diff)

    @display(description="Text")
    def whole_text(self, obj: Directive) -> SafeString:
        """The whole document."""
        text = format_html('<pre class="gx-pre">{}</pre>', obj.text)
        return show_unchecked(text) if is_by_agent(obj) else text

    @display(description="Reason", ordering="reason")
    def why(self, obj: Directive) -> str | SafeString:
        """In the words of who wrote the version."""
        return show_unchecked(obj.reason) if is_by_agent(obj) else obj.reason

    def get_urls(self) -> Any:  # Any: unfold has no types
        """Restore a version; write the next one."""
        wrap = self.admin_site.admin_view
        return [
            path("<uuid:object_id>/restore/", wrap(self.restore_view), name="memory_app_directive_restore"),
            path("<uuid:object_id>/edit/", wrap(self.edit_view), name="memory_app_directive_edit"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """The version with its neighbours in history."""
        row = self.get_object(request, object_id)
        extra = dict(extra_context or {})
        if row is not None:
            history = Directive.objects.filter(golem_id=row.golem_id, document=row.document).order_by("-version")
            written = [(each, is_by_agent(each)) for each in history[:50]]
            extra |= {"history": written, "may_edit": self._may_edit(request, row)}
        page: HttpResponse = super().change_view(request, object_id, form_url, extra)
        return page

    def restore_view(self, request: HttpRequest, object_id: object) -> HttpResponse:
        """Make this version the newest again."""
        row = self._get_editable(request, object_id)
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            return self._write(request, row, row.text, form.cleaned_data["reason"], restored=True)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Restore {row}",
            form=form,
            submit="Restore",
            subject=row.golem,
            explanation="Its text becomes the newest version. The versions in between stay in the history.",
            back_url=self._page(row),
        )

    def edit_view(self, request: HttpRequest, object_id: object) -> HttpResponse:
        """Write the next version, starting from this one."""
        row = self._get_editable(request, object_id)
        newest = Directive.objects.filter(golem_id=row.golem_id, document=row.document).latest("version")
        form = NextVersionForm(
            request.POST or None, initial={"text": row.text}, stored={"newest_version": str(newest.version)}
        )
        if request.method == "POST" and form.is_valid():
            return self._write(request, row, form.cleaned_data["text"], form.cleaned_data["reason"])
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Write the next {row.document}",
            form=form,
            submit="Save",
            subject=row.golem,
            back_url=self._page(row),
            explanation="It becomes a new version with its diff. No limit is read from it.",
        )

    def _write(
        self, request: HttpRequest, row: Directive, text: str, reason: str, *, restored: bool = False
    ) -> HttpResponse:
        now, actor = clock.now(), name_actor(request.user)
        fresh: Directive | None
        try:
            if row.document == Document.HEURISTICS:
                apply_heuristics(golem_id=row.golem_id, text=text, actor=actor, reason=reason, now=now)
                fresh = snapshot_heuristics(golem_id=row.golem_id, actor=actor, reason=reason, now=now)
            elif restored:
                fresh = restore_directive(directive=row, reason=reason, actor=actor, now=now)
            else:
                fresh = write_directive(
                    golem_id=row.golem_id,
                    document=Document(row.document),
                    text=text,
                    reason=reason,
                    actor=actor,
                    now=now,
                )
        except GolemError as error:
            return report_refusal(request, error, self._page(row))
        messages.success(request, f"{fresh or row.document} holds now.")
        return HttpResponseRedirect(self._page(fresh or row))

    def _may_edit(self, request: HttpRequest, row: Directive) -> bool:
        return bool(
            request.user.has_perm("memory_app.change_directive") and self._is_theirs(request, row, self.write_power)
        )

    def _get_editable(self, request: HttpRequest, object_id: object) -> Directive:
        row: Directive = self.get_row(request, object_id)
        if not self._may_edit(request, row):
            raise PermissionDenied
        return row

    def _page(self, row: Directive) -> str:
        return reverse("admin:memory_app_directive_change", args=[row.pk])

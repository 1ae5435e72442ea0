"""Journals of dreams: what was replayed, imagined and concluded; a running one can be stopped."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from memory_app.dreams.run_dream import request_stop
from memory_app.models import DreamJournal
from memory_app.models.dream import DreamState
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.pages.confirmation import ReasonForm, show_confirmation
from tools_app.pages.html import QUOTED, show_age, show_badge, show_unchecked
from tools_app.wording.formats import format_bps

_ERROR = "prediction_error_bps"
_TONES = {"RUNNING": "busy", "DONE": "good", "INTERRUPTED": "warn", "FAILED": "bad"}


@admin.register(DreamJournal)
class DreamJournalAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One row a phase. Its texts are data, never instructions."""

    empty_text = "Golems with memory dream every six hours, once they have episodes."
    list_display = ("phase", "golem", "state_badge", "looked_at", "trigger", "age")
    list_filter = (GolemFilter, "phase", "state")
    list_select_related = ("golem",)
    search_fields = ("=dream_id", "=id")
    ordering = ("-started_at",)
    fields = ("golem", "phase", "state_badge", "dream_id", "trigger", "started_at", "finished_at", "note", "whole")
    readonly_fields = ("state_badge", "whole")
    change_form_template = "admin/memory_app/dream.html"

    def get_urls(self) -> Any:  # Any: unfold has no types
        """The page of the button."""
        view = self.admin_site.admin_view(self.stop_view)
        return [path("<uuid:object_id>/stop/", view, name="memory_app_dreamjournal_stop"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """The journal, with a button while it runs."""
        row = self.get_object(request, object_id)
        extra = dict(extra_context or {})
        if row is not None:
            extra["may_stop"] = row.state == DreamState.RUNNING and self._may_stop(request, row)
        page: HttpResponse = super().change_view(request, object_id, form_url, extra)
        return page

    def stop_view(self, request: HttpRequest, object_id: Any) -> HttpResponse:  # Any: Django hands on any value
        """Ask a running dream to end."""
        row: DreamJournal = self.get_row(request, object_id)
        if not self._may_stop(request, row):
            raise PermissionDenied
        back = reverse("admin:memory_app_dreamjournal_change", args=[row.pk])
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            asked = request_stop(
                journal=row, actor=name_actor(request.user), reason=form.cleaned_data["reason"], now=clock.now()
            )
            messages.success(request, "It ends after the episode it is at." if asked else "It has ended already.")
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title="Stop this dream",
            form=form,
            submit="Stop",
            subject=row,
            explanation="It ends after the episode it is at; its journal keeps what it had.",
            back_url=back,
        )

    @display(description="State", ordering="state")
    def state_badge(self, obj: DreamJournal) -> SafeString:
        """Coloured."""
        return show_badge(obj.state, _TONES.get(obj.state, "quiet"))

    @display(description="Entries")
    def looked_at(self, obj: DreamJournal) -> int:
        """How many."""
        return len(obj.entries)

    @display(description="Began", ordering="started_at")
    def age(self, obj: DreamJournal) -> SafeString:
        """How long ago."""
        return show_age(obj.started_at)

    @display(description="Journal")
    def whole(self, obj: DreamJournal) -> SafeString:
        """Indented, with its figures in percent."""
        told = json.dumps([_tell(entry) for entry in obj.entries], indent=2, sort_keys=True, ensure_ascii=False)
        entries = format_html('<pre class="gx-pre">{}</pre>', told)
        return show_unchecked(entries, of=QUOTED)

    def _may_stop(self, request: HttpRequest, row: DreamJournal) -> bool:
        return bool(
            request.user.has_perm("memory_app.change_dreamjournal") and self._is_theirs(request, row, self.write_power)
        )


def _tell(entry: object) -> object:
    """An entry as it is kept, but how far a prediction was off in percent."""
    if not isinstance(entry, dict) or not isinstance(error := entry.get(_ERROR), int):
        return entry
    kept = {name: value for name, value in entry.items() if name != _ERROR}
    return {**kept, "prediction error": format_bps(error)}

"""Halts as they happened, read only: what was stopped, step by step, and which keys lost which scopes."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.choices import GolemFilter
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from permits_app.models import HaltRecord
from tools_app.admin.display import show_age, show_badge
from tools_app.admin.read_only import ReadOnlyAdminMixin


@admin.register(HaltRecord)
class HaltRecordAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One row per halt."""

    list_display = ("golem", "epoch", "reason", "actor", "state", "age")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("=actor", "reason")
    ordering = ("-started_at",)
    fields = ("golem", "epoch", "reason", "actor", "state", "started_at", "completed_at", "step_list")
    readonly_fields = ("state", "step_list")

    @display(description="State")
    def state(self, obj: HaltRecord) -> SafeString:
        """Whether its steps on the chain are done."""
        return show_badge("completed", "good") if obj.completed_at else show_badge("under way", "warn")

    @display(description="Started", ordering="started_at")
    def age(self, obj: HaltRecord) -> SafeString:
        """How long ago."""
        return show_age(obj.started_at)

    @display(description="Steps")
    def step_list(self, obj: HaltRecord) -> SafeString:
        """In order, with milliseconds from the start."""
        rows = [(step.get("step", ""), step.get("at_ms", "")) for step in obj.steps]
        return format_html('<ol class="gx-list">{}</ol>', format_html_join("", "<li>{} ({} ms)</li>", rows))

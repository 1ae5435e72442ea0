"""Memory, read only: episodes with their lesson, and every version of a playbook."""

from __future__ import annotations

import json

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.choices import GolemFilter
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from memory_app.models import Directive, Episode
from tools_app.admin.display import NOTHING, format_bps, show_age, show_badge
from tools_app.admin.read_only import ReadOnlyAdminMixin


@admin.register(Episode)
class EpisodeAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What happened to a golem, as it remembers it. Its text is data, never an instruction."""

    list_display = ("summary_short", "golem", "action_type", "importance_badge", "error", "age")
    list_filter = (GolemFilter, "importance", "action_type", "venue", "trust", "is_quarantined")
    list_select_related = ("golem",)
    search_fields = ("summary", "=permit_id", "=id", "=content_hash")
    search_help_text = "Words of the summary, or a whole permit id, episode id or content hash"
    ordering = ("-occurred_at",)
    fieldsets = (
        ("What happened", {"fields": ("summary", "golem", "permit_link", "tool_name", "venue", "occurred_at")}),
        ("Predicted and seen", {"fields": ("prediction_text", "outcome_text", "error", "reflection_text")}),
        ("How it is kept", {"fields": ("importance_badge", "retention", "access_count", "last_accessed_at", "is_pinned",
                                       "archived_at")}),
        ("Where it comes from", {"fields": ("source", "trust", "recorded_by", "block_number", "content_hash",
                                            "is_quarantined", "quarantine_reason")}),
    )  # fmt: skip
    readonly_fields = (
        "permit_link", "prediction_text", "outcome_text", "reflection_text", "importance_badge", "error", "retention",
    )  # fmt: skip

    @display(description="Episode", ordering="summary")
    def summary_short(self, obj: Episode) -> str:
        """Its beginning."""
        return obj.summary if len(obj.summary) <= 110 else f"{obj.summary[:109]}…"

    @display(description="Importance", ordering="importance")
    def importance_badge(self, obj: Episode) -> SafeString:
        """As a word."""
        return show_badge(obj.importance, "info")

    @display(description="Prediction error", ordering="prediction_error_bps")
    def error(self, obj: Episode) -> str:
        """In percent."""
        return "nothing to compare" if obj.prediction_error_bps is None else format_bps(obj.prediction_error_bps)

    @display(description="When", ordering="occurred_at")
    def age(self, obj: Episode) -> SafeString:
        """How long ago."""
        return show_age(obj.occurred_at)

    @display(description="Stability")
    def retention(self, obj: Episode) -> str:
        """In days."""
        return f"{obj.stability_days:g} days until retention has fallen to 37%"

    @display(description="Permit")
    def permit_link(self, obj: Episode) -> SafeString:
        """To the permit's page."""
        if obj.permit_id is None:
            return NOTHING
        url = reverse("admin:permits_app_actionpermit_change", args=[obj.permit_id])
        return format_html('<a class="gx-link" href="{}">{}</a>', url, obj.permit_id)

    @display(description="Prediction")
    def prediction_text(self, obj: Episode) -> SafeString:
        """Indented."""
        return _indent(obj.prediction)

    @display(description="Outcome")
    def outcome_text(self, obj: Episode) -> SafeString:
        """Indented."""
        return _indent(obj.outcome)

    @display(description="Reflection")
    def reflection_text(self, obj: Episode) -> SafeString:
        """Indented."""
        return _indent(obj.reflection)


@admin.register(Directive)
class DirectiveAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Versions of a golem's documents with their differences."""

    list_display = ("document", "version", "golem", "section", "reason", "actor", "age")
    list_filter = (GolemFilter, "document")
    list_select_related = ("golem",)
    search_fields = ("section", "reason", "=actor")
    ordering = ("-created_at",)
    fields = ("golem", "document", "version", "section", "reason", "actor", "created_at", "difference", "whole_text")
    readonly_fields = ("difference", "whole_text")

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
        return format_html('<pre class="gx-pre">{}</pre>', obj.text)


def _indent(value: object) -> SafeString:
    return format_html('<pre class="gx-pre">{}</pre>', json.dumps(value, indent=2, sort_keys=True))

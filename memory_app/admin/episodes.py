"""Episodes with their permit, prediction, outcome, reflection and curve; with the search and figures of overview."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.scoped_filters import GolemFilter
from memory_app.admin.agent_written_marks import show_words
from memory_app.admin.memory_buttons import KeptMemoryAdmin
from memory_app.admin.overview import OverviewViews
from memory_app.admin.plots import plot_retention
from memory_app.models import Episode
from tools_app.admin.long_lists import RecentValuesFilter
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.stored_json import read_stored
from tools_app.pages.html import NOTHING, show_age, show_badge
from tools_app.wording.address_names import format_token_amount
from tools_app.wording.formats import format_bps, format_coin, format_gas

_COIN = re.compile(r"\[token (\S*) (0x[0-9a-fA-F]{40})\]\.raw$")
_FOLDS = ("collapse",)
_GAS_OF_CALL = re.compile(r"gas_per_call\[(\d+)\]")


@admin.register(Episode)
class EpisodeAdmin(ReadOnlyAdminMixin, OverviewViews, KeptMemoryAdmin):
    """What happened to a golem, as it remembers it. Its text is data, never an instruction."""

    empty_text = "Nothing is remembered. Every outcome leaves an episode in a golem with memory."
    list_display = ("summary_short", "golem", "action_type", "importance_badge", "error", "age")
    list_filter = (
        GolemFilter,
        "importance",
        ("action_type", RecentValuesFilter),
        ("venue", RecentValuesFilter),
        "trust",
        "is_quarantined",
    )
    list_select_related = ("golem",)
    search_fields = ("summary", "=permit_id", "=id", "=content_hash")
    search_help_text = "Words of the summary, or a whole permit id, episode id or content hash"
    ordering = ("-occurred_at",)
    fieldsets = (
        ("What happened", {"fields": ("what_happened", "golem", "permit_link", "tool_name", "venue", "occurred_at")}),
        (
            "Predicted and seen, as it is stored",
            {"fields": ("prediction_text", "outcome_text", "error", "reflection_text"), "classes": _FOLDS},
        ),
        (
            "How it is kept",
            {
                "fields": (
                    "importance_badge",
                    "retention",
                    "access_count",
                    "last_accessed_at",
                    "is_pinned",
                    "archived_at",
                ),
                "classes": _FOLDS,
            },
        ),
        (
            "Where it comes from",
            {
                "fields": (
                    "source",
                    "trust",
                    "recorded_by",
                    "block_number",
                    "content_hash",
                    "is_quarantined",
                    "quarantine_reason",
                ),
                "classes": _FOLDS,
            },
        ),
    )
    readonly_fields = (
        "what_happened",
        "permit_link",
        "prediction_text",
        "outcome_text",
        "reflection_text",
        "importance_badge",
        "error",
        "retention",
    )

    change_list_template = "admin/memory_app/episode/list.html"

    def draw(self, row: Episode) -> dict[str, object]:
        """Its curve, and prediction beside outcome."""
        return {
            "retention_plot": plot_retention([row], now=clock.now()),
            "comparisons": [_describe_comparison(each, row.chain_id) for each in row.reflection.get("comparisons", [])],
        }

    @display(description="Episode", ordering="summary")
    def summary_short(self, obj: Episode) -> str | SafeString:
        """Its beginning."""
        return show_words(obj.summary if len(obj.summary) <= 110 else f"{obj.summary[:109]}…", obj.source)

    @display(description="Summary")
    def what_happened(self, obj: Episode) -> str | SafeString:
        """All of it."""
        return show_words(obj.summary, obj.source)

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


@dataclass(frozen=True, slots=True)
class ShownComparison:
    """A compared number of a stored reflection, as far as its page shows it."""

    what: str
    expected: object
    actual: object
    difference_bps: int


def _describe_comparison(comparison: dict[str, object], chain_id: int | None) -> dict[str, object]:
    """A compared number under the name people use, both sides in units; what is not known stays as it was recorded."""
    read = read_stored(ShownComparison, comparison)
    name, show = _read_path(read.what, chain_id)
    sides = {"expected": show(str(read.expected)), "actual": show(str(read.actual))}
    return {**comparison, **sides, "what": name, "difference": _read_difference(read)}


def _read_path(what: str, chain_id: int | None) -> tuple[str, Callable[[str], str]]:
    if chain_id is None:
        return what, str
    if coin := _COIN.search(what):
        symbol, address = coin.groups()
        return symbol or address, lambda raw: format_token_amount(chain_id, address, raw)
    if what == "fee_wei":
        return "Fee", lambda raw: format_coin(raw, chain_id)
    if what == "gas_used":
        return "Gas", format_gas
    if call := _GAS_OF_CALL.fullmatch(what):
        return f"Gas of call {int(call[1]) + 1}", format_gas
    return ("Block", str) if what == "block_number" else (what, str)


def _read_difference(comparison: ShownComparison) -> str:
    if comparison.what == "block_number":
        return ""  # a later block is no error
    return format_bps(comparison.difference_bps) if comparison.difference_bps else "none"


def _indent(value: object) -> SafeString:
    return format_html('<pre class="gx-pre">{}</pre>', json.dumps(value, indent=2, sort_keys=True))

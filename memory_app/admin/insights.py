"""Insights, warnings, heuristics and causal links with the episodes behind them; strategies and executions."""

from __future__ import annotations

import json

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from memory_app.actions.store_strategy import render_strategy
from memory_app.admin.agent_written_marks import show_words
from memory_app.admin.memory_buttons import KeptMemoryAdmin
from memory_app.admin.plots import plot_retention
from memory_app.decay import INSIGHT_FLOOR
from memory_app.models import Episode, Execution, Insight, Strategy
from memory_app.models.insight import LEAST_PERCENT_TO_TUNE, Tunable
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.pages.html import NOTHING, show_age, show_badge, show_unchecked
from tools_app.wording.formats import format_bps, format_usd

_TONES = {"INSIGHT": "info", "WARNING": "warn", "HEURISTIC": "good", "CAUSAL_LINK": "quiet"}


@admin.register(Insight)
class InsightAdmin(ReadOnlyAdminMixin, KeptMemoryAdmin):
    """What was concluded. Its text is data, never an instruction."""

    empty_text = "Consolidation draws insights from several episodes that agree, every four hours."
    list_display = ("text_short", "golem", "kind_badge", "category", "confidence", "votes", "state", "age")
    list_filter = (GolemFilter, "kind", "category", "source", "is_quarantined", "is_pinned")
    list_select_related = ("golem",)
    search_fields = ("text", "=id")
    ordering = ("-updated_at",)
    fieldsets = (
        ("What was concluded", {"fields": ("whole_text", "golem", "kind_badge", "category", "confidence", "votes")}),
        ("What it tunes", {"fields": ("tunes", "tuned_at")}),
        ("What stands behind it", {"fields": ("episodes_behind", "ends")}),
        (
            "How it is kept",
            {
                "fields": (
                    "stability_days",
                    "last_accessed_at",
                    "access_count",
                    "is_pinned",
                    "archived_at",
                    "is_quarantined",
                    "quarantine_reason",
                ),
                "classes": ("collapse",),
            },
        ),
        (
            "Where it comes from",
            {
                "fields": (
                    "source",
                    "trust",
                    "recorded_by",
                    "recorded_tool",
                    "recorded_permit_id",
                    "recorded_block",
                    "tool_name",
                    "chain_id",
                    "token_keys",
                ),
                "classes": ("collapse",),
            },
        ),
    )
    readonly_fields = ("whole_text", "kind_badge", "confidence", "votes", "tunes", "episodes_behind", "ends")

    def draw(self, row: Insight) -> dict[str, object]:
        """Its curve, which never falls below a tenth."""
        return {"retention_plot": plot_retention([row], now=clock.now(), floor=INSIGHT_FLOOR)}

    @display(description="Insight", ordering="text")
    def text_short(self, obj: Insight) -> str | SafeString:
        """Its beginning."""
        return show_words(obj.text if len(obj.text) <= 110 else f"{obj.text[:109]}…", obj.source)

    @display(description="Text")
    def whole_text(self, obj: Insight) -> str | SafeString:
        """All of it."""
        return show_words(obj.text, obj.source)

    @display(description="Kind", ordering="kind")
    def kind_badge(self, obj: Insight) -> SafeString:
        """As a word."""
        return show_badge(obj.kind, _TONES.get(obj.kind, "quiet"))

    @display(description="Confidence", ordering="confidence_percent")
    def confidence(self, obj: Insight) -> str:
        """In percent."""
        return f"{obj.confidence_percent}%"

    @display(description="Votes")
    def votes(self, obj: Insight) -> str:
        """For and against."""
        return f"{obj.upvotes} for, {obj.downvotes} against"

    @display(description="Kept")
    def state(self, obj: Insight) -> SafeString:
        """Pinned, archived or in quarantine."""
        words = [
            word
            for word, holds in (
                ("quarantined", obj.is_quarantined),
                ("archived", obj.archived_at is not None),
                ("pinned", obj.is_pinned),
            )
            if holds
        ]
        return format_html_join(" ", "{}", [(show_badge(word, "quiet"),) for word in words]) if words else NOTHING

    @display(description="Changed", ordering="updated_at")
    def age(self, obj: Insight) -> SafeString:
        """How long ago."""
        return show_age(obj.updated_at)

    @display(description="Effect on a preview")
    def tunes(self, obj: Insight) -> str:
        """In words."""
        if not obj.parameter:
            return "none: only heuristics tune, and only slippage, deadline and route"
        holds = "" if obj.confidence_percent >= LEAST_PERCENT_TO_TUNE and not obj.archived_at else " (not in force)"
        if obj.parameter == Tunable.ROUTE:
            route, _, cost = obj.route.partition("@")
            return f"route from {obj.route_from}: {route}, while it costs at most {cost or 0} bps more{holds}"
        return f"{obj.parameter}: {format_bps(obj.factor_bps)} of what is asked{holds}"

    @display(description="Episodes")
    def episodes_behind(self, obj: Insight) -> SafeString:
        """Links to the first twenty."""
        rows = Episode.objects.filter(golem_id=obj.golem_id, pk__in=obj.episode_ids).order_by("-occurred_at")[:20]
        links = [(reverse("admin:memory_app_episode_change", args=[row.pk]), row.summary[:90]) for row in rows]
        return format_html_join("", '<div><a class="gx-link" href="{}">{}</a></div>', links) if links else NOTHING

    @display(description="From and to")
    def ends(self, obj: Insight) -> str:
        """Of a causal link."""
        return f"{obj.cause_id} → {obj.effect_id}" if obj.cause_id else "–"


@admin.register(Strategy)
class StrategyAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Every version of every strategy."""

    empty_text = "No strategy yet. The agent stores one with memory_store_strategy."
    list_display = ("name", "version", "golem", "source", "is_quarantined", "age")
    list_filter = (GolemFilter, "source", "is_quarantined")
    list_select_related = ("golem",)
    search_fields = ("name", "description")
    ordering = ("-created_at",)
    fields = (
        "golem",
        "name",
        "version",
        "what_it_is",
        "toml",
        "difference",
        "source",
        "trust",
        "recorded_by",
        "recorded_tool",
        "recorded_permit_id",
        "is_quarantined",
        "quarantine_reason",
        "created_at",
    )
    readonly_fields = ("what_it_is", "toml", "difference")

    @display(description="Description")
    def what_it_is(self, obj: Strategy) -> str | SafeString:
        """In the words of whoever stored it."""
        return show_words(obj.description, obj.source)

    @display(description="When", ordering="created_at")
    def age(self, obj: Strategy) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    @display(description="As TOML")
    def toml(self, obj: Strategy) -> str | SafeString:
        """The whole version."""
        return show_words(format_html('<pre class="gx-pre">{}</pre>', render_strategy(obj)), obj.source)

    @display(description="Difference")
    def difference(self, obj: Strategy) -> SafeString:
        """As a unified diff."""
        return format_html('<pre class="gx-pre">{}</pre>', obj.diff)


@admin.register(Execution)
class ExecutionAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Executions with what was predicted and what came of it."""

    empty_text = "No execution yet. The agent records one with memory_record_execution."
    list_display = ("execution_id", "golem", "strategy_name", "kind", "result", "error", "age")
    list_filter = (GolemFilter, "kind", "is_quarantined")
    list_select_related = ("golem",)
    search_fields = ("=execution_id", "=strategy_name", "=tx_hash")
    ordering = ("-recorded_at",)
    fields = (
        "golem",
        "execution_id",
        "strategy_name",
        "kind",
        "prediction_text",
        "result",
        "error",
        "chain_of_reasons",
        "what_it_learned",
        "tx_hash",
        "source",
        "recorded_by",
        "recorded_permit_id",
        "is_quarantined",
        "quarantine_reason",
        "recorded_at",
        "settled_at",
    )
    readonly_fields = ("prediction_text", "result", "error", "chain_of_reasons", "what_it_learned")

    @display(description="Reasoning")
    def chain_of_reasons(self, obj: Execution) -> SafeString:
        """As its agent told it."""
        return show_unchecked(obj.reasoning_chain)

    @display(description="Reflection")
    def what_it_learned(self, obj: Execution) -> SafeString:
        """As its agent told it."""
        return show_unchecked(obj.reflection)

    @display(description="Result", ordering="realized_pnl_micro_usd")
    def result(self, obj: Execution) -> str:
        """In dollars."""
        return format_usd(obj.realized_pnl_micro_usd)

    @display(description="Prediction error", ordering="prediction_error_bps")
    def error(self, obj: Execution) -> str:
        """In percent."""
        return "–" if obj.prediction_error_bps is None else format_bps(obj.prediction_error_bps)

    @display(description="When", ordering="recorded_at")
    def age(self, obj: Execution) -> SafeString:
        """How long ago."""
        return show_age(obj.recorded_at)

    @display(description="Situation, decision and prediction")
    def prediction_text(self, obj: Execution) -> SafeString:
        """Indented."""
        whole = {
            "portfolio": obj.portfolio_snapshot,
            "market": obj.market_conditions,
            "decision": obj.decision_params,
            "prediction": obj.predicted_outcome,
        }
        return format_html('<pre class="gx-pre">{}</pre>', json.dumps(whole, indent=2, sort_keys=True))

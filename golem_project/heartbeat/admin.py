"""The heartbeat in the admin: its owner sets it; ticks, decisions, actions and alerts are read only."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.forms import CharField, Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextareaWidget

from archetypes_app.admin.audited import AuditedEditMixin
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import AlertBatch, Artifact, DecisionCycleRecord, Heartbeat, HeartbeatTick
from golem_project.heartbeat.decision_sentences import tell_decision
from golem_project.heartbeat.duties.sleepwalker import check_artifact
from golem_project.heartbeat.owner_controls import LONGEST_STEER, save_heartbeat, steer_golem, tick_soon
from golem_project.heartbeat.rule_form import RULE_FIELDS, HeartbeatForm, tell_typed
from golem_project.heartbeat.rule_needs import tell_missing, tell_waiting
from golem_project.heartbeat.strategy_form import STRATEGY_FIELDS, TITLES, name_field
from permits_app.models.action_record import ActionRecord
from permits_app.pages.golem_switches import show_heartbeat
from permits_app.permits.read_tick_archives import fill_laid_away
from permits_app.permits.tick_decisions import describe_with_agents
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.units import format_micro_usd
from tools_app.pages.confirmation import report_refusal, show_confirmation
from tools_app.pages.html import NOTHING, show_age, show_badge, show_unchecked
from tools_app.pages.opened_rows import OPENED
from tools_app.wording.formats import format_usd

_TONES = {
    "EXECUTED": "good",
    "COMPLETE": "good",
    "BLOCKED": "warn",
    "DEFERRED": "warn",
    "WAITING": "warn",
    "REVERTED": "bad",
}
_BAD = {"FAILED": "bad", "ABANDONED": "bad"}


class SteerForm(Form):
    """The owner's words."""

    text = CharField(
        max_length=LONGEST_STEER,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "autofocus": True}),
        help_text="For the next tick; kept in the audit log",
    )


@admin.register(Heartbeat)
class HeartbeatAdmin(AuditedEditMixin, OwnerScopedAdmin):
    """On or off, how often, and who plans. Whether it acts or only rehearses is `is live` on the golem's own page."""

    form = HeartbeatForm
    ordering = ("golem__name",)
    list_display = ("golem", "mode", "planner", "regime", "next_tick_at", "tick_number", "missed_ticks")
    list_filter = (GolemFilter, "is_on", "planner")
    list_select_related = ("golem",)
    search_fields = ("golem__name",)
    fieldsets = (
        (None, {"fields": ("golem", "is_on", "mode", "planner", "rules_stand_in", "base_interval_seconds", OPENED)}),
        ("The position its rules keep", {"fields": (*RULE_FIELDS, "in_the_way")}),
        *(
            (TITLES[kind], {"fields": tuple(name_field(kind, name) for name in fields), "classes": ("collapse",)})
            for kind, fields in STRATEGY_FIELDS.items()
        ),
        (
            "Its ticks",
            {"fields": ("regime", "next_tick_at", "tick_number", "missed_ticks"), "classes": ("collapse",)},
        ),
    )
    actions_detail: ClassVar[tuple[str, ...]] = ("steer", "try_over_the_past", "tick_now")
    readonly_fields = ("mode", "regime", "next_tick_at", "tick_number", "missed_ticks", "in_the_way")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Without a button for another heartbeat: a golem has one."""
        context = {"show_save_and_add_another": False, **(extra_context or {})}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, context)
        return response

    def get_fieldsets(self, request: HttpRequest, obj: Heartbeat | None = None) -> Any:  # Any: unfold has no types
        """Who may only look reads its rules as the form says them: they are no columns of their own."""
        found = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return found
        form = HeartbeatForm(instance=obj)
        return [
            (title, {key: [tell_typed(form, name) for name in said] if key == "fields" else said for key, said in told})
            for title, told in ((title, told.items()) for title, told in found)
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> object:
        """A heartbeat stays with its golem."""
        fixed = super().get_readonly_fields(request, obj)
        return (*fixed, "golem") if obj is not None else fixed

    def save_model(
        self,
        request: HttpRequest,
        obj: Heartbeat,
        form: Any,  # Any: Django hands on any form and row
        change: bool,
    ) -> None:
        """Through the owner's action; what stands in the way of its rules is told at once."""
        was_on = bool(form.initial.get("is_on")) if change else False
        save_heartbeat(heartbeat=obj, was_on=was_on, now=clock.now())
        for line in tell_missing(obj):
            messages.warning(request, line)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Turned off rather than deleted: its fence may never start anew."""
        return False

    @action(description="Say a word", icon="campaign", url_path="steer", permissions=["change"])
    def steer(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The owner's words for the next tick."""
        heartbeat, page = self._open(request, object_id)
        form = SteerForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            actor = name_actor(request.user)
            try:
                steer_golem(golem=heartbeat.golem, text=form.cleaned_data["text"], actor=actor, now=clock.now())
            except GolemError as error:
                return report_refusal(request, error, page)
            messages.success(request, "The next tick hears it.")
            return HttpResponseRedirect(page)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Say a word to {heartbeat.golem.name}",
            form=form,
            submit="Say it",
            explanation="The next tick thinks at its hardest and its planner is told. Rules read no words: they look"
            " again. Limits and checks stay as they are.",
            back_url=page,
            subject=heartbeat,
        )

    @action(description="Try over the past", icon="query_stats", url_path="try", permissions=["change"])
    def try_over_the_past(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """To the page that runs its strategies over recorded prices; it signs nothing."""
        heartbeat, _ = self._open(request, object_id)
        return HttpResponseRedirect(reverse("try_strategies", args=[heartbeat.golem_id]))

    @action(description="Tick now", icon="bolt", url_path="tick-now", permissions=["change"])
    def tick_now(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make it due at once."""
        heartbeat, page = self._open(request, object_id)
        if request.method == "POST":
            try:
                tick_soon(golem=heartbeat.golem, now=clock.now())
            except GolemError as error:
                return report_refusal(request, error, page)
            messages.success(request, "It ticks within seconds.")
            return HttpResponseRedirect(page)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Let {heartbeat.golem.name} tick now",
            form=Form(),
            submit="Tick now",
            explanation="Its next tick begins within seconds instead of when it is due.",
            back_url=page,
            subject=heartbeat,
        )

    def _open(self, request: HttpRequest, object_id: str) -> tuple[Heartbeat, str]:
        heartbeat: Heartbeat = self.get_row(request, object_id)
        if not self.has_change_permission(request, heartbeat):
            raise PermissionDenied
        return heartbeat, reverse("admin:archetypes_app_heartbeat_change", args=[heartbeat.pk])

    @display(description="Mode")
    def mode(self, obj: Heartbeat) -> SafeString:
        """Off, rehearses or live."""
        return show_heartbeat(obj.golem, is_beating=obj.is_on)

    @display(description="What stands in their way")
    def in_the_way(self, obj: Heartbeat) -> SafeString:
        """Limits that a rule needs, and why an action of one waits; both with what mends it."""
        if obj._state.adding:
            return NOTHING
        lines = [*tell_missing(obj), *tell_waiting(obj, now=clock.now())]
        return format_html_join("", "<p>{}</p>", [(line,) for line in lines or ["Nothing that is known."]])

    @display(description="Tick")
    def tick_number(self, obj: Heartbeat) -> int:
        """How many there were."""
        return int(obj.golem.heartbeat_tick)


@admin.register(HeartbeatTick)
class HeartbeatTickAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Every tick with its times."""

    empty_text = "No tick yet. Turn a heartbeat on under Heartbeats."
    list_display = ("golem", "number", "state", "age", "lateness_ms", "duration_ms", "missed_before")
    list_filter = (GolemFilter, "status")
    list_select_related = ("golem",)
    search_fields = ("=number",)
    ordering = ("-started_at",)

    @display(description="State", ordering="status")
    def state(self, obj: HeartbeatTick) -> SafeString:
        """Running, complete, abandoned or failed."""
        return show_badge(obj.status.lower(), _BAD.get(obj.status) or _TONES.get(obj.status, "info"))

    @display(description="Started", ordering="started_at")
    def age(self, obj: HeartbeatTick) -> SafeString:
        """How long ago."""
        return show_age(obj.started_at)


@admin.register(DecisionCycleRecord)
class DecisionAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What a tick saw, why it thought or did not, and what became of it."""

    empty_text = "Every heartbeat tick leaves a decision here. Turn a heartbeat on under Heartbeats."
    list_display = ("golem", "heartbeat_tick", "tier", "regime", "gating_reason", "is_live", "age")
    list_filter = (GolemFilter, "tier", "regime", "is_live")
    list_select_related = ("golem",)
    search_fields = ("=heartbeat_tick",)
    ordering = ("-decided_at",)
    fields = ("golem", "heartbeat_tick", "decided_at", "is_live", "tier", "told", "whole")
    readonly_fields = ("told", "whole")

    @display(description="Decided", ordering="decided_at")
    def age(self, obj: DecisionCycleRecord) -> SafeString:
        """How long ago."""
        return show_age(obj.decided_at)

    @display(description="In words")
    def told(self, obj: DecisionCycleRecord) -> SafeString:
        """Why it thought or did not, what it wanted, and what became of it."""
        fill_laid_away([obj])
        lines = format_html_join("", "<p>{}</p>", [(line,) for line in tell_decision(obj)])
        told = format_html('<div class="gx-said">{}</div>', lines)
        return show_unchecked(told, of="Reasons are in the words of its planner, a model perhaps")

    @display(description="The whole record")
    def whole(self, obj: DecisionCycleRecord) -> SafeString:
        """Indented, folded."""
        # A page asks for each of its fields several times.
        if not hasattr(obj, "told_whole"):
            obj.told_whole = describe_with_agents(obj)  # type: ignore[attr-defined]
        stored = json.dumps(obj.told_whole, indent=2)  # type: ignore[attr-defined]
        record = format_html(
            '<details><summary>As it is stored, with agents\' actions</summary><pre class="gx-pre">{}</pre></details>',
            stored,
        )
        return show_unchecked(record, of="What it says of itself is in the words of its planner, a model perhaps")


@admin.register(ActionRecord)
class ActionRecordAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What ticks wanted, and how far it came."""

    empty_text = "What a heartbeat wants to do appears here, rehearsed or done."
    list_display = ("golem", "tick", "action_type", "venue", "badge", "block_reason", "age")
    list_filter: ClassVar[tuple[object, ...]] = (GolemFilter, "state", "action_type")
    list_select_related = ("golem", "tick")
    search_fields = ("=action_type",)
    ordering = ("-created_at",)
    exclude = ("reason", "gas_micro_usd")
    readonly_fields = ("gas_paid", "wanted_because")

    @display(description="Why it was wanted")
    def wanted_because(self, obj: ActionRecord) -> SafeString:
        """In the words of its planner."""
        return show_unchecked(obj.reason)

    @display(description="Gas paid")
    def gas_paid(self, obj: ActionRecord) -> str:
        """In dollars."""
        return format_usd(obj.gas_micro_usd)

    @display(description="State", ordering="state")
    def badge(self, obj: ActionRecord) -> SafeString:
        """Where it ended."""
        return show_badge(obj.state.lower(), _TONES.get(obj.state, "info"))

    @display(description="Wanted", ordering="created_at")
    def age(self, obj: ActionRecord) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)


@admin.register(AlertBatch)
class AlertBatchAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What a duty noticed, five minutes at a time."""

    empty_text = "Nothing alarming was noticed. The heartbeat monitor and observers write here, five minutes at a time."
    list_display = ("golem", "window_start", "source", "words")
    list_filter: ClassVar[tuple[object, ...]] = (GolemFilter, "source")
    list_select_related = ("golem",)
    ordering = ("-window_start",)

    @display(description="Alerts")
    def words(self, obj: AlertBatch) -> str:
        """Rule, what was observed, the limit."""
        return "; ".join(f"{each['rule']}: {each['observed']} (limit {each['limit']})" for each in obj.alerts)


@admin.register(Artifact)
class ArtifactAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What an observer published, and whether its rows still say so."""

    empty_text = "Golems of the archetype sleepwalker-observer publish here what they find out about your others."
    list_display = ("golem", "domain", "statement", "confidence_percent", "price", "published_at")
    list_filter: ClassVar[tuple[object, ...]] = (GolemFilter, "domain", "is_adverse")
    list_select_related = ("golem",)
    search_fields = ("subject",)
    ordering = ("-published_at",)
    fields = (
        "golem",
        "domain",
        "subject",
        "statement",
        "support",
        "total",
        "is_adverse",
        "confidence_percent",
        "counted_again",
        "price",
        "published_at",
        "episode_sources",
        "recipe",
    )
    readonly_fields = ("counted_again", "price", "recipe")

    @display(description="Price")
    def price(self, obj: Artifact) -> str:
        """In dollars; nobody is charged."""
        return format_micro_usd(obj.price_micro_usd)

    @display(description="Counted again now")
    def counted_again(self, obj: Artifact) -> SafeString:
        """Its recipe, followed."""
        same = check_artifact(obj)
        if same is None:
            return show_badge("rows are gone", "warn")
        return show_badge("the same", "good") if same else show_badge("different", "bad")

    @display(description="Recipe")
    def recipe(self, obj: Artifact) -> SafeString:
        """Indented."""
        return format_html('<pre class="gx-pre">{}</pre>', json.dumps(obj.validation_recipe, indent=2))

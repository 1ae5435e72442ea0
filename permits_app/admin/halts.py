"""Halts as they happened, read only and step by step; and what an owner chose for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.audited import AuditedEditMixin
from archetypes_app.admin.choices import GolemFilter
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from permits_app.models import HaltRecord, HaltSetting
from tools_app.admin.display import show_age, show_badge, show_unchecked
from tools_app.admin.read_only import ReadOnlyAdminMixin

_MOST_ITEMS = 20


@admin.register(HaltRecord)
class HaltRecordAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One row per halt."""

    empty_text = "No golem was ever halted. Its page has the button, its agent the tool emergency_halt."
    list_display = ("golem", "epoch", "why", "actor", "state", "age")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("=actor", "reason")
    ordering = ("-started_at",)
    fields = ("golem", "epoch", "why", "actor", "state", "started_at", "completed_at", "step_list")
    readonly_fields = ("why", "state", "step_list")

    @display(description="Reason", ordering="reason")
    def why(self, obj: HaltRecord) -> SafeString:
        """In the words of whoever halted it."""
        return show_unchecked(obj.reason, of="Words of whoever halted it, an agent or a model perhaps")

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
        """In order, with milliseconds from the start, and what each one did."""
        return show_steps(obj.steps)


@admin.register(HaltSetting)
class HaltSettingAdmin(AuditedEditMixin, OwnerScopedAdmin):
    """What an owner chose for a halt of their golem; without a row positions stay as they are."""

    empty_text = "Without a setting a halt leaves positions as they are."
    list_display = ("golem", "unwinds")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("golem__name",)
    fields = ("golem", "unwind_on_halt", "sell_on_halt")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A setting never moves to another golem."""
        return ("golem",) if obj is not None else ()

    @display(description="On a halt", ordering="unwind_on_halt")
    def unwinds(self, obj: HaltSetting) -> SafeString:
        """In words."""
        if not obj.unwind_on_halt:
            return show_badge("positions stay")
        words = "positions are unwound, debts paid by selling" if obj.sell_on_halt else "positions are unwound"
        return show_badge(words, "warn")


def show_steps(steps: Sequence[Mapping[str, Any]]) -> SafeString:
    """The steps of a halt or a drill as a list, each with its time and its facts."""
    rows = [(step.get("step", ""), step.get("at_ms", ""), _show_facts(step)) for step in steps]
    return format_html('<ol class="gx-list">{}</ol>', format_html_join("", "<li>{} ({} ms){}</li>", rows))


def _show_facts(step: Mapping[str, Any]) -> SafeString:
    lines: list[str] = []
    for name, value in step.items():
        if name in ("step", "at_ms"):
            continue
        if isinstance(value, list):
            lines += [_show_item(item) for item in value[:_MOST_ITEMS]] or ["none"]
            if len(value) > _MOST_ITEMS:
                lines.append(f"and {len(value) - _MOST_ITEMS} more")
        else:
            lines.append(f"{name.replace('_', ' ')}: {_show_item(value)}")
    items = format_html_join("", "<li>{}</li>", [(line,) for line in lines])
    return format_html("<ul>{}</ul>", items) if lines else SafeString()


def _show_item(item: Any) -> str:
    if isinstance(item, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in item.items() if value not in (None, ""))
    return {True: "yes", False: "no"}[item] if isinstance(item, bool) else str(item)

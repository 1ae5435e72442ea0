"""Lets an owner edit spending limits, the local cage and the allowlist, in dollars and percent; audited."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import OuterRef, Q, Subquery
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.audited import AuditedEditMixin, lock_rows
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from permits_app.admin.cage_mirrors import show_enforcement
from permits_app.admin.loosening_forms import LooseningMixin
from permits_app.approvals.write_policy import keep_version
from permits_app.edit_conflict_forms import OpenedCageForm, OpenedEntryForm, OpenedLimitsForm
from permits_app.forms import PercentField, UsdField
from permits_app.limits import ledger
from permits_app.models import AllowlistEntry, KnownAddress, PolicyCage, SpendingLimits
from permits_app.words.address_book import UNKNOWN
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.pages.html import show_hex
from tools_app.pages.opened_rows import OPENED
from tools_app.wording.address_names import name_address
from tools_app.wording.formats import format_bps, format_chain, format_usd


class PolicyRowAdmin(LooseningMixin, AuditedEditMixin, OwnerScopedAdmin):
    """Rows of a golem's policy. A change voids open permits by their policy hash and is announced as an event.

    What loosens is not saved here: it becomes a request to the owners. Every saved state is kept as a version.
    """

    list_select_related: tuple[str, ...] = ("golem",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        """A policy row never moves to another golem."""
        return ("golem",) if obj is not None else ()

    def get_fieldsets(self, request: HttpRequest, obj: object = None) -> Any:  # Any: as Django types it
        """Who may only look reads dollars and percent in the words of the form, not what the columns hold."""
        found = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return found
        labels = self.form.base_fields
        return [
            (heading, {**told, "fields": [_tell_column(name, labels.get(name)) for name in told["fields"]]})
            for heading, told in found
        ]

    def save_related(
        self,
        request: HttpRequest,
        form: Any,  # Any: Django's own form or rows
        formsets: Any,  # Any: Django's own form or rows
        change: bool,
    ) -> None:
        """Save, audit, announce, in one transaction."""
        super().save_related(request, form, formsets, change)
        if form.has_changed() or not change:
            self._announce(form.instance, sorted(form.changed_data))
            self._keep(request, form.instance.golem, "edited in the admin")

    def save_model(
        self,
        request: HttpRequest,
        obj: Any,  # Any: a row of the page's model
        form: object,
        change: bool,
    ) -> None:
        """Keep the policy as it was before its first edit."""
        self._keep(request, obj.golem, "as it was before this edit")
        super().save_model(request, obj, form, change)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> object:  # Any: Django's own form or rows
        """Audit and announce what goes away."""
        lock_rows(queryset)
        for obj in queryset:
            self._announce(obj, ["deleted"])
        return super().log_deletions(request, queryset)

    def _keep(self, request: HttpRequest, golem: Golem, reason: str) -> None:
        ledger.lock_limits(golem.pk)
        keep_version(golem=golem, actor=name_actor(request.user), reason=reason, now=clock.now())

    def _announce(self, obj: Any, fields: list[str]) -> None:  # Any: a row of the page's model
        payload = {"row": str(obj._meta.verbose_name), "fields": fields}
        event = Event(EventType.POLICY_CAGE_UPDATED, payload)
        event_bus.emit(golem_id=obj.golem_id, event=event, now=clock.now())


def _tell_column(name: str, field: forms.Field | None) -> object:
    """A column as its form's field says it: dollars for micro-USD, percent for basis points; any other as it is."""
    written = {UsdField: format_usd, PercentField: format_bps}.get(type(field))
    if field is None or written is None:
        return name

    @display(description=str(field.label or "").removesuffix(" (%)"))
    def told(obj: Any) -> str:  # Any: a row of the page's model
        return written(getattr(obj, name))

    told.__name__ = f"told_{name}"
    return told


@admin.register(SpendingLimits)
class SpendingLimitsAdmin(PolicyRowAdmin):
    """What a golem may spend."""

    form = OpenedLimitsForm
    ordering = ("golem__name",)
    list_display = ("golem", "per_transaction", "per_day", "hot_lane", "writes_per_hour", "slippage", "allowlist_mode")
    list_filter = (GolemFilter, "allowlist_mode")
    search_fields = ("golem__name",)
    fieldsets = (
        (None, {"fields": ("golem", OPENED)}),
        (
            "Dollars",
            {
                "description": "Counted at the worst case, gas included. A permit that is open keeps its reservation.",
                "fields": (
                    "per_transaction_micro_usd",
                    "per_day_micro_usd",
                    "per_tick_micro_usd",
                    "per_session_micro_usd",
                    "hot_lane_micro_usd",
                ),
            },
        ),
        (
            "What trading may cost",
            {
                "description": "Fees, slippage and price impact together, in a rolling 24 h: at worst while a trade is"
                " open, then what it really lost. Getting out is never held back.",
                "fields": (
                    "trading_costs_per_day_micro_usd",
                    "trading_costs_per_pair_micro_usd",
                    "trading_costs_per_venue_micro_usd",
                ),
            },
        ),
        (
            "Pace and prices",
            {"fields": ("writes_per_hour", "most_alike_calls", "max_slippage_bps", "max_price_impact_bps")},
        ),
        ("Allowlist", {"fields": ("allowlist_mode",)}),
    )

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """A golem is never without limits."""
        return False

    @display(description="Per transaction", ordering="per_transaction_micro_usd")
    def per_transaction(self, obj: SpendingLimits) -> str:
        """In dollars."""
        return format_usd(obj.per_transaction_micro_usd)

    @display(description="Per 24 h", ordering="per_day_micro_usd")
    def per_day(self, obj: SpendingLimits) -> str:
        """In dollars."""
        return format_usd(obj.per_day_micro_usd)

    @display(description="Without the safety guardian", ordering="hot_lane_micro_usd")
    def hot_lane(self, obj: SpendingLimits) -> str:
        """In dollars."""
        return format_usd(obj.hot_lane_micro_usd)

    @display(description="Slippage", ordering="max_slippage_bps")
    def slippage(self, obj: SpendingLimits) -> str:
        """In percent."""
        return format_bps(obj.max_slippage_bps)


@admin.register(PolicyCage)
class PolicyCageAdmin(PolicyRowAdmin):
    """A cage. Without a contract it is edited here and the page says so; with one the form asks for it on chain."""

    form = OpenedCageForm
    list_select_related = ("golem", "mirror")
    ordering = ("golem__name",)
    list_display = ("golem", "enforced_by", "position", "concentration", "drawdown", "max_assets")
    list_filter = (GolemFilter,)
    search_fields = ("golem__name",)
    readonly_fields = ("enforced_by",)
    fieldsets = (
        (None, {"fields": ("golem", "enforced_by", OPENED)}),
        (
            "Portfolio",
            {
                "fields": (
                    "max_assets",
                    "max_position_bps",
                    "max_concentration_bps",
                    "max_issuer_bps",
                    "max_bridge_bps",
                    "max_oracle_bps",
                    "max_drawdown_bps",
                    "min_collateral_ratio_bps",
                    "min_health_bps",
                    "min_range_ticks",
                )
            },
        ),
        ("Rebalancing", {"fields": ("min_rebalance_interval_seconds", "max_rebalances_per_day")}),
        ("Governors", {"fields": ("is_action_gate_on",)}),
        ("Call data", {"fields": ("allows_arbitrary_calldata",)}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        """Who enforces it is shown, never chosen."""
        return ("enforced_by", *super().get_readonly_fields(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """A golem is never without a cage."""
        return False

    @display(description="Enforced by")
    def enforced_by(self, obj: PolicyCage) -> SafeString:
        """This server alone, or a contract as of a block."""
        return show_enforcement(getattr(obj, "mirror", None))

    @display(description="Position", ordering="max_position_bps")
    def position(self, obj: PolicyCage) -> str:
        """In percent."""
        return format_bps(obj.max_position_bps)

    @display(description="Concentration", ordering="max_concentration_bps")
    def concentration(self, obj: PolicyCage) -> str:
        """In percent."""
        return format_bps(obj.max_concentration_bps)

    @display(description="Drawdown", ordering="max_drawdown_bps")
    def drawdown(self, obj: PolicyCage) -> str:
        """In percent."""
        return format_bps(obj.max_drawdown_bps)


@admin.register(AllowlistEntry)
class AllowlistEntryAdmin(PolicyRowAdmin):
    """Tokens, contracts, spenders and recipients a golem may touch."""

    form = OpenedEntryForm
    list_display = ("name", "golem", "kind", "address_short", "chain")
    list_filter = (GolemFilter, "kind", "chain_id")
    search_fields = ("=address", "label")
    search_help_text = "A whole address, or words of a label"
    ordering = ("golem", "kind", "label")

    def get_queryset(self, request: HttpRequest) -> Any:  # Any: as Django types it
        """With the name in the book of each golem's owner."""
        named = KnownAddress.objects.filter(owner=OuterRef("golem__owner"), address=OuterRef("address"))
        named = named.filter(Q(chain_id=OuterRef("chain_id")) | Q(chain_id__isnull=True)).order_by("chain_id")
        return super().get_queryset(request).annotate(name_in_book=Subquery(named.values("name")[:1]))

    @display(description="Name", ordering="label")
    def name(self, obj: AllowlistEntry) -> str:
        """Its label, what its golem's owner calls the address, or what the chain's registry does."""
        own: str = getattr(obj, "name_in_book", None) or ""
        return obj.label or own or name_address(obj.chain_id, obj.address) or UNKNOWN

    @display(description="Address")
    def address_short(self, obj: AllowlistEntry) -> SafeString:
        """With a copy button."""
        return show_hex(obj.address)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: AllowlistEntry) -> str:
        """By name."""
        return format_chain(obj.chain_id)

"""Shows a golem's vitality and what its thinking cost each day. Read only."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.models import ModelSpendDay, VitalityRecord
from archetypes_app.phases import phase_of_vitality
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core.units import format_micro_usd
from tools_app.pages.html import show_age, show_badge
from tools_app.wording.formats import format_millionths


@admin.register(VitalityRecord)
class VitalityRecordAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """The newest reading of each golem; its course over time is in the decisions."""

    empty_text = "Measured by the first heartbeat tick that finds a balance."
    ordering = ("golem__name",)
    list_display = (
        "golem",
        "vitality",
        "stands_for",
        "economic_share",
        "epistemic_share",
        "stochastic_share",
        "balance",
        "age",
    )
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    fields = (
        "golem",
        "vitality",
        "stands_for",
        "economic_share",
        "balance",
        "epistemic_share",
        "predictions",
        "correct_predictions",
        "stochastic_share",
        "hazard",
        "since_tick",
        "heartbeat_tick",
        "measured_at",
    )
    readonly_fields = (
        "vitality",
        "stands_for",
        "economic_share",
        "epistemic_share",
        "stochastic_share",
        "balance",
        "hazard",
    )

    @display(description="Vitality", ordering="value")
    def vitality(self, obj: VitalityRecord) -> str:
        """The product of the three shares."""
        return format_millionths(obj.value)

    @display(description="Economic", ordering="economic")
    def economic_share(self, obj: VitalityRecord) -> str:
        """How much of what it set out with is left."""
        return format_millionths(obj.economic)

    @display(description="Epistemic", ordering="epistemic")
    def epistemic_share(self, obj: VitalityRecord) -> str:
        """How many of its predictions came true."""
        return format_millionths(obj.epistemic)

    @display(description="Stochastic", ordering="stochastic")
    def stochastic_share(self, obj: VitalityRecord) -> str:
        """What its age has left of it."""
        return format_millionths(obj.stochastic)

    @display(description="Hazard added up")
    def hazard(self, obj: VitalityRecord) -> str:
        """Since this life began."""
        return format_millionths(obj.hazard_millionths)

    @display(description="Stands for")
    def stands_for(self, obj: VitalityRecord) -> SafeString:
        """The phase of this value alone; the golem's own phase may be worse."""
        return show_badge(phase_of_vitality(obj.value))

    @display(description="Balance", ordering="balance_micro_usd")
    def balance(self, obj: VitalityRecord) -> str:
        """What it was worth, of what it set out with."""
        budget = obj.starting_budget_micro_usd
        of = format_micro_usd(budget) if budget is not None else "a new budget"
        return f"{format_micro_usd(obj.balance_micro_usd)} of {of}"

    @display(description="Measured", ordering="measured_at")
    def age(self, obj: VitalityRecord) -> SafeString:
        """How long ago."""
        return show_age(obj.measured_at)


@admin.register(ModelSpendDay)
class ModelSpendDayAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What thinking cost, by golem and UTC day."""

    empty_text = "No golem has asked a language model. Rules think for free."
    list_display = ("golem", "day", "spent", "held", "cap", "requests", "refused")
    fields = list_display
    readonly_fields = ("spent", "held", "cap")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    ordering = ("-day", "golem__name")

    @display(description="Spent", ordering="spent_micro_usd")
    def spent(self, obj: ModelSpendDay) -> str:
        """USD."""
        return format_micro_usd(obj.spent_micro_usd)

    @display(description="Held by requests")
    def held(self, obj: ModelSpendDay) -> str:
        """USD that requests under way, or a worker that died, hold."""
        return format_micro_usd(obj.reserved_micro_usd)

    @display(description="Cap")
    def cap(self, obj: ModelSpendDay) -> str:
        """USD a day."""
        return format_micro_usd(obj.cap_micro_usd)

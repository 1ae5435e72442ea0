"""Safes of golems through whose fallback anybody can act, or could after one more step; the look alone changes them."""

from __future__ import annotations

from django.contrib import admin
from unfold.decorators import display

from permits_app.admin.ledgers import LedgerAdmin
from permits_app.models import SafeOpening
from permits_app.policy_cage.safe_fallback import Openings, say_opening
from tools_app.wording.formats import format_chain


@admin.register(SafeOpening)
class SafeOpeningAdmin(LedgerAdmin):
    """What is dangerous of each, in words."""

    empty_text = "No Safe stands open."
    owner_path = "golem__owner"
    list_select_related = ("golem",)
    list_display = ("account", "golem", "network", "danger", "is_open")
    list_filter = ("is_open",)
    ordering = ("-is_open", "-created_at")
    fields = ("account", "golem", "network", "danger", "is_open", "created_at")
    readonly_fields = fields

    @display(description="Danger")
    def danger(self, obj: SafeOpening) -> str:
        """One sentence."""
        return say_opening(obj.account, Openings(obj.handler, tuple(obj.modules), obj.is_open))

    @display(description="Chain")
    def network(self, obj: SafeOpening) -> str:
        """By name."""
        return format_chain(obj.chain_id)

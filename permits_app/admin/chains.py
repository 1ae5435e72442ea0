"""The chains as the reconciler last saw them, read only."""

from __future__ import annotations

from django.contrib import admin
from unfold.decorators import display

from permits_app.models import ChainMark
from tools_app.admin.read_only import PlainAdmin, ReadOnlyAdminMixin
from tools_app.wording.formats import format_chain


@admin.register(ChainMark)
class ChainMarkAdmin(ReadOnlyAdminMixin, PlainAdmin):
    """What was last seen of each chain, and what stops it; of all golems, hence for operators."""

    ordering = ("chain_id",)
    list_display = ("chain", "trouble", "trouble_since", "head_number", "looked_at", "rolled_back_at")
    fields = (*list_display, "mark_number", "mark_hash")
    readonly_fields = fields

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: ChainMark) -> str:
        """By name."""
        return format_chain(obj.chain_id)

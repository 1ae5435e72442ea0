"""The golem's form. The page around it also shows money and permits, so `permits_app.admin` registers it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.audited import AuditedEditMixin
from archetypes_app.admin.catalogue import ToolOverrideInline
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemItselfFilter
from archetypes_app.admin.toolset_effects import ToolsetEffectsMixin
from archetypes_app.forms import GolemForm
from archetypes_app.models import Golem, ToolProfile
from archetypes_app.ownership import is_operator
from tools_app.pages.html import show_badge, show_hex
from tools_app.wording.formats import format_chain

_FOLDS = ("collapse",)


class FoldedToolOverrides(ToolOverrideInline):
    """On a golem's page, which has much above it."""

    classes = _FOLDS


class GolemFormAdmin(ToolsetEffectsMixin, AuditedEditMixin, OwnerScopedAdmin):
    """What an owner may change of a golem; address, phase and halt have actions of their own."""

    owner_path = "owner"
    form = GolemForm
    inlines = (FoldedToolOverrides,)
    list_display = ("name", "state", "archetype", "chain", "wallet_address", "belongs_to")
    list_filter = (GolemItselfFilter, "phase", "is_live")
    list_select_related = ("archetype", "owner")
    search_fields = ("name", "=address", "=id")
    search_help_text = "A name, or a whole address or id"
    # Folded where there is no room: `static/golem/fold.js` opens them on a wide screen.
    fieldsets = (
        ("Who it is", {"fields": ("name", "owner", "archetype", "profiles", "edit_version"), "classes": _FOLDS}),
        (
            "What it may use",
            {"fields": ("allowed_protocols", "home_chain_id", "other_chain_ids", "base_asset"), "classes": _FOLDS},
        ),
        (
            "How it lives",
            {"fields": ("permit_ttl_seconds", "simulation_engine", "is_memory_enabled"), "classes": _FOLDS},
        ),
    )

    def get_form(
        self,
        request: HttpRequest,
        obj: object = None,
        change: bool = False,
        **kwargs: Any,  # Any: Django hands on any value
    ) -> Any:  # Any: Django hands on any value
        """The form with the profiles this person may choose."""
        form = super().get_form(request, obj, change, **kwargs)
        profiles = self.list_choices(ToolProfile, request).order_by("name")
        if "profiles" in form.base_fields:
            form.base_fields["profiles"].queryset = profiles
        return form

    def list_touched_golems(self, obj: Golem) -> QuerySet[Golem]:
        """Itself, read afresh."""
        return Golem.objects.filter(pk=obj.pk).select_related("archetype")

    def find_golem_id(self, obj: Any) -> UUID | None:  # Any: a row of any model
        """A golem belongs to its own audit chain."""
        return obj.pk if isinstance(obj.pk, UUID) else None

    def get_fieldsets(self, request: HttpRequest, obj: object = None) -> Any:  # Any: unfold has no types
        """Only operators move a golem to another owner."""
        if is_operator(request.user):
            return self.fieldsets
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name != "owner"]})
            for title, options in self.fieldsets
        ]

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """A golem with a history is not deleted; one without is."""
        return super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, object]:
        """Without deleting what is ticked: a golem is deleted on its own page, which says what goes with it."""
        return {name: each for name, each in super().get_actions(request).items() if name != "delete_selected"}

    @display(description="State")
    def state(self, obj: Golem) -> SafeString:
        """Halted, or its phase."""
        return show_badge("halted", "bad") if obj.is_halted else show_badge(obj.phase)

    @display(description="Home chain", ordering="home_chain_id")
    def chain(self, obj: Golem) -> str:
        """By name."""
        return format_chain(obj.home_chain_id)

    @display(description="Wallet")
    def wallet_address(self, obj: Golem) -> SafeString | str:
        """Short, with a copy button."""
        return show_hex(obj.address) if obj.address else "none yet"

    @display(description="Owner", ordering="owner")
    def belongs_to(self, obj: Golem) -> str:
        """The owner's name."""
        return str(obj.owner)

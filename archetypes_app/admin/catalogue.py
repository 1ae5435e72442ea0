"""Archetypes and tool profiles: built-ins and shared ones are read by all, edited by operators, copied by owners."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.decorators import action, display

from archetypes_app.actions.make_copy import copy_archetype, copy_tool_profile
from archetypes_app.admin.audited import AuditedEditMixin
from archetypes_app.admin.catalogue_pictures import DelegationGraphPage, ProfileMatrixPage
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.toolset_effects import ToolsetEffectsMixin
from archetypes_app.forms import ArchetypeForm, ConfirmForm, ToolOverrideForm, ToolOverrideFormSet, ToolProfileForm
from archetypes_app.models import Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.ownership import is_operator
from archetypes_app.toolset_diff import list_golems_of_archetype, list_golems_of_profile
from tools_app.pages.confirmation import show_confirmation
from tools_app.pages.html import show_badge


class ToolOverrideInline(TabularInline):
    """Tools put in or taken out by name."""

    model = ToolOverride
    form = ToolOverrideForm
    formset = ToolOverrideFormSet
    extra = 0
    verbose_name_plural = "Tool overrides: exclude wins over include, include over the profile"

    def _may_change_parent(self, request: HttpRequest, obj: object) -> bool:
        parent = self.admin_site._registry.get(self.parent_model)
        return bool(parent and parent.has_change_permission(request, obj))

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """As for the row it belongs to."""
        return bool(super().has_add_permission(request, obj)) and self._may_change_parent(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """As for the row it belongs to."""
        return bool(super().has_change_permission(request, obj)) and self._may_change_parent(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """As for the row it belongs to."""
        return bool(super().has_delete_permission(request, obj)) and self._may_change_parent(request, obj)


class CatalogueAdmin(ToolsetEffectsMixin, AuditedEditMixin, OwnerScopedAdmin):
    """What archetypes and profiles share."""

    owner_path = "owner"
    has_shared_rows = True
    ordering = ("name",)
    search_fields = ("name", "description")
    actions_detail: ClassVar[tuple[str, ...]] = ("make_my_copy",)

    @display(description="Belongs to", ordering="owner")
    def belongs_to(self, obj: Any) -> SafeString:  # Any: a row of any model
        """Built in, shared by the operators, or an owner's."""
        if obj.is_builtin:
            return show_badge("built in", "info")
        return show_badge("shared", "quiet") if obj.owner_id is None else show_badge(str(obj.owner), "good")

    def get_exclude(self, request: HttpRequest, obj: object = None) -> list[str]:
        """Only operators choose whose a row is."""
        return [] if is_operator(request.user) else ["owner"]

    def get_fieldsets(self, request: HttpRequest, obj: object = None) -> Any:  # Any: unfold has no types
        """The declared fieldsets: without the owner for owners, and without what only an edit needs for readers."""
        hidden = set(self.get_exclude(request, obj))
        swapped = {}
        if obj is not None and not self.has_change_permission(request, obj):
            hidden.add("edit_version")
            swapped = {"safety_rules_text": "safety_rules_list"}
        return [
            (
                title,
                {**options, "fields": [swapped.get(name, name) for name in options["fields"] if name not in hidden]},
            )
            for title, options in super().get_fieldsets(request, obj)
        ]

    def save_model(self, request: HttpRequest, obj: Any, form: object, change: bool) -> None:  # Any: a row of any model
        """A row an owner adds is theirs."""
        if not change and not is_operator(request.user):
            obj.owner = request.user
        super().save_model(request, obj, form, change)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Built-ins are never deleted: the next synchronisation would bring them back."""
        return super().has_delete_permission(request, obj) and not (
            obj is not None and getattr(obj, "is_builtin", False)
        )

    def has_make_my_copy_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may add may copy."""
        return bool(self.has_add_permission(request))

    def _copy(self, request: HttpRequest, original: Any) -> Any:  # Any: Django hands on any value
        raise NotImplementedError

    @action(description="Make my copy", icon="content_copy", url_path="copy", permissions=["make_my_copy"])
    def make_my_copy(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Copy the row and open the copy."""
        original = self.get_row(request, object_id)
        if request.method == "POST":
            copy = self._copy(request, original)
            messages.success(request, f"{copy.name} is yours to edit.")
            return HttpResponseRedirect(self._page(copy))
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Make my copy of {original}",
            form=ConfirmForm(),
            submit="Copy it",
            explanation="It is yours to edit. The original stays as it is, with every golem that uses it.",
            back_url=self._page(original),
        )

    def _page(self, obj: Any) -> str:  # Any: a row of any model
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[obj.pk])


@admin.register(ToolProfile)
class ToolProfileAdmin(ProfileMatrixPage, CatalogueAdmin):
    """Bundles of tool categories."""

    actions_list: ClassVar[tuple[str, ...]] = ("matrix",)

    form = ToolProfileForm
    list_display = ("name", "description", "list_categories", "is_read_only", "belongs_to")
    list_filter = ("is_read_only", "is_builtin")
    list_select_related = ("owner",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "name",
                    "description",
                    "categories",
                    "is_read_only",
                    "is_conservative",
                    "owner",
                    "edit_version",
                ),
            },
        ),
    )

    def list_touched_golems(self, obj: ToolProfile) -> QuerySet[Golem]:
        """Golems whose tools this profile may decide."""
        return list_golems_of_profile(obj)

    def _copy(self, request: HttpRequest, original: ToolProfile) -> ToolProfile:
        return copy_tool_profile(profile=original, owner=request.user)

    @action(description="Profiles and categories", icon="grid_on", url_path="matrix", permissions=["view"])
    def matrix(self, request: HttpRequest) -> HttpResponse:
        """The table of profiles and categories."""
        return self.matrix_view(request)

    @display(description="Categories")
    def list_categories(self, obj: ToolProfile) -> str:
        """As words; long bundles are cut."""
        shown = ", ".join(sorted(obj.categories)[:8])
        return f"{shown} and {len(obj.categories) - 8} more" if len(obj.categories) > 8 else shown or "data"


@admin.register(Archetype)
class ArchetypeAdmin(DelegationGraphPage, CatalogueAdmin):
    """Kinds of agents."""

    actions_list: ClassVar[tuple[str, ...]] = ("graph",)

    form = ArchetypeForm
    inlines = (ToolOverrideInline,)
    list_display = ("name", "category", "inference_tier", "is_terminal_node", "belongs_to")
    list_filter = ("category", "inference_tier", "is_builtin")
    list_select_related = ("owner",)
    readonly_fields = ("safety_rules_list",)
    fieldsets = (
        (None, {"fields": ("name", "description", "category", "inference_tier", "owner", "edit_version")}),
        ("Tools", {"fields": ("tool_categories", "profiles", "is_read_only", "keeps_local_writes")}),
        ("Delegation", {"fields": ("delegates_to", "is_terminal_node"), "classes": ("collapse",)}),
        (
            "Prompt",
            {"fields": ("role", "safety_rules_text", "workflow", "output_format"), "classes": ("collapse",)},
        ),
    )

    def list_touched_golems(self, obj: Archetype) -> QuerySet[Golem]:
        """Every golem of this kind."""
        return list_golems_of_archetype(obj)

    def _copy(self, request: HttpRequest, original: Archetype) -> Archetype:
        return copy_archetype(archetype=original, owner=request.user)

    @action(description="Delegation graph", icon="account_tree", url_path="graph", permissions=["view"])
    def graph(self, request: HttpRequest) -> HttpResponse:
        """The picture of who may ask whom."""
        return self.graph_view(request)

    @display(description="Safety rules")
    def safety_rules_list(self, obj: Archetype) -> SafeString:
        """One rule a line, for those who only read."""
        return format_html(
            '<ul class="gx-list">{}</ul>', format_html_join("", "<li>{}</li>", ((r,) for r in obj.safety_rules))
        )

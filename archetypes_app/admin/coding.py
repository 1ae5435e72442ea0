"""Coding workspaces: where a golem's coding tools work, what waits for an owner, and which fences hold here."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.actions.include_coding_tools import include_coding_tools
from archetypes_app.admin.audited import AuditedEditMixin
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.coding_form import CodingWorkspaceForm, PresetForm
from archetypes_app.models import CodingWorkspace
from archetypes_app.models.coding_workspace import WorkspacePlace
from tools_app import runner
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import report_refusal, show_confirmation
from tools_app.pages.html import show_badge
from tools_app.pages.opened_rows import OPENED
from tools_app.subsystems.coding.detect_sandbox_fences import find_fences_for
from tools_app.subsystems.coding.operations import Workspaces
from tools_app.subsystems.coding.presets import Preset

_REMOTE_FENCES = (
    ("the machine is known by its host key, another key is refused", True),
    ("paths below the folder alone, no link is followed", True),
    ("a command ends with its time, with all that does not hide from its session", True),
    ("anything else that the account there may do", False),
)


class CodingWorkspaceAdmin(AuditedEditMixin, OwnerScopedAdmin):
    """One golem's workspace. Without one it works here, and all it writes or runs waits for its owner."""

    empty_text = "No golem has a workspace of its own. Without one it works on this server, and everything waits."
    form = CodingWorkspaceForm
    list_display = ("golem", "where", "needs_owner")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("golem__name",)
    readonly_fields = ("where", "fences", "public_key")
    fieldsets = (
        (None, {"fields": ("golem", "needs_owner", "place", OPENED)}),
        ("On this server", {"fields": ("allows_network",)}),
        (
            "On another machine",
            {
                "description": "Put the public key below into authorized_keys of that account.",
                "fields": ("host", "port", "username", "folder", "host_key", "public_key"),
            },
        ),
        ("What holds", {"fields": ("fences",)}),
    )
    actions_detail = ("give_tools",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        """A workspace never moves to another golem."""
        return (*self.readonly_fields, "golem") if obj is not None else self.readonly_fields

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """It is changed, and its history stays readable."""
        return False

    @display(description="Where")
    def where(self, obj: CodingWorkspace) -> str:
        """The machine."""
        return obj.where

    @display(description="Fences")
    def fences(self, obj: CodingWorkspace) -> SafeString:
        """Each with whether it holds, as it was tried out on this machine."""
        found = find_fences_for(settings.GOLEM_KEPT_FROM_COMMANDS, allowed=settings.GOLEM_CODING_COMMANDS)
        is_here = obj.place == WorkspacePlace.LOCAL
        lines = found.describe() if is_here else _REMOTE_FENCES
        yes, no = show_badge("holds", "good"), show_badge("does not hold", "warn")
        told = format_html_join("", "<div>{} {}</div>", [(yes if holds else no, words) for words, holds in lines])
        if is_here and not found.holds:
            return format_html("{}<p>No command is run on this server: {}.</p>", told, found.why_not)
        return told

    @display(description="Public key")
    def public_key(self, obj: CodingWorkspace) -> SafeString | str:
        """The line for authorized_keys."""
        if obj.pk is None or obj.place != WorkspacePlace.SSH:
            return "made once this is saved with another machine"
        # An interface is its own key there.
        workspaces = cast("Workspaces", runner.list_services()[Workspaces])
        try:
            return format_html("<code>{}</code>", workspaces.public_key(obj.golem_id))
        except GolemError as error:
            return f"{error.code}: {error.detail}"

    def has_give_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may change workspaces and tools; the row itself is looked up among theirs."""
        return request.user.has_perms(["archetypes_app.change_codingworkspace", "archetypes_app.add_tooloverride"])

    @action(description="Give tools", url_path="give-tools", permissions=["give"])
    def give_tools(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """One preset, in the place of what it has of the six."""
        row: CodingWorkspace = self.get_row(request, object_id)
        if not self.has_give_permission(request):
            raise PermissionDenied
        back = reverse("admin:archetypes_app_codingworkspace_change", args=[row.pk])
        form = PresetForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                names = include_coding_tools(
                    golem_id=row.golem_id,
                    preset=Preset(form.cleaned_data["preset"]),
                    actor=name_actor(request.user),
                    now=clock.now(),
                )
            except GolemError as error:
                return report_refusal(request, error, back)
            messages.success(request, f"{row.golem} has {', '.join(names)}.")
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Give {row.golem} coding tools",
            form=form,
            submit="Give",
            back_url=back,
            subject=row,
            is_dangerous=True,
            explanation="Open permits are void, since the golem's tools change. Coding tools outside the choice go.",
        )

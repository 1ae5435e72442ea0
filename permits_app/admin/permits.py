"""The permit page: the whole story, and the four things an owner may do to a permit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.pages.demo_mark import show_maker
from permits_app.actions.cancel import annotate_permit, block_permit, cancel_permit, shorten_permit
from permits_app.admin.permit_story import build_story
from permits_app.admin.state_changes import build_state
from permits_app.admin.trace_view import build_trace
from permits_app.forms import NoteForm, ShortenForm
from permits_app.models import ActionPermit
from permits_app.pages.golem_figures import describe_action
from tools_app.admin.long_lists import RecentValuesFilter
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.recursion_limit import deep_calls
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation
from tools_app.pages.html import show_age, show_badge
from tools_app.wording.formats import format_chain, format_usd

_LINE_COLUMNS = (
    *("action_type", "venue", "bounds", "status", "risk_tier", "value_micro_usd", "chain_id", "created_at"),
    *("golem__name", "golem__made_by"),
)


@admin.register(ActionPermit)
class ActionPermitAdmin(OwnerScopedAdmin):
    """Permits are read; cancel, block, shorten and annotate are actions with a page of their own."""

    empty_text = "No permit yet. An agent asks for one with preview_action."
    list_display = ("what", "of_golem", "status_badge", "risk_badge", "worth", "chain", "age")
    list_filter = (
        GolemFilter,
        "status",
        "risk_tier",
        ("action_type", RecentValuesFilter),
        ("venue", RecentValuesFilter),
    )
    list_select_related = ("golem",)
    search_fields = ("=id", "=plan_hash", "=simulation_hash", "=signer", "=transactions__tx_hash", "golem__name")
    search_help_text = "A golem's name, or a whole permit id, hash or signer"
    ordering = ("-created_at",)
    date_hierarchy = None
    actions_detail: ClassVar[tuple[str, ...]] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Permits come from previews."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # Any: a row of the page's model
        """Nobody rewrites what was simulated."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """A permit stays as a record."""
        return False

    def has_end_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Who operates the golem, and operators of the server."""
        may = request.user.has_perm("permits_app.change_actionpermit")
        return bool(may) and not self.is_only_seen(request, object_id)

    def get_changelist_instance(self, request: HttpRequest) -> object:
        """The list without what no line of it tells: plans and simulations are long."""
        changelist = super().get_changelist_instance(request)
        changelist.result_list = changelist.result_list.only(*_LINE_COLUMNS)
        return changelist

    @display(description="Action", ordering="action_type")
    def what(self, obj: ActionPermit) -> str:
        """`Swap 500 USDC for WETH at VENUE`."""
        return f"{describe_action(obj)} at {obj.venue}"

    @display(description="Golem", ordering="golem")
    def of_golem(self, obj: ActionPermit) -> SafeString:
        """Its name, and the mark of one that the demo or a measurement made."""
        return format_html("{} {}", obj.golem.name, show_maker(obj.golem))

    @display(description="Status", ordering="status")
    def status_badge(self, obj: ActionPermit) -> SafeString:
        """Coloured."""
        return show_badge(obj.status)

    @display(description="Risk", ordering="risk_tier")
    def risk_badge(self, obj: ActionPermit) -> SafeString:
        """Coloured."""
        return show_badge(obj.risk_tier)

    @display(description="Worst case", ordering="value_micro_usd")
    def worth(self, obj: ActionPermit) -> str:
        """In dollars."""
        return format_usd(obj.value_micro_usd)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: ActionPermit) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="Opened", ordering="created_at")
    def age(self, obj: ActionPermit) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: object = None
    ) -> HttpResponse:
        """The story, top to bottom. Nothing on the page is a form."""
        if request.method != "GET":
            return HttpResponseNotAllowed(["GET"])
        permit = self._get_permit(request, object_id)
        if not self.has_view_permission(request, permit):
            raise PermissionDenied
        story = build_story(permit, now=clock.now())
        context = {
            **self.admin_site.each_context(request),
            "title": story.headline,
            "subtitle": None,
            "opts": self.opts,
            "original": permit,
            "story": story,
            "may_act": self.has_end_permission(request, permit.pk),
            "list_url": reverse("admin:permits_app_actionpermit_changelist"),
        }
        return TemplateResponse(request, "admin/permits_app/actionpermit/story.html", context)

    def trace_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The calls inside the plan, run once more for the page."""
        permit = self._get_permit(request, object_id)
        if not self.has_view_permission(request, permit):
            raise PermissionDenied
        trace = build_trace(permit)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Call tree: {describe_action(permit)} at {permit.venue}",
            "subtitle": None,
            "opts": self.opts,
            "original": permit,
            "trace": trace,
            # A node may need a request for each call to tell it, so only who asks waits for it.
            "state": build_state(permit, frames=trace.frames) if "state" in request.GET else None,
        }
        # A tree is as deep as contracts may call each other, and its template includes itself for each call.
        with deep_calls():
            return TemplateResponse(request, "admin/permits_app/actionpermit/trace.html", context).render()

    @action(description="Cancel", url_path="cancel", permissions=["end"])
    def cancel(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """End the permit and give its reservation back."""
        permit = self._get_permit_to_act_on(request, object_id)
        return self._end(
            request,
            permit,
            cancel_permit,
            title="Cancel this permit",
            submit="Cancel the permit",
            explanation="It can no longer be committed, and what it reserved is free again. The agent may ask anew.",
        )

    @action(description="Block", url_path="block", permissions=["end"])
    def block(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """End the permit as something the owner does not want."""
        permit = self._get_permit_to_act_on(request, object_id)
        return self._end(
            request,
            permit,
            block_permit,
            title="Block this permit",
            submit="Block the permit",
            explanation="It can no longer be committed, and the agent is told that its owner blocked it.",
        )

    @action(description="Shorten its life", url_path="shorten", permissions=["end"])
    def shorten(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let it end earlier."""
        permit = self._get_permit_to_act_on(request, object_id)
        now = clock.now()
        form = ShortenForm(request.POST or None, initial={"seconds_left": 10})
        if request.method == "POST" and form.is_valid():
            ends = now + timedelta(seconds=form.cleaned_data["seconds_left"])
            return self._call(request, permit, "Its life is shorter now.", shorten_permit, expires_at=ends, now=now)
        return show_confirmation(
            request=request,
            model_admin=self,
            title="Shorten this permit's life",
            form=form,
            submit="Shorten",
            explanation="A permit's life is never made longer; only a new preview opens a new one.",
            back_url=self._page(permit),
            subject=permit,
        )

    @action(description="Add a note", url_path="note", permissions=["end"])
    def annotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Write down something about it."""
        permit = self._get_permit_to_act_on(request, object_id)
        form = NoteForm(request.POST or None, initial={"note": permit.owner_note}, stored={"note": permit.owner_note})
        if request.method == "POST" and form.is_valid():
            return self._call(
                request, permit, "The note is kept.", annotate_permit, note=form.cleaned_data["note"], now=clock.now()
            )
        return show_confirmation(
            request=request,
            model_admin=self,
            title="A note on this permit",
            form=form,
            submit="Keep the note",
            explanation="It is shown on the permit's page and changes nothing else.",
            back_url=self._page(permit),
            subject=permit,
        )

    def get_urls(self) -> Any:  # Any: as Django types it
        """The call tree, and the four actions, whose buttons the story page draws itself."""
        wrap = self.admin_site.admin_view
        name = "permits_app_actionpermit"
        return [
            path("<path:object_id>/cancel/", wrap(self.cancel), name=f"{name}_cancel"),
            path("<path:object_id>/block/", wrap(self.block), name=f"{name}_block"),
            path("<path:object_id>/shorten/", wrap(self.shorten), name=f"{name}_shorten"),
            path("<path:object_id>/trace/", wrap(self.trace_view), name=f"{name}_trace"),
            path("<path:object_id>/note/", wrap(self.annotate), name=f"{name}_note"),
            *super().get_urls(),
        ]

    def _end(self, request: HttpRequest, permit: ActionPermit, end: Callable[..., object], **page: str) -> HttpResponse:
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            reason = form.cleaned_data["reason"]
            return self._call(request, permit, "Done.", end, reason=reason, now=clock.now())
        return show_confirmation(
            request=request,
            model_admin=self,
            form=form,
            back_url=self._page(permit),
            is_dangerous=True,
            subject=permit,
            **page,
        )

    def _call(
        self,
        request: HttpRequest,
        permit: ActionPermit,
        done: str,
        call: Callable[..., object],
        *,
        now: datetime,
        **arguments: object,
    ) -> HttpResponse:
        try:
            call(golem=permit.golem, permit_id=permit.pk, actor=name_actor(request.user), now=now, **arguments)
        except GolemError as error:
            return report_refusal(request, error, self._page(permit))
        messages.success(request, done)
        return HttpResponseRedirect(self._page(permit))

    def _get_permit(self, request: HttpRequest, object_id: str) -> ActionPermit:
        found: ActionPermit = self.get_row(request, object_id)
        return found

    def _get_permit_to_act_on(self, request: HttpRequest, object_id: str) -> ActionPermit:
        found: ActionPermit = self.get_row_to_act_on(request, object_id)
        return found

    def _page(self, permit: ActionPermit) -> str:
        return reverse("admin:permits_app_actionpermit_change", args=[permit.pk])

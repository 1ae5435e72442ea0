"""Standing plans that owners agreed to, what was done of each, and the one thing an owner may do about one: end it."""

from __future__ import annotations

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from permits_app.actions.end_standing_plans import end_standing_plans
from permits_app.models import ActionRecord, StandingPlan
from permits_app.models.action_record import ActionState
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.pages.confirmation import ReasonForm, show_confirmation
from tools_app.pages.html import show_age, show_badge


@admin.register(StandingPlan)
class StandingPlanAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One row for each plan that was agreed to."""

    empty_text = "No agent has proposed a plan that its owners agreed to."
    list_display = ("words", "golem", "state", "done", "agreed")
    list_filter = (GolemFilter, "kind")
    list_select_related = ("golem",)
    search_fields = ("words",)
    ordering = ("-created_at",)
    fields = ("golem", "words", "state", "done", "agreed", "ends_at", "ended")
    readonly_fields = fields
    actions_detail = ("end",)

    @display(description="State")
    def state(self, obj: StandingPlan) -> SafeString:
        """Whether it is still carried out."""
        if obj.ended_at is not None:
            return show_badge("ended", "quiet")
        return show_badge("over", "quiet") if obj.ends_at <= clock.now() else show_badge("stands", "good")

    @display(description="Done")
    def done(self, obj: StandingPlan) -> str:
        """How often of how often."""
        rows = ActionRecord.objects.filter(golem_id=obj.golem_id, wish_key=obj.wish_key, state=ActionState.EXECUTED)
        return f"{rows.count()} of {obj.times} times"

    @display(description="Agreed", ordering="created_at")
    def agreed(self, obj: StandingPlan) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    @display(description="Ended")
    def ended(self, obj: StandingPlan) -> str:
        """By whom before its time."""
        return f"by {obj.ended_by}" if obj.ended_at is not None else "not before its time"

    def has_end_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may change plans, of a golem that they operate."""
        may = request.user.has_perm("permits_app.change_standingplan")
        return bool(may) and not self.is_only_seen(request, object_id)

    @action(description="End this plan", url_path="end", permissions=["end"])
    def end(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """End the plan, with a reason."""
        plan: StandingPlan = self.get_row_to_act_on(request, object_id)
        if not self.has_end_permission(request):
            raise PermissionDenied
        back = reverse("admin:permits_app_standingplan_change", args=[plan.pk])
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            end_standing_plans(
                golem_id=plan.golem_id, actor=name_actor(request.user), now=clock.now(), plan_ids=[plan.pk]
            )
            messages.success(request, "The plan is carried out no more.")
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title="End this plan",
            form=form,
            submit="End it",
            explanation="What was traded stays as it is; what is under way is followed to its end.",
            back_url=back,
            subject=plan,
        )

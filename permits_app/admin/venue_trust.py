"""Venues that did other than they simulated, and the one thing an owner may do about it: trust them again."""

from __future__ import annotations

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from permits_app.actions.restore_venue_trust import restore_venue_trust
from permits_app.models import VenueTrust
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation
from tools_app.pages.html import show_age, show_badge
from tools_app.wording.formats import format_bps, format_chain


@admin.register(VenueTrust)
class VenueTrustAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One row per golem, chain and venue that diverged."""

    empty_text = "Nothing has gone other than predicted at any venue."
    list_display = ("venue", "chain", "golem", "state", "divergence", "clean_outcomes", "age")
    list_filter = (GolemFilter, "is_low")
    list_select_related = ("golem",)
    search_fields = ("=venue",)
    ordering = ("-lowered_at",)
    fields = ("golem", "venue", "chain", "state", "divergence", "outcome", "clean_outcomes", "age", "restored")
    readonly_fields = fields
    actions_detail = ("restore",)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: VenueTrust) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="Trust", ordering="is_low")
    def state(self, obj: VenueTrust) -> SafeString:
        """Low means one risk tier higher."""
        return show_badge("low", "warn") if obj.is_low else show_badge("restored", "good")

    @display(description="Diverged by", ordering="divergence_bps")
    def divergence(self, obj: VenueTrust) -> str:
        """Of the simulated amount."""
        return format_bps(obj.divergence_bps)

    @display(description="Outcome")
    def outcome(self, obj: VenueTrust) -> SafeString:
        """The permit whose outcome lowered it."""
        url = reverse("admin:permits_app_actionpermit_change", args=[obj.permit_id])
        return format_html('<a href="{}" class="gx-link">the permit that diverged</a>', url)

    @display(description="Lowered", ordering="lowered_at")
    def age(self, obj: VenueTrust) -> SafeString:
        """How long ago."""
        return show_age(obj.lowered_at)

    @display(description="Restored")
    def restored(self, obj: VenueTrust) -> str:
        """By whom and why."""
        return f"by {obj.restored_by}: {obj.restored_reason}" if not obj.is_low else "not yet"

    def has_restore_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may change the limits of a golem, of one that they operate."""
        may = request.user.has_perm("permits_app.change_venuetrust")
        return bool(may) and not self.is_only_seen(request, object_id)

    @action(description="Trust it again", url_path="restore", permissions=["restore"])
    def restore(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Restore the trust, with a reason."""
        trust: VenueTrust = self.get_row_to_act_on(request, object_id)
        if not self.has_restore_permission(request):
            raise PermissionDenied
        back = reverse("admin:permits_app_venuetrust_change", args=[trust.pk])
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                restore_venue_trust(
                    trust=trust, reason=form.cleaned_data["reason"], actor=name_actor(request.user), now=clock.now()
                )
            except GolemError as error:
                return report_refusal(request, error, back)
            messages.success(request, f"{trust.venue} is trusted again.")
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Trust {trust.venue} again",
            form=form,
            submit="Trust it again",
            explanation=f"An outcome there was {format_bps(trust.divergence_bps)} away from its simulation. Until it "
            "is trusted again every call of this golem there is one risk tier higher.",
            back_url=back,
            subject=trust,
        )

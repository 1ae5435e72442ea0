"""Change requests in the admin: the inbox and a page each; nobody edits a row. Versions of policies are read only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.models import Golem
from archetypes_app.ownership import is_operator, list_golems_with
from archetypes_app.roles import Power
from permits_app.approval_pages.inbox import show_stage
from permits_app.approval_pages.urls import list_urls
from permits_app.models import ChangeRequest
from permits_app.permits.request_stages import read_stage
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.pages.html import show_age, show_badge
from tools_app.wording.formats import format_usd

# The library's page shows the secret of every device to who may see it; here nobody may.
admin.site.unregister(TOTPDevice)


@admin.register(ChangeRequest)
class ChangeRequestAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Decided on pages of their own, by who decides for the golem."""

    write_power = Power.DECIDE

    list_display = ("title", "golem", "risk", "state_badge", "worth", "asker", "age")
    list_filter = (GolemFilter, "state", "risk_tier", "kind")
    search_fields = ("=id", "=digest", "=plan_hash", "title")
    search_help_text = "A whole request id, digest or plan hash, or words of a title"
    ordering = ("-created_at",)

    def get_queryset(self, request: HttpRequest) -> Any:  # Any: as Django types it
        """With what the page shows."""
        related = ("golem__archetype", "golem__policy_cage__mirror", "asked_by", "api_key", "permit")
        return super().get_queryset(request).select_related(*related)

    @display(description="Risk", ordering="risk_rank")
    def risk(self, obj: ChangeRequest) -> SafeString:
        """Coloured."""
        return show_badge(obj.risk_tier)

    @display(description="State", ordering="state")
    def state_badge(self, obj: ChangeRequest) -> SafeString:
        """In the word that the inbox, its page and its agent's answer have."""
        mirror = getattr(getattr(obj.golem, "policy_cage", None), "mirror", None)
        is_enforced = mirror is not None and mirror.is_enforced
        return show_stage(read_stage(obj, now=clock.now(), mirror=mirror if is_enforced else None))

    @display(description="At stake", ordering="value_micro_usd")
    def worth(self, obj: ChangeRequest) -> str:
        """In dollars."""
        return format_usd(obj.value_micro_usd)

    @display(description="Asked", ordering="created_at")
    def age(self, obj: ChangeRequest) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    def list_golems(self, request: HttpRequest) -> QuerySet[Golem]:
        """Golems whose announcements this person may cancel."""
        return Golem.objects.all() if is_operator(request.user) else list_golems_with(request.user, self.write_power)

    def get_urls(self) -> Any:  # Any: as Django types it
        """Our pages take the place of the list and the form."""
        return [*list_urls(self), *super().get_urls()]

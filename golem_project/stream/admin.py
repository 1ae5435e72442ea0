"""Webhooks in the admin: made here with their secret shown once, rotated, switched off and on; deliveries replayed."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.forms import ConfirmForm
from archetypes_app.models import Golem
from archetypes_app.roles import Power
from golem_project.stream import deliveries, webhook_secret_rotation, webhooks
from golem_project.stream.forms import NewWebhookForm
from golem_project.stream.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tools_app.admin.long_lists import RecentValuesFilter
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.taint import Secret
from tools_app.pages.confirmation import show_confirmation
from tools_app.pages.html import show_age, show_badge


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(OwnerScopedAdmin):
    """Where an owner's events are delivered. Nothing of a row is edited: the address is part of what was checked."""

    empty_text = "No webhook yet. One sends events to an address of yours, signed."
    ordering = ("-created_at",)
    list_display = ("label", "url", "golem", "state", "waiting", "given_up")
    list_select_related = ("golem",)
    search_fields = ("label", "url")
    fields = ("label", "url", "golem", "owner", "types", "state", "disabled_reason", "failing_since", "created_at")
    readonly_fields = fields
    actions_detail: ClassVar[tuple[str, ...]] = ("rotate", "switch", "remove")

    def get_queryset(self, request: HttpRequest) -> Any:  # Any: unfold's rows have no types
        """With the counts of the list."""
        counts = {
            "waiting_count": Count("deliveries", filter=Q(deliveries__state=DeliveryState.WAITING)),
            "dead_count": Count("deliveries", filter=Q(deliveries__state=DeliveryState.DEAD)),
        }
        return super().get_queryset(request).annotate(**counts)

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Rows are seen, and changed by their buttons alone."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Removed by its own button, which asks first."""
        return False

    def has_manage_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may make a webhook may rotate and switch one; the row itself is looked up among theirs."""
        return bool(self.has_add_permission(request))

    def _match_theirs(self, user: Any, power: Power) -> Q:  # Any: which model accounts have is a setting
        return Q(owner_id=user.pk)

    @display(description="State")
    def state(self, obj: WebhookEndpoint) -> SafeString:
        """On, failing, or off with a notice."""
        if obj.disabled_at is not None:
            return show_badge("switched off", "bad")
        return show_badge("failing", "warn") if obj.failing_since is not None else show_badge("on", "good")

    @display(description="Waiting")
    def waiting(self, obj: Any) -> int:  # Any: a row of any model
        """Deliveries not made yet."""
        return int(obj.waiting_count)

    @display(description="Given up")
    def given_up(self, obj: Any) -> int:  # Any: a row of any model
        """Dead letters."""
        return int(obj.dead_count)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """The list, with a notice for each webhook of this person that was switched off."""
        for endpoint in webhooks.list_disabled(request.user)[:5]:
            messages.warning(request, f"{endpoint} is switched off: {endpoint.disabled_reason}")
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: object = None) -> HttpResponse:
        """Make a webhook and show its secret once."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        golems = self.list_choices(Golem, request).order_by("name")
        form = NewWebhookForm(request.POST or None, golems=golems)
        if request.method == "POST" and form.is_valid():
            try:
                endpoint, secret = webhooks.create_endpoint(owner=request.user, now=clock.now(), **form.cleaned_data)
            except GolemError as error:
                form.add_error("url", error.detail)
            else:
                return self._show_secret(request, endpoint, secret, title="Webhook created")
        return show_confirmation(
            request=request,
            model_admin=self,
            title="New webhook",
            form=form,
            submit="Create the webhook",
            explanation="Events from now on are sent there, signed. The secret is shown once, on the next page.",
            back_url=reverse("admin:stream_webhookendpoint_changelist"),
        )

    @action(description="Rotate secret", icon="autorenew", url_path="rotate", permissions=["manage"])
    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A new secret; the old one signs along for a day."""
        endpoint = self.get_row(request, object_id)
        form = ConfirmForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                secret = webhook_secret_rotation.rotate_secret(endpoint=endpoint, now=clock.now())
            except GolemError as error:
                form.add_error(None, error.detail)
            else:
                return self._show_secret(request, endpoint, secret, title="Secret rotated", is_rotated=True)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Rotate the secret of {endpoint}",
            form=form,
            submit="Rotate now",
            back_url=self._page(endpoint),
            explanation="The new secret is shown once. For 24 hours deliveries carry signatures of both, also when"
            " it is rotated again.",
        )

    @action(description="Switch on or off", icon="power_settings_new", url_path="switch", permissions=["manage"])
    def switch(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """On again after a failure, or off by hand."""
        endpoint = self.get_row(request, object_id)
        is_off = endpoint.disabled_at is not None
        if request.method == "POST":
            if is_off:
                webhooks.enable_endpoint(endpoint=endpoint, now=clock.now())
            else:
                webhooks.disable_endpoint(endpoint=endpoint, reason="switched off by its owner", now=clock.now())
            messages.success(request, f"{endpoint} is {'on' if is_off else 'off'}.")
            return HttpResponseRedirect(self._page(endpoint))
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Switch {endpoint} {'on' if is_off else 'off'}",
            form=ConfirmForm(),
            submit="Do it",
            back_url=self._page(endpoint),
            explanation="It goes on where it was, with everything that happened meanwhile and is still kept.",
        )

    @action(description="Remove", icon="delete", url_path="remove", permissions=["manage"])
    def remove(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Forget the webhook and its deliveries."""
        endpoint = self.get_row(request, object_id)
        if request.method == "POST":
            endpoint.delete()
            messages.success(request, f"{endpoint} is removed.")
            return HttpResponseRedirect(reverse("admin:stream_webhookendpoint_changelist"))
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Remove {endpoint}",
            form=ConfirmForm(),
            submit="Remove it",
            back_url=self._page(endpoint),
            is_dangerous=True,
            explanation="Its secret and its deliveries are forgotten; the events themselves stay.",
        )

    def _show_secret(
        self, request: HttpRequest, endpoint: WebhookEndpoint, secret: Secret, *, title: str, is_rotated: bool = False
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "endpoint": endpoint,
            "secret": secret.reveal(),
            "is_rotated": is_rotated,
        }
        response = TemplateResponse(request, "admin/stream/webhook_created.html", context)
        add_never_cache_headers(response)
        return response

    def _page(self, endpoint: WebhookEndpoint) -> str:
        return reverse("admin:stream_webhookendpoint_change", args=[endpoint.pk])


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Each event for each webhook, with what became of it."""

    empty_text = "Nothing to deliver: a webhook that is on makes a delivery of each event."
    list_display = ("event_type", "endpoint", "state_badge", "attempts", "last_status", "last_error", "age")
    list_filter = ("state", ("event_type", RecentValuesFilter))
    list_select_related = ("endpoint",)
    search_fields = ("=event_id",)
    ordering = ("-created_at",)
    actions = ("replay_selected",)
    actions_detail: ClassVar[tuple[str, ...]] = ("replay",)

    def has_replay_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may make webhooks may send their events again; rows are looked up among theirs."""
        return bool(request.user.has_perm("stream.add_webhookendpoint"))

    def _match_theirs(self, user: Any, power: Power) -> Q:  # Any: which model accounts have is a setting
        return Q(endpoint__owner_id=user.pk)

    @display(description="State", ordering="state")
    def state_badge(self, obj: WebhookDelivery) -> SafeString:
        """As a badge."""
        tones = {DeliveryState.DELIVERED: "good", DeliveryState.DEAD: "bad"}
        return show_badge(obj.get_state_display(), tones.get(DeliveryState(obj.state), "quiet"))

    @display(description="When", ordering="created_at")
    def age(self, obj: WebhookDelivery) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    @admin.action(description="Send again", permissions=["replay"])
    def replay_selected(self, request: HttpRequest, queryset: object) -> None:
        """Replay the ticked ones."""
        self._replay(request, queryset)

    @action(description="Send again", icon="replay", url_path="replay", permissions=["replay"])
    def replay(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Replay this one."""
        delivery = self.get_row(request, object_id)
        back = reverse("admin:stream_webhookdelivery_change", args=[delivery.pk])
        if request.method == "POST":
            self._replay(request, WebhookDelivery.objects.filter(pk=delivery.pk))
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Send {delivery} again",
            form=ConfirmForm(),
            submit="Send again",
            back_url=back,
            explanation="Under the same webhook-id, so a receiver that has it can drop it.",
        )

    def _replay(self, request: HttpRequest, rows: Any) -> None:  # Any: rows of any model
        asked = rows.exclude(state=DeliveryState.WAITING).count()
        count = deliveries.replay(deliveries=rows, now=clock.now())
        if count:
            messages.success(request, "It is tried again." if count == 1 else f"{count} deliveries are tried again.")
        if asked > count:
            messages.warning(
                request,
                f"{asked - count} not: the webhook's owner may not see their golem any more. With a role in it, or an"
                " account that is on again, they can be sent.",
            )
        if not asked:
            messages.info(request, "It waits to be sent already.")

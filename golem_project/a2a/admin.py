"""Tasks of other agents, as their golem's owner sees them, and what strangers may read of a golem."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.forms import ConfirmForm
from archetypes_app.models import Golem
from golem_project.a2a.models import LARGEST_PRICE_MICRO_USDC, OpenedRead, Task, TaskState
from golem_project.a2a.payment_gas_account import find_address
from golem_project.a2a.public_queries import list_openable
from golem_project.a2a.settle_paid_read import PAID_IN
from tools_app.admin.long_lists import RecentValuesFilter
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.units import format_units
from tools_app.pages.confirmation import show_confirmation
from tools_app.pages.html import show_age, show_badge
from tools_app.select_tool_for_venue import normalize_key

_TONES = {
    TaskState.COMPLETED: "good",
    TaskState.FAILED: "bad",
    TaskState.REJECTED: "bad",
    TaskState.INPUT_REQUIRED: "warn",
}


@admin.register(Task)
class TaskAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What other agents asked of a golem over A2A, and what came of it."""

    empty_text = "No other agent asked anything yet. One needs a key of a golem, or a read that you opened."
    list_display = ("skill", "golem", "asker", "state_badge", "note", "permit_link", "age")
    list_filter = ("state", ("skill", RecentValuesFilter))
    list_select_related = ("golem", "api_key", "permit")
    search_fields = ("=id", "=context_id")
    ordering = ("-created_at",)
    fields = (
        "skill",
        "golem",
        "asker",
        "state_badge",
        "note",
        "permit_link",
        "asked",
        "answered",
        "refusal",
        "agent",
        "context_id",
        "message_id",
        "created_at",
        "updated_at",
        "finished_at",
    )
    readonly_fields = fields

    @display(description="Asked by")
    def asker(self, obj: Task) -> str:
        """The key, or the wallet of a stranger."""
        return f"key {obj.api_key.prefix}…" if obj.api_key is not None else f"stranger {obj.visitor}"

    @display(description="State", ordering="state")
    def state_badge(self, obj: Task) -> SafeString:
        """As a badge."""
        return show_badge(obj.get_state_display(), _TONES.get(TaskState(obj.state), "quiet"))

    @display(description="Permit")
    def permit_link(self, obj: Task) -> str:
        """Where the permit is seen."""
        if obj.permit is None:
            return "–"
        page = reverse("admin:permits_app_actionpermit_change", args=[obj.permit_id])
        return format_html('<a href="{}">{}</a>', page, obj.permit.get_status_display())

    @display(description="When", ordering="created_at")
    def age(self, obj: Task) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    @display(description="Asked for")
    def asked(self, obj: Task) -> SafeString:
        """The parameters, which another agent wrote."""
        return _show_json(obj.params)

    @display(description="Answer")
    def answered(self, obj: Task) -> SafeString:
        """What the tool answered."""
        return _show_json(obj.answer)

    @display(description="Refusal")
    def refusal(self, obj: Task) -> SafeString:
        """Why it was refused."""
        return _show_json(obj.problem)

    @display(description="Done as agent")
    def agent(self, obj: Task) -> str:
        """The golem's ERC-8004 agent, as feedback names it."""
        return str(obj.done_by.get("agentId", "–"))


class OpenedReadForm(forms.ModelForm):
    """A golem, one of the reads that it has, and what an answer costs."""

    price = forms.DecimalField(
        label="Price of an answer, USDC",
        required=False,
        min_value=Decimal("0.000001"),
        max_value=Decimal(LARGEST_PRICE_MICRO_USDC).scaleb(-6),
        max_digits=10,
        decimal_places=6,
    )

    class Meta:
        model = OpenedRead
        fields = ("golem", "query", "venue")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        if "price" in self.fields:
            self.fields["price"].help_text = (
                "Paid by x402 to the golem's account on its home chain; empty: free. What is paid is carried out by"
                f" this server's account {find_address()}, which needs coins for gas there. What the golem published"
                " (sleepwalker_artifact) costs its own price where that is more."
            )

    def clean(self) -> dict[str, Any]:  # Any: each field gives its own type
        """Only a read of this golem can be opened."""
        cleaned: dict[str, Any] = super().clean() or {}  # Any: each field gives its own type
        price = cleaned.get("price")
        self.instance.price_micro_usdc = int(price.scaleb(6)) if price is not None else None
        golem = cleaned.get("golem")
        if golem is None or "query" not in cleaned or "venue" not in cleaned:
            return cleaned
        cleaned["query"], cleaned["venue"] = normalize_key(cleaned["query"]), normalize_key(cleaned["venue"])
        openable = list_openable(Golem.objects.select_related("archetype", "warden").get(pk=golem.pk))
        if (cleaned["query"], cleaned["venue"]) not in openable:
            known = ", ".join(f"{query}@{venue}" for query, venue in openable[:40])
            self.add_error("query", f"This golem has no such read. It has: {known}")
        return cleaned


@admin.register(OpenedRead)
class OpenedReadAdmin(OwnerScopedAdmin):
    """What anybody with a wallet may read of a golem over A2A. A row is made or taken away, never changed."""

    empty_text = "Nothing is open: without a key of a golem nobody reads anything of it."
    ordering = ("-created_at",)
    list_display = ("query", "venue", "golem", "asked", "created_at")
    list_select_related = ("golem",)
    form = OpenedReadForm
    readonly_fields = ("asked",)
    actions_detail: ClassVar[tuple[str, ...]] = ("close",)

    def get_fieldsets(self, request: HttpRequest, obj: object = None) -> Any:  # Any: unfold has no types
        """A row that stands tells its price; a new one asks for it."""
        return ((None, {"fields": ("golem", "query", "venue", "price" if obj is None else "asked")}),)

    @display(description="Price of an answer")
    def asked(self, obj: OpenedRead) -> str:
        """In USDC."""
        return "free" if obj.price_micro_usdc is None else format_units(obj.price_micro_usdc, 6, PAID_IN)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Closed by its own button, which asks first."""
        return False

    def has_manage_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may open a read may close one, of a golem that they operate."""
        return bool(self.has_add_permission(request)) and not self.is_only_seen(request, object_id)

    @action(description="Close", icon="visibility_off", url_path="close", permissions=["manage"])
    def close(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Strangers read it no more."""
        row = self.get_row_to_act_on(request, object_id)
        if request.method == "POST":
            row.delete()
            messages.success(request, f"{row} is closed.")
            return HttpResponseRedirect(reverse("admin:a2a_openedread_changelist"))
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Close {row}",
            form=ConfirmForm(),
            submit="Close it",
            back_url=reverse("admin:a2a_openedread_change", args=[row.pk]),
            explanation="From now on only agents with a key of this golem can ask for it.",
        )

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Never: another read is another row."""
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: object, change: bool) -> None:  # Any: a row of any model
        """With the time."""
        obj.created_at = clock.now()
        super().save_model(request, obj, form, change)


def _show_json(value: dict[str, object]) -> SafeString:
    if not value:
        return format_html("{}", "–")
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))

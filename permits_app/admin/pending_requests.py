"""Lists what golems asked of protocols and wait for: state, amounts, dates, who asked and who claimed."""

from __future__ import annotations

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from permits_app.admin.ledgers import LedgerAdmin
from permits_app.models import PendingRequest
from permits_app.pages.promise_lines import say_amounts
from permits_app.pages.request_lines import (
    name_request,
    say_due,
    say_held,
    say_what_may_happen,
    show_request_state,
)
from tools_app.core import clock
from tools_app.pages.html import NOTHING, show_age
from tools_app.wording.formats import format_chain


@admin.register(PendingRequest)
class PendingRequestAdmin(LedgerAdmin):
    """Requests that finish later; the follower alone changes them."""

    empty_text = "Nothing is waited for. A withdrawal that goes through a queue is kept here until its money is home."
    owner_path = "golem__owner"
    list_select_related = ("golem", "permit__golem", "claim")
    list_display = ("position", "golem", "shown_state", "holds", "due", "looked", "permit_link")
    list_filter = ("state",)
    search_fields = ("=ref",)
    ordering = ("-created_at",)
    fields = (
        "position",
        "golem",
        "shown_state",
        "holds",
        "due",
        "may_happen",
        "came_back",
        "became",
        "taken",
        "looked",
        "last_error",
        "network",
        "permit_link",
        "claim_link",
    )
    readonly_fields = fields

    @display(description="Request", ordering="ref")
    def position(self, obj: PendingRequest) -> str:
        """Its protocol and its number there."""
        return name_request(obj)

    @display(description="State", ordering="state")
    def shown_state(self, obj: PendingRequest) -> SafeString:
        """As a badge."""
        return show_request_state(obj)

    @display(description="Holds")
    def holds(self, obj: PendingRequest) -> str:
        """Its legs as they were last seen."""
        return say_held(obj) or NOTHING

    @display(description="Expected", ordering="expected_at")
    def due(self, obj: PendingRequest) -> SafeString | str:
        """When it should be ready, about; of an order, until when it stands."""
        return show_age(obj.expected_at) if obj.expected_at else say_due(obj, now=clock.now())

    @display(description="What can still happen")
    def may_happen(self, obj: PendingRequest) -> str:
        """Of a standing order."""
        return say_what_may_happen(obj) or NOTHING

    @display(description="Came back")
    def came_back(self, obj: PendingRequest) -> str:
        """When an order ended, as transfers showed it."""
        return say_amounts(obj.chain_id, obj.came) or NOTHING

    @display(description="Became")
    def became(self, obj: PendingRequest) -> str:
        """The position that an order turned into."""
        return obj.successor or NOTHING

    @display(description="Others took")
    def taken(self, obj: PendingRequest) -> str:
        """What somebody else claimed of it for themselves while it goes on."""
        return say_amounts(obj.expects_chain_id, obj.others_took) or NOTHING

    @display(description="Looked at", ordering="checked_at")
    def looked(self, obj: PendingRequest) -> SafeString | str:
        """How long ago."""
        return show_age(obj.checked_at) if obj.checked_at else "not yet"

    @display(description="Chain")
    def network(self, obj: PendingRequest) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="Claimed by")
    def claim_link(self, obj: PendingRequest) -> SafeString | str:
        """The permit that claims it, or did."""
        if obj.claim_id is None:
            return NOTHING
        url = reverse("admin:permits_app_actionpermit_change", args=[obj.claim_id])
        return format_html('<a href="{}" class="gx-link">{}</a>', url, obj.claim)

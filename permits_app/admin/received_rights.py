"""Lists rights that others gave golems over their money, and what each permit moved under them. Read only."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from permits_app.admin.ledgers import LedgerAdmin
from permits_app.models import ReceivedRight, RightUse
from permits_app.models.received_right import RightState
from permits_app.pages.right_lines import say_left, say_most
from tools_app.core import clock
from tools_app.pages.html import NOTHING, show_age, show_badge
from tools_app.toolkit.protocol import SHELF
from tools_app.wording.address_names import format_token_amount
from tools_app.wording.formats import format_chain

_TONES = {RightState.STANDING: "good", RightState.WITHDRAWN: "warn"}


@admin.register(ReceivedRight)
class ReceivedRightAdmin(LedgerAdmin):
    """Rights from the day they were given to their end. What it takes to use one is shown to nobody."""

    empty_text = "No right was received. What an owner lets a golem draw from a wallet of theirs is kept here."
    owner_path = "golem__owner"
    list_select_related = ("golem",)
    list_display = ("received_at", "golem", "shown_state", "principal", "at_most", "ends")
    list_filter = ("state",)
    search_fields = ("=reference", "=principal")
    ordering = ("-created_at",)
    fields = (
        "received_at",
        "golem",
        "shown_state",
        "state_reason",
        "gone",
        "principal",
        "holder",
        "at_most",
        "left_now",
        "looked",
        "begins",
        "ends",
        "reference",
        "network",
        "given_by",
    )
    readonly_fields = fields

    @display(description="Received at", ordering="protocol")
    def received_at(self, obj: ReceivedRight) -> str:
        """The protocol whose contract honours it."""
        return SHELF.label_on(obj.protocol, obj.chain_id)

    @display(description="State", ordering="state")
    def shown_state(self, obj: ReceivedRight) -> SafeString:
        """As a badge."""
        return show_badge(obj.get_state_display(), _TONES.get(RightState(obj.state), "quiet"))

    @display(description="At most")
    def at_most(self, obj: ReceivedRight) -> str:
        """The amount of one period."""
        return say_most(obj)

    @display(description="Left now")
    def left_now(self, obj: ReceivedRight) -> str:
        """What may still be moved in the present period; nothing of a right that does not stand."""
        return say_left(obj, now=clock.now()) if obj.state == RightState.STANDING else NOTHING

    @display(description="Its contract was asked")
    def looked(self, obj: ReceivedRight) -> str:
        """When, and what came in between."""
        asked = show_age(obj.looked_at) if obj.looked_at else "not yet"
        return format_html("{}: {}", asked, obj.last_error) if obj.last_error else asked

    @display(description="From", ordering="starts_at")
    def begins(self, obj: ReceivedRight) -> SafeString:
        """When it begins."""
        return show_age(obj.starts_at)

    @display(description="Until", ordering="ends_at")
    def ends(self, obj: ReceivedRight) -> SafeString:
        """When it ends by itself."""
        return show_age(obj.ends_at)

    @display(description="Gone since", ordering="state_at")
    def gone(self, obj: ReceivedRight) -> SafeString | str:
        """When it was seen to stand no more."""
        return show_age(obj.state_at) if obj.state_at else NOTHING

    @display(description="Chain")
    def network(self, obj: ReceivedRight) -> str:
        """By name."""
        return format_chain(obj.chain_id)


@admin.register(RightUse)
class RightUseAdmin(LedgerAdmin):
    """What a permit may move, and once it is committed moved, of somebody else's money."""

    empty_text = "Nothing of anybody else's money was moved."
    list_select_related = ("permit__golem", "right")
    list_display = ("claimed", "amount", "principal", "permit_link")
    ordering = ("-claimed_at",)
    fields = ("claimed", "amount", "principal", "permit_link")
    readonly_fields = fields

    @display(description="Claimed", ordering="claimed_at")
    def claimed(self, obj: RightUse) -> SafeString:
        """When its permit was opened."""
        return show_age(obj.claimed_at)

    @display(description="At most", ordering="raw")
    def amount(self, obj: RightUse) -> str:
        """In units of its token."""
        return format_token_amount(obj.right.chain_id, obj.right.token, int(obj.raw))

    @display(description="Whose money", ordering="right__principal")
    def principal(self, obj: RightUse) -> str:
        """Whose it is."""
        return str(obj.right.principal)

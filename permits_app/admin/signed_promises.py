"""Lists what golems signed for others to carry out: amounts, end, and what became of it."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.decorators import display

from permits_app.admin.ledgers import LedgerAdmin
from permits_app.models import SignedPromise
from permits_app.models.signed_promise import PromiseState
from permits_app.pages.promise_lines import name_promised_at, say_amounts, say_given
from tools_app.pages.html import NOTHING, show_age, show_badge
from tools_app.wording.formats import format_chain

_TONES = {PromiseState.OPEN: "busy", PromiseState.FILLED: "good"}


@admin.register(SignedPromise)
class SignedPromiseAdmin(LedgerAdmin):
    """Promises from signature to end; the follower alone changes them. The signature itself is shown to nobody."""

    empty_text = (
        "Nothing is promised. An offer or order that a golem signs is kept here until it can no longer be taken."
    )
    owner_path = "golem__owner"
    list_select_related = ("golem", "permit__golem")
    list_display = ("promised_at", "golem", "shown_state", "may_go", "comes", "ends", "permit_link")
    list_filter = ("state",)
    search_fields = ("=digest",)
    ordering = ("-created_at",)
    fields = (
        "promised_at",
        "golem",
        "shown_state",
        "may_go",
        "comes",
        "ends",
        "looked",
        "last_error",
        "digest",
        "network",
        "permit_link",
    )
    readonly_fields = fields

    @display(description="Promised at", ordering="protocol")
    def promised_at(self, obj: SignedPromise) -> str:
        """The protocol whose contract takes it."""
        return name_promised_at(obj)

    @display(description="State", ordering="state")
    def shown_state(self, obj: SignedPromise) -> SafeString:
        """As a badge."""
        return show_badge(obj.get_state_display(), _TONES.get(PromiseState(obj.state), "quiet"))

    @display(description="May go")
    def may_go(self, obj: SignedPromise) -> SafeString | str:
        """What it gives."""
        return say_given(obj) or NOTHING

    @display(description="Comes for it")
    def comes(self, obj: SignedPromise) -> SafeString | str:
        """The least it asks for."""
        return say_amounts(obj.chain_id, obj.gets) or NOTHING

    @display(description="Until", ordering="ends_at")
    def ends(self, obj: SignedPromise) -> SafeString:
        """Its deadline."""
        return show_age(obj.ends_at)

    @display(description="Looked at", ordering="checked_at")
    def looked(self, obj: SignedPromise) -> SafeString | str:
        """How long ago."""
        return show_age(obj.checked_at) if obj.checked_at else "not yet"

    @display(description="Chain")
    def network(self, obj: SignedPromise) -> str:
        """By name."""
        return format_chain(obj.chain_id)

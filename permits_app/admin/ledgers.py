"""Money and machinery as it happened, read only: spends, grants, nonces, transactions, outcomes."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from permits_app.admin.sent_links import show_payload
from permits_app.limits.reserved_parts import read_parts
from permits_app.models import (
    ActionPermit,
    CapabilityGrant,
    NonceCursor,
    NonceReservation,
    OutboundTransaction,
    OutcomeRecord,
    SpendEntry,
    StandingAllowance,
)
from tools_app.admin.long_lists import RecentValuesFilter
from tools_app.admin.read_only import PlainAdmin, ReadOnlyAdminMixin
from tools_app.core.units import format_units
from tools_app.pages.html import NOTHING, show_age, show_badge, show_hex
from tools_app.wording.formats import format_bps, format_chain, format_coin, format_gas, format_gwei, format_usd


class PermitGolemFilter(GolemFilter):
    """Rows of one golem, reached through their permit."""

    path = "permit__golem"


class LedgerAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """What these rows share: they belong to a permit."""

    owner_path = "permit__golem__owner"
    list_select_related: ClassVar[tuple[str, ...]] = ("permit__golem",)
    list_filter: ClassVar[tuple[Any, ...]] = (PermitGolemFilter,)  # Any: columns of SQL, typed by their place

    @display(description="Permit")
    def permit_link(self, obj: object) -> SafeString:
        """To the permit's page."""
        permit: ActionPermit | None = getattr(obj, "permit", None)
        if permit is None:
            return NOTHING
        url = reverse("admin:permits_app_actionpermit_change", args=[permit.pk])
        return format_html(
            '<a href="{}" class="gx-link">{} at {}</a>', url, permit.action_type.replace("_", " "), permit.venue
        )

    @display(description="Golem")
    def golem_name(self, obj: object) -> str:
        """Through the permit."""
        permit: ActionPermit | None = getattr(obj, "permit", None)
        return str(permit.golem) if permit else "–"


@admin.register(SpendEntry)
class SpendEntryAdmin(LedgerAdmin):
    """Reservations and settlements; what a rollback of the chain took back is reversed by an entry of its own."""

    empty_text = "Opening a permit reserves its worst case here."
    owner_path = "golem__owner"
    list_select_related = ("golem", "permit__golem")
    list_display = ("permit_link", "golem", "life", "state_badge", "reserved", "settled", "counts_per_day", "age")
    list_filter = (GolemFilter, "state")
    search_fields = ("=permit__id",)
    ordering = ("-counted_at",)
    fields = (
        *("permit_link", "golem", "life", "state_badge", "reversed_entry", "reserved", "settled", "parts"),
        *("counts_per_day", "heartbeat_tick", "age"),
    )
    readonly_fields = fields

    @display(description="State", ordering="state")
    def state_badge(self, obj: SpendEntry) -> SafeString:
        """Coloured."""
        return show_badge(obj.state)

    @display(description="Reserved", ordering="reserved_micro_usd")
    def reserved(self, obj: SpendEntry) -> str:
        """In dollars."""
        return format_usd(obj.reserved_micro_usd)

    @display(description="Settled", ordering="settled_micro_usd")
    def settled(self, obj: SpendEntry) -> str:
        """In dollars."""
        return format_usd(obj.settled_micro_usd)

    @display(description="Takes back")
    def reversed_entry(self, obj: SpendEntry) -> SafeString | str:
        """The settled entry that this one takes off the limits."""
        if obj.reverses_id is None:
            return NOTHING
        url = reverse("admin:permits_app_spendentry_change", args=[obj.reverses_id])
        return format_html('<a href="{}" class="gx-link">the settlement of life {}</a>', url, obj.life)

    @display(description="Made of")
    def parts(self, obj: SpendEntry) -> SafeString:
        """Token, amount and value of each part."""
        rows = [
            (part.role, part.units or "at the fee cap", format_usd(part.micro_usd))
            for part in read_parts(obj.breakdown)
        ]
        return format_html('<ul class="gx-list">{}</ul>', format_html_join("", "<li>{}: {}, {}</li>", rows))

    @display(description="Counted", ordering="counted_at")
    def age(self, obj: SpendEntry) -> SafeString:
        """How long ago."""
        return show_age(obj.counted_at)


@admin.register(StandingAllowance)
class StandingAllowanceAdmin(LedgerAdmin):
    """What spenders may still take of a golem's tokens."""

    empty_text = "Nothing was left approved. What a plan leaves standing is kept here until it is revoked or used."
    owner_path = "golem__owner"
    list_select_related = ("golem", "permit__golem")
    list_display = ("token_name", "golem", "spender_address", "still", "worth", "permit_link", "age")
    list_filter = (GolemFilter,)
    search_fields = ("=token", "=spender")
    ordering = ("-counted_at",)
    fields = (
        "token_name",
        "golem",
        "spender_address",
        "still",
        "worth",
        "network",
        "block_number",
        "permit_link",
        "age",
    )
    readonly_fields = fields

    @display(description="Token", ordering="symbol")
    def token_name(self, obj: StandingAllowance) -> SafeString:
        """Symbol and address."""
        return show_hex(obj.token, name=obj.symbol)

    @display(description="Spender", ordering="spender")
    def spender_address(self, obj: StandingAllowance) -> SafeString:
        """Who may take it."""
        return show_hex(obj.spender)

    @display(description="May still take")
    def still(self, obj: StandingAllowance) -> str:
        """In units of the token; nothing once it is revoked or used."""
        return format_units(int(obj.left), obj.decimals, obj.symbol) if obj.left != "0" else "nothing any more"

    @display(description="Worth", ordering="worth_micro_usd")
    def worth(self, obj: StandingAllowance) -> str:
        """In dollars."""
        return format_usd(obj.worth_micro_usd)

    @display(description="Chain")
    def network(self, obj: StandingAllowance) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="Since", ordering="counted_at")
    def age(self, obj: StandingAllowance) -> SafeString:
        """How long ago its permit ended."""
        return show_age(obj.counted_at)


@admin.register(CapabilityGrant)
class CapabilityGrantAdmin(LedgerAdmin):
    """The database's half of the one-shot token."""

    list_display = ("permit_link", "golem_name", "tool_name", "limit", "minted", "used")
    search_fields = ("=permit__id", "=plan_hash")
    ordering = ("-minted_at",)
    fields = ("permit_link", "golem_name", "tool_name", "plan", "limit", "minted", "used", "ends")
    readonly_fields = fields

    @display(description="Plan hash")
    def plan(self, obj: CapabilityGrant) -> SafeString:
        """With a copy button."""
        return show_hex(obj.plan_hash)

    @display(description="Up to", ordering="value_limit_micro_usd")
    def limit(self, obj: CapabilityGrant) -> str:
        """In dollars."""
        return format_usd(obj.value_limit_micro_usd)

    @display(description="Minted", ordering="minted_at")
    def minted(self, obj: CapabilityGrant) -> SafeString:
        """How long ago."""
        return show_age(obj.minted_at)

    @display(description="Used", ordering="consumed_at")
    def used(self, obj: CapabilityGrant) -> SafeString:
        """How long ago."""
        return show_age(obj.consumed_at)

    @display(description="Ends")
    def ends(self, obj: CapabilityGrant) -> SafeString:
        """When it could no longer be used."""
        return show_age(obj.expires_at)


@admin.register(NonceCursor)
class NonceCursorAdmin(ReadOnlyAdminMixin, PlainAdmin):
    """The next nonce per account; of all golems, hence for operators."""

    ordering = ("chain_id", "address")
    list_display = ("account", "chain", "next_nonce", "updated_at")
    search_fields = ("=address",)
    fields = ("account", "chain", "next_nonce", "updated_at")
    readonly_fields = fields

    @display(description="Account", ordering="address")
    def account(self, obj: NonceCursor) -> SafeString:
        """Short."""
        return show_hex(obj.address)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: NonceCursor) -> str:
        """By name."""
        return format_chain(obj.chain_id)


@admin.register(NonceReservation)
class NonceReservationAdmin(LedgerAdmin):
    """Who holds which nonce."""

    list_display = ("nonce", "account", "chain", "state_badge", "permit_link", "golem_name")
    list_filter = (PermitGolemFilter, "state")
    search_fields = ("=address", "=permit__id")
    ordering = ("-id",)
    fields = ("nonce", "account", "chain", "state_badge", "permit_link", "call_index")
    readonly_fields = fields

    @display(description="Account", ordering="address")
    def account(self, obj: NonceReservation) -> SafeString:
        """Short."""
        return show_hex(obj.address)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: NonceReservation) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="State", ordering="state")
    def state_badge(self, obj: NonceReservation) -> SafeString:
        """Coloured."""
        return show_badge(obj.state)


@admin.register(OutboundTransaction)
class OutboundTransactionAdmin(LedgerAdmin):
    """What was signed and sent. The signed bytes are not shown: whoever holds them can send them."""

    empty_text = "No transaction was signed yet. A commit writes one for each call."
    list_display = ("hash_link", "permit_link", "golem_name", "chain", "state_badge", "nonce", "gas", "fee", "sent")
    list_filter = (PermitGolemFilter, "state", ("chain_id", RecentValuesFilter))
    search_fields = ("=tx_hash", "=sender", "=to", "=permit__id")
    search_help_text = "A whole transaction hash, address or permit id"
    ordering = ("-created_at",)
    fields = (
        "hash_link",
        "permit_link",
        "golem_name",
        "chain",
        "state_badge",
        "call_index",
        "nonce",
        "from_short",
        "to_short",
        "value",
        "gas",
        "gas_budget",
        "max_fee",
        "fee",
        "block_number",
        "sent",
        "broadcast_count",
    )
    readonly_fields = fields

    @display(description="Hash")
    def hash_link(self, obj: OutboundTransaction) -> SafeString:
        """To the chain's explorer where there is one."""
        return show_payload(obj)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: OutboundTransaction) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="State", ordering="state")
    def state_badge(self, obj: OutboundTransaction) -> SafeString:
        """Coloured."""
        return show_badge(obj.state)

    @display(description="From")
    def from_short(self, obj: OutboundTransaction) -> SafeString:
        """Short."""
        return show_hex(obj.sender)

    @display(description="To")
    def to_short(self, obj: OutboundTransaction) -> SafeString:
        """Short."""
        return show_hex(obj.to)

    @display(description="Value")
    def value(self, obj: OutboundTransaction) -> str:
        """In the chain's coin."""
        return format_coin(obj.value_wei, obj.chain_id)

    @display(description="Gas used", ordering="gas_used")
    def gas(self, obj: OutboundTransaction) -> str:
        """In gas units."""
        return format_gas(obj.gas_used)

    @display(description="Gas limit")
    def gas_budget(self, obj: OutboundTransaction) -> str:
        """In gas units."""
        return format_gas(obj.gas_limit)

    @display(description="Fee cap")
    def max_fee(self, obj: OutboundTransaction) -> str:
        """In gwei per gas."""
        return f"{format_gwei(obj.max_fee_per_gas)}, of it {format_gwei(obj.max_priority_fee_per_gas)} priority"

    @display(description="Fee")
    def fee(self, obj: OutboundTransaction) -> str:
        """In the chain's coin."""
        return format_coin(obj.fee_wei, obj.chain_id) if obj.fee_wei else "–"

    @display(description="Sent", ordering="broadcast_at")
    def sent(self, obj: OutboundTransaction) -> SafeString:
        """How long ago."""
        return show_age(obj.broadcast_at)


@admin.register(OutcomeRecord)
class OutcomeRecordAdmin(LedgerAdmin):
    """Predicted beside actual; the permit's page shows it as a table."""

    empty_text = "Nothing was committed yet. Each receipt is held against its prediction here."
    list_display = ("permit_link", "golem_name", "verdict", "divergence", "gas_compared", "fee", "age")
    list_filter = (PermitGolemFilter, "is_verified")
    search_fields = ("=permit__id",)
    ordering = ("-created_at",)
    fields = (
        "permit_link",
        "golem_name",
        "verdict",
        "divergence",
        "gas_compared",
        "fee",
        "ground_truth_source",
        "list_findings",
    )
    readonly_fields = fields

    @display(description="Verdict", ordering="is_verified")
    def verdict(self, obj: OutcomeRecord) -> SafeString:
        """Coloured."""
        if obj.taken_back_at is not None:
            return show_badge("taken back by a rollback", "quiet")
        return show_badge("verified", "good") if obj.is_verified else show_badge("diverged", "warn")

    @display(description="Largest difference", ordering="divergence_bps")
    def divergence(self, obj: OutcomeRecord) -> str:
        """In percent."""
        return format_bps(obj.divergence_bps)

    @display(description="Gas, predicted and used")
    def gas_compared(self, obj: OutcomeRecord) -> str:
        """In gas units."""
        return f"{format_gas(obj.gas_expected)}, {format_gas(obj.gas_used)}"

    @display(description="Fee")
    def fee(self, obj: OutcomeRecord) -> str:
        """In the chain's coin."""
        return format_coin(obj.fee_wei, obj.permit.chain_id)

    @display(description="Findings")
    def list_findings(self, obj: OutcomeRecord) -> str:
        """In words."""
        return "; ".join(str(finding) for finding in obj.findings) or "none"

    @display(description="When", ordering="created_at")
    def age(self, obj: OutcomeRecord) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

"""Lists the server's own records, read only: code marks, kept answers, checkpoints, high-water marks."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.records import GolemIdScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.ownership import is_operator
from permits_app.actions.forget_contract import forget_contract
from permits_app.models import HighWaterMark, IdempotencyRecord, KnownContract
from tools_app.admin.read_only import PlainAdmin, ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.models import AuditCheckpoint
from tools_app.pages.html import NOTHING, show_age, show_badge, show_hex
from tools_app.wording.address_names import name_address
from tools_app.wording.formats import format_bps, format_chain, format_usd


@admin.register(KnownContract)
class KnownContractAdmin(ReadOnlyAdminMixin, PlainAdmin):
    """The code each contract had when it was first seen. An operator who looked at new code removes the old mark."""

    list_display = ("name", "address_short", "chain", "code", "age")
    list_filter = ("chain_id",)
    search_fields = ("=address", "=code_hash")
    search_help_text = "A whole address or code hash"
    ordering = ("-first_seen_at",)
    fields = ("name", "address_short", "chain", "code", "first_seen_at")
    readonly_fields = ("name", "address_short", "chain", "code")

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Operators of the server only: the mark holds for every golem."""
        return is_operator(request.user)

    def delete_model(self, request: HttpRequest, obj: KnownContract) -> None:
        """Forget one mark, audited for every golem that lists the address."""
        forget_contract(contract=obj, actor=name_actor(request.user), now=clock.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[KnownContract]) -> None:
        """Forget each of them."""
        for contract in queryset:
            self.delete_model(request, contract)

    @display(description="Contract")
    def name(self, obj: KnownContract) -> str:
        """What the chain's registry calls it."""
        return name_address(obj.chain_id, obj.address) or "unknown"

    @display(description="Address", ordering="address")
    def address_short(self, obj: KnownContract) -> SafeString:
        """With a copy button."""
        return show_hex(obj.address)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: KnownContract) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="Code hash")
    def code(self, obj: KnownContract) -> SafeString:
        """With a copy button."""
        return show_hex(obj.code_hash)

    @display(description="First seen", ordering="first_seen_at")
    def age(self, obj: KnownContract) -> SafeString:
        """How long ago."""
        return show_age(obj.first_seen_at)


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Answers kept for a repeat; what they said is shown to the one who repeats, not here."""

    owner_path = "api_key__golem__owner"
    list_display = ("api_key", "key", "outcome", "age", "expires_at")
    list_select_related = ("api_key__golem",)
    search_fields = ("=key",)
    ordering = ("-created_at",)
    fields = ("api_key", "key", "request_digest", "outcome", "created_at", "locked_until", "expires_at")
    readonly_fields = ("outcome",)

    @display(description="Answer", ordering="status")
    def outcome(self, obj: IdempotencyRecord) -> SafeString:
        """HTTP status, or running."""
        return show_badge(str(obj.status), "info") if obj.status else show_badge("running", "warn")

    @display(description="Asked", ordering="created_at")
    def age(self, obj: IdempotencyRecord) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)


@admin.register(AuditCheckpoint)
class AuditCheckpointAdmin(GolemIdScopedAdmin):
    """Signed heads of audit chains: what was written before one cannot be rewritten unseen."""

    list_display = ("golem_name", "seq", "entry", "signed")
    search_fields = ("=entry_hash",)
    ordering = ("-id",)
    ordering_of_one = ("-seq",)
    fields = ("golem_name", "seq", "entry", "signed", "public_key", "signature")
    readonly_fields = ("golem_name", "entry", "signed")

    @display(description="Entry hash")
    def entry(self, obj: AuditCheckpoint) -> SafeString:
        """With a copy button."""
        return show_hex(obj.entry_hash)

    @display(description="Signed", ordering="signed_at_ms")
    def signed(self, obj: AuditCheckpoint) -> SafeString:
        """How long ago."""
        return show_age(datetime.fromtimestamp(obj.signed_at_ms / 1000, tz=UTC))


@admin.register(HighWaterMark)
class HighWaterMarkAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """The most each golem's holdings were worth of late; a fall is acknowledged on the golem's own page."""

    list_display = ("golem", "value", "age", "fall", "paused_until")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("golem__name",)
    ordering = ("-reached_at",)
    fields = (
        "golem",
        "value",
        "reached_at",
        "fall",
        "violated_at",
        "paused_until",
        "acknowledged_at",
        "acknowledged_by",
        "acknowledged_reason",
    )
    readonly_fields = ("value", "fall")

    @display(description="Mark", ordering="value_micro_usd")
    def value(self, obj: HighWaterMark) -> str:
        """In dollars."""
        return format_usd(obj.value_micro_usd)

    @display(description="Reached", ordering="reached_at")
    def age(self, obj: HighWaterMark) -> SafeString:
        """How long ago."""
        return show_age(obj.reached_at)

    @display(description="Fall", ordering="violated_bps")
    def fall(self, obj: HighWaterMark) -> SafeString:
        """How far, while its owner has not seen it."""
        return show_badge(format_bps(obj.violated_bps), "bad") if obj.violated_at else NOTHING

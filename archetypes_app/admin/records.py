"""The audit log, the events and the phases of a golem: read only. Rows that name their golem by id are scoped here."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter, GolemIdFilter
from archetypes_app.models import Golem, PhaseTransition
from archetypes_app.ownership import is_operator, list_golems_with
from archetypes_app.roles import Power
from tools_app.admin.long_lists import RecentValuesFilter
from tools_app.admin.read_only import PlainAdmin, ReadOnlyAdminMixin
from tools_app.core.audit_archives import AuditArchiveBroken, check_nothing_stands_twice, read_entries
from tools_app.core.audit_checkpoints import tell_broken
from tools_app.core.audit_log import LinkCheck, read_time
from tools_app.core.models import AuditEntry, AuditHead, OutboxEvent
from tools_app.pages.html import QUOTED, show_age, show_badge, show_hex, show_unchecked


class GolemIdScopedAdmin(ReadOnlyAdminMixin, PlainAdmin):
    """Rows with a bare `golem_id`: an owner sees those of their golems."""

    list_filter: ClassVar[tuple[object, ...]] = (GolemIdFilter,)
    ordering_of_one: ClassVar[tuple[str, ...]] = ()
    """Of one golem's rows, where these have an index of their own."""

    def get_ordering(self, request: HttpRequest) -> Any:  # Any: as Django has it
        """The newest first by an index, which rows of one golem and rows of all may have apart."""
        is_of_one = bool(request.GET.get(GolemIdFilter.parameter_name))
        return self.ordering_of_one if is_of_one and self.ordering_of_one else super().get_ordering(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:  # Any: rows of any model
        """The rows this person may see."""
        rows: QuerySet[Any] = super().get_queryset(request)  # Any: rows of any model
        if is_operator(request.user):
            return rows
        return rows.filter(golem_id__in=list_golems_with(request.user, Power.SEE).values("pk"))

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: object, object_id: str) -> object:
        return OwnerScopedAdmin._get_obj_does_not_exist_redirect(self, request, opts, object_id)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Names of golems are looked up once per page."""
        self._names = dict(Golem.objects.values_list("pk", "name"))
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    @display(description="Golem")
    def golem_name(self, obj: Any) -> str:  # Any: a row of any model
        """The golem's name, or its id when the golem is gone."""
        names = getattr(self, "_names", {})
        return str(names.get(obj.golem_id) or obj.golem_id)


@admin.register(AuditEntry)
class AuditEntryAdmin(GolemIdScopedAdmin):
    """Append-only, hash-linked; the database refuses updates and deletes."""

    list_display = ("seq", "golem_name", "event", "actor", "age", "entry_hash_short")
    list_filter = (GolemIdFilter, ("event", RecentValuesFilter))
    search_fields = ("=entry_hash", "=actor", "=event")
    search_help_text = "An entry hash, an actor (owner:1, key:…) or an event, exactly"
    ordering = ("-id",)
    ordering_of_one = ("-seq",)
    fields = ("golem_name", "seq", "event", "actor", "when", "heartbeat_tick", "details", "prev_hash", "entry_hash")
    readonly_fields = ("golem_name", "when", "details")
    actions_list: ClassVar[tuple[str, ...]] = ("verify_chains",)

    @display(description="When", ordering="timestamp_ms")
    def age(self, obj: AuditEntry) -> SafeString:
        """How long ago."""
        return show_age(read_time(obj))

    @display(description="When")
    def when(self, obj: AuditEntry) -> str:
        """To the millisecond."""
        return read_time(obj).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"

    @display(description="Hash")
    def entry_hash_short(self, obj: AuditEntry) -> SafeString:
        """With a copy button."""
        return show_hex(obj.entry_hash)

    @display(description="Details")
    def details(self, obj: AuditEntry) -> SafeString:
        """The entry's data, indented."""
        data = format_html('<pre class="gx-pre">{}</pre>', json.dumps(obj.data, indent=2, sort_keys=True))
        return show_unchecked(data, of=QUOTED)

    @action(description="Verify chain", icon="verified")
    def verify_chains(self, request: HttpRequest) -> HttpResponse:
        """Re-hash every entry of each golem this person sees and say where a chain breaks, if it does."""
        heads = AuditHead.objects.all()
        if not is_operator(request.user):
            heads = heads.filter(golem_id__in=list_golems_with(request.user, Power.SEE).values("pk"))
        names = dict(Golem.objects.values_list("pk", "name"))
        broken = 0
        for head in heads:
            finding = _verify_chain(head)
            if finding is not None:
                broken += 1
                messages.error(request, f"The chain of {names.get(head.golem_id, head.golem_id)} breaks: {finding}.")
        if not broken:
            total = sum(head.seq for head in heads)
            messages.success(request, f"Every link holds: {total:,} entries in {len(heads)} chains were hashed again.")
        return HttpResponseRedirect(reverse("admin:tools_app_auditentry_changelist"))


@admin.register(OutboxEvent)
class OutboxEventAdmin(GolemIdScopedAdmin):
    """Events as they were written, and whether they went out."""

    list_display = ("type", "golem_name", "sequence", "age", "is_published")
    list_filter = (GolemIdFilter, ("type", RecentValuesFilter))
    search_fields = ("=id", "=type")
    # What has no place yet comes first, and is little.
    ordering = ("-position", "-occurred_at")
    fields = ("golem_name", "type", "sequence", "version", "heartbeat_tick", "occurred_at", "published_at", "body")
    readonly_fields = ("golem_name", "body")

    @display(description="When", ordering="occurred_at")
    def age(self, obj: OutboxEvent) -> SafeString:
        """How long ago."""
        return show_age(obj.occurred_at)

    @display(description="Published", boolean=True)
    def is_published(self, obj: OutboxEvent) -> bool:
        """Whether the stream has it."""
        return obj.published_at is not None

    @display(description="Payload")
    def body(self, obj: OutboxEvent) -> SafeString:
        """Indented."""
        payload = format_html('<pre class="gx-pre">{}</pre>', json.dumps(obj.payload, indent=2, sort_keys=True))
        return show_unchecked(payload, of=QUOTED)


@admin.register(PhaseTransition)
class PhaseTransitionAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Changes of phase, newest first."""

    empty_text = "A phase changes when vitality falls, or when an owner resets it. It has not changed yet."
    list_display = ("golem", "from_badge", "to_badge", "reason", "actor", "age")
    list_filter = (GolemFilter, "to_phase")
    list_select_related = ("golem",)
    search_fields = ("=actor", "reason")

    @display(description="From", ordering="from_phase")
    def from_badge(self, obj: PhaseTransition) -> SafeString:
        """The phase it left."""
        return show_badge(obj.from_phase)

    @display(description="To", ordering="to_phase")
    def to_badge(self, obj: PhaseTransition) -> SafeString:
        """The phase it entered."""
        return show_badge(obj.to_phase)

    @display(description="When", ordering="occurred_at")
    def age(self, obj: PhaseTransition) -> SafeString:
        """How long ago."""
        return show_age(obj.occurred_at)


def _verify_chain(head: AuditHead) -> str | None:
    """What is wrong with one chain, its archives and its missing end included; None when it holds."""
    check, at_head = LinkCheck(), ""
    newest = AuditEntry.objects.filter(golem_id=head.golem_id).order_by("-seq").values_list("seq", flat=True).first()
    try:
        # Also what stands behind the head: it is what came meanwhile, or what nobody appended.
        for entry in read_entries(head.golem_id, up_to=max(head.seq, newest or 0)):
            broken = check.add(entry)
            if broken is not None:
                return f"entry {broken.seq}: {broken.reason}"
            at_head = entry.entry_hash if entry.seq == head.seq else at_head
        check_nothing_stands_twice(head.golem_id)
    except AuditArchiveBroken as error:
        return tell_broken(error)
    if at_head != head.entry_hash:
        return f"its end is missing; the head says entry {head.seq}"
    return None

"""Tokens that owners declare to stand for a dollar or an ether, beside those that everybody knows."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.audited import AuditedEditMixin
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from permits_app.forms import clean_checksum, offer_chains
from permits_app.models import DeclaredPeg
from tools_app.core.json_types import JsonObject
from tools_app.pages.html import show_hex
from tools_app.pages.opened_rows import OPENED, OpenedRowForm
from tools_app.portfolio.pegs import MOST_DECLARED
from tools_app.wording.formats import format_bps, format_chain


class DeclaredPegForm(OpenedRowForm):
    """One token; a mistyped checksum is refused, and one more than a tick looks at."""

    class Meta:
        model = DeclaredPeg
        fields = ("golem", "chain_id", "token", "name", "stands_for", "most_apart_bps", "source")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        offer_chains(self)

    def clean_token(self) -> str:
        """EIP-55; mixed case must carry the right checksum."""
        return clean_checksum(str(self.cleaned_data["token"]))

    def clean(self) -> JsonObject:
        """So many for a golem as each of its ticks looks at."""
        cleaned = super().clean() or {}
        golem = cleaned.get("golem") or getattr(self.instance, "golem", None)
        others = DeclaredPeg.objects.filter(golem=golem).exclude(pk=self.instance.pk) if golem is not None else None
        if others is not None and others.count() >= MOST_DECLARED:
            self.add_error(None, f"A golem watches {MOST_DECLARED} declared pegs at most; take one off first.")
        return cleaned


@admin.register(DeclaredPeg)
class DeclaredPegAdmin(AuditedEditMixin, OwnerScopedAdmin):
    """What a golem's owners say that a token stands for: it is watched in each tick, and not entered off its peg."""

    form = DeclaredPegForm
    empty_text = "Dollar tokens that everybody knows are watched without a row here; declare others that you hold."
    list_display = ("name", "golem", "stands_for", "furthest", "token_short", "chain", "source")
    list_filter = (GolemFilter, "stands_for", "chain_id")
    list_select_related = ("golem",)
    search_fields = ("name", "=token", "source")
    search_help_text = "Words of a name or source, or a whole address"
    ordering = ("golem__name", "name")
    fields = ("golem", "chain_id", "token", "name", "stands_for", "most_apart_bps", "source", OPENED)

    def get_fields(self, request: HttpRequest, obj: DeclaredPeg | None = None) -> list[str]:
        """Who may only look reads percent and the chain's name instead of what is typed."""
        told = {"most_apart_bps": "furthest", "chain_id": "chain", OPENED: ""}
        if obj is None or self.has_change_permission(request, obj):
            told = {}
        return [name for name in (told.get(each, each) for each in self.fields) if name]

    def get_readonly_fields(self, request: HttpRequest, obj: DeclaredPeg | None = None) -> tuple[str, ...]:
        """A row never moves to another golem."""
        if obj is not None and not self.has_change_permission(request, obj):
            return tuple(self.get_fields(request, obj))
        return ("golem",) if obj is not None else ()

    @display(description="Furthest away", ordering="most_apart_bps")
    def furthest(self, obj: DeclaredPeg) -> str:
        """In percent."""
        return format_bps(obj.most_apart_bps)

    @display(description="Token")
    def token_short(self, obj: DeclaredPeg) -> SafeString:
        """With a copy button."""
        return show_hex(obj.token)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: DeclaredPeg) -> str:
        """By name."""
        return format_chain(obj.chain_id)

"""Mirrors of cages on chain, read only: which contract, as of which block and how old, its rules in words."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from permits_app.approval_pages.cage_forms import describe_limits
from permits_app.approvals.cage_rules_text import name_rule, say_session, show_rule
from permits_app.models import CageMirror
from permits_app.policy_cage.contract import AssetRule, RuleKind
from permits_app.policy_cage.mirror import is_behind, list_allowed
from permits_app.policy_cage.state import CageState, PendingChange
from permits_app.words.address_book import read_book
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.pages.html import show_age, show_badge, show_hex
from tools_app.wording.formats import format_chain


def show_enforcement(mirror: CageMirror | None) -> SafeString:
    """Who enforces a cage: this server, the contract, or a contract that is not obeyed; and whether it is behind."""
    if mirror is None:
        return show_badge("this server only", "warn")
    if is_behind(mirror, now=clock.now()):
        return show_badge("contract, mirror behind: writes are refused", "bad")
    if not mirror.is_enforced:
        return show_badge("contract, not enforced on chain", "warn")
    return show_badge("contract on chain", "good")


@admin.register(CageMirror)
class CageMirrorAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One row per cage that follows a contract."""

    empty_text = "No cage is a contract: limits hold on this server only. A Safe behind a cage enforces them."
    owner_path = "cage__golem__owner"
    list_display = ("golem", "enforcement", "contract_short", "chain", "block_number", "seen")
    list_select_related = ("cage__golem",)
    search_fields = ("=contract", "=account", "cage__golem__name")
    ordering = ("cage__golem__name",)
    fields = (
        "golem",
        "enforcement",
        "chain",
        "contract_short",
        "account_short",
        "block_number",
        "block_hash_short",
        "seen",
        "problem",
        "session",
        "limits",
        "assets",
        "pending",
    )
    readonly_fields = fields

    @display(description="Golem", ordering="cage__golem__name")
    def golem(self, obj: CageMirror) -> str:
        """Whose cage it is."""
        return str(obj.cage.golem)

    @display(description="Enforced by")
    def enforcement(self, obj: CageMirror) -> SafeString:
        """The contract, or not."""
        return show_enforcement(obj)

    @display(description="Contract")
    def contract_short(self, obj: CageMirror) -> SafeString:
        """Its address."""
        return show_hex(obj.contract)

    @display(description="Account")
    def account_short(self, obj: CageMirror) -> SafeString:
        """The Safe."""
        return show_hex(obj.account)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: CageMirror) -> str:
        """By name."""
        return format_chain(obj.chain_id)

    @display(description="Block hash")
    def block_hash_short(self, obj: CageMirror) -> SafeString:
        """Of the block it is true for."""
        return show_hex(obj.block_hash)

    @display(description="Seen at the newest block", ordering="synced_at")
    def seen(self, obj: CageMirror) -> SafeString:
        """How long ago."""
        return show_age(obj.synced_at)

    @display(description="Session key")
    def session(self, obj: CageMirror) -> str:
        """What is left to it."""
        return say_session(CageState.from_dict(obj.state))

    @display(description="Limits")
    def limits(self, obj: CageMirror) -> SafeString:
        """Every scalar limit."""
        return _list_rows(describe_limits(CageState.from_dict(obj.state), chain_id=obj.chain_id))

    @display(description="Assets")
    def assets(self, obj: CageMirror) -> SafeString:
        """Each with its feed and state."""
        state, book = CageState.from_dict(obj.state), read_book(obj.cage.golem.owner_id)
        rows = []
        for key, value in list_allowed(state, RuleKind.ASSET):
            asset = AssetRule.unpack(value)
            address = next(each for each in state.assets if each[2:].lower() == key[-40:])
            name = book.in_text(obj.chain_id, address)
            rows.append((name, f"{asset.state.name.lower()}, feed {asset.feed}, at most {asset.max_age_seconds} s old"))
        return _list_rows(rows)

    @display(description="Waiting changes")
    def pending(self, obj: CageMirror) -> SafeString:
        """Loosenings that wait for their time."""
        state = CageState.from_dict(obj.state)
        rows = [
            (name_rule(kind, raw, chain_id=obj.chain_id), _say_change(kind, raw, change, obj.chain_id))
            for (kind, key), change in sorted(state.pending.items())
            for raw in (bytes.fromhex(key[2:]),)
        ]
        return _list_rows(rows) if rows else format_html("{}", "none")


def _say_change(kind: int, key: bytes, change: PendingChange, chain_id: int) -> str:
    before, after = (show_rule(kind, key, value, chain_id=chain_id) for value in (change.base, change.value))
    return f"{before} becomes {after} at {datetime.fromtimestamp(change.ready_at, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _list_rows(rows: list[tuple[str, str]]) -> SafeString:
    return format_html("<ul>{}</ul>", format_html_join("", "<li>{}: {}</li>", rows))

"""Halts as they happened, read only and step by step; and what an owner chose for one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from archetypes_app.admin.audited import AuditedEditMixin
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from permits_app.edit_conflict_forms import OpenedHaltSettingForm
from permits_app.models import ActionPermit, HaltRecord, HaltSetting
from permits_app.pages.exit_lines import describe_exit
from permits_app.words.address_book import AddressBook, read_book
from permits_app.words.move_words import describe_move
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.stored_json import read_stored
from tools_app.pages.html import show_age, show_badge, show_unchecked
from tools_app.pages.opened_rows import OPENED
from tools_app.wording.formats import format_usd, shorten_hex

_MOST_ITEMS = 20


@admin.register(HaltRecord)
class HaltRecordAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One row per halt."""

    empty_text = "No golem was ever halted. Its page has the button, its agent the tool emergency_halt."
    list_display = ("golem", "epoch", "why", "actor", "state", "age")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("=actor", "reason")
    ordering = ("-started_at",)
    fields = ("golem", "epoch", "why", "actor", "state", "started_at", "completed_at", "step_list")
    readonly_fields = ("why", "state", "step_list")

    @display(description="Reason", ordering="reason")
    def why(self, obj: HaltRecord) -> SafeString:
        """In the words of whoever halted it."""
        return show_unchecked(obj.reason, of="Words of whoever halted it, an agent or a model perhaps")

    @display(description="State")
    def state(self, obj: HaltRecord) -> SafeString:
        """Whether its steps on the chain are done."""
        return show_badge("completed", "good") if obj.completed_at else show_badge("under way", "warn")

    @display(description="Started", ordering="started_at")
    def age(self, obj: HaltRecord) -> SafeString:
        """How long ago."""
        return show_age(obj.started_at)

    @display(description="Steps")
    def step_list(self, obj: HaltRecord) -> SafeString:
        """In order, with milliseconds from the start, and what each one did."""
        return show_steps(obj.steps, book=read_book(obj.golem.owner_id))


@admin.register(HaltSetting)
class HaltSettingAdmin(AuditedEditMixin, OwnerScopedAdmin):
    """What an owner chose for a halt of their golem; without a row positions stay as they are."""

    empty_text = "Without a setting a halt leaves positions as they are."
    ordering = ("golem__name",)
    list_display = ("golem", "unwinds")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("golem__name",)
    form = OpenedHaltSettingForm
    fields = ("golem", "unwind_on_halt", "sell_on_halt", "exchange_on_halt", "most_loss_bps", OPENED)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        """A setting never moves to another golem."""
        return ("golem",) if obj is not None else ()

    @display(description="On a halt", ordering="unwind_on_halt")
    def unwinds(self, obj: HaltSetting) -> SafeString:
        """In words."""
        if not obj.unwind_on_halt:
            return show_badge("positions stay")
        if obj.exchange_on_halt:
            return show_badge("everything is left for the base asset", "warn")
        words = "positions are unwound, debts paid by selling" if obj.sell_on_halt else "positions are unwound"
        return show_badge(words, "warn")


def show_steps(steps: Sequence[Mapping[str, object]], *, book: AddressBook) -> SafeString:
    """The steps of a halt or a drill in words, each with its time; what was stored is folded below."""
    now = clock.now()
    permits = _name_permits(steps)
    rows = [
        (
            _begin(str(read_stored(_ToldStep, step).step)),
            _when(step),
            _show_facts(step, permits, book, now),
        )
        for step in steps
    ]
    listed = format_html('<ol class="gx-list">{}</ol>', format_html_join("", "<li>{}{}{}</li>", rows))
    stored = json.dumps(list(steps), indent=2, default=str)
    return format_html(
        '{}<details><summary>As it is stored</summary><pre class="gx-pre">{}</pre></details>', listed, stored
    )


def _begin(words: str) -> str:
    return words[:1].upper() + words[1:]


def _when(step: Mapping[str, object]) -> str:
    at_ms = read_stored(_ToldStep, step).at_ms
    return f" ({at_ms / 1000:.1f} s after the start)" if isinstance(at_ms, int) else ""


def _name_permits(steps: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """What each permit that is named moves."""
    named = {str(each) for step in steps for each in read_stored(_ToldStep, step).permit_ids}
    rows = ActionPermit.objects.filter(pk__in=named)
    return {
        str(row.pk): f"{describe_move(row.action_type, row.bounds)}, {format_usd(row.value_micro_usd)}" for row in rows
    }


def _show_facts(step: Mapping[str, object], permits: Mapping[str, str], book: AddressBook, now: datetime) -> SafeString:
    lines: list[str] = []
    told_step = read_stored(_ToldStep, step)
    if told_step.failed:
        lines.append(f"failed and is tried again: {told_step.detail or told_step.failed}")
    if told_step.was_halted_before:
        lines.append("it was halted before")
    for name, value in step.items():
        if isinstance(value, list):
            told = [_say_item(name, item, permits, book, now) for item in value[:_MOST_ITEMS]]
            lines += told or ["none"]
            if len(value) > _MOST_ITEMS:
                lines.append(f"and {len(value) - _MOST_ITEMS} more")
        elif name == "waiting_for":
            lines.append(f"a worker is waited for ({value})")
    items = format_html_join("", "<li>{}</li>", [(line,) for line in lines])
    return format_html("<ul>{}</ul>", items) if lines else SafeString()


@dataclass(frozen=True, slots=True)
class _ToldItem:
    """One thing that a step of a halt lists: a token, a right, a position, a transaction, or what could not be read.

    Earlier releases told other things: each is written out whatever it is.
    """

    chain_id: int = 0
    spender: object = None
    token: object = None
    units: object = None
    label: object = ""
    position: object = None
    positions: object = None
    nonce: object = None
    state: object = None
    outcome: object = ""
    failed: object = None
    reason: object = ""
    taker: object = None
    contract: object = ""
    right: object = ""
    detail: object = ""


@dataclass(frozen=True, slots=True)
class _ToldStep:
    """A step of a halt as far as it is told apart from its lists; `at_ms` counts from the start."""

    step: object = ""
    at_ms: object = None
    permit_ids: tuple[object, ...] = ()
    failed: object = None
    detail: object = None
    was_halted_before: object = None


def _say_item(name: str, item: object, permits: Mapping[str, str], book: AddressBook, now: datetime) -> str:
    if name == "permit_ids":
        return permits.get(str(item), f"permit {str(item)[:8]}…")
    if not isinstance(item, Mapping):
        return shorten_hex(str(item))
    told = read_stored(_ToldItem, item)
    if name == "rights":
        return _say_right(told, book)
    if told.spender is not None:
        return f"{told.token or 'a token'} to {book.in_text(told.chain_id, str(told.spender))}"
    if name == "exchanges":
        return _say_exchange(told)
    if told.units is not None:
        return str(told.units)
    if told.position is not None:
        line = describe_exit(item, now=now)
        said = [f"{line.label} at {line.protocol}: {line.words or 'looked at'}"]
        return ", ".join([*said, line.due] if line.due else said)
    if told.nonce is not None:
        return f"nonce {told.nonce}, {str(told.state or told.outcome).lower()}"
    if told.positions is not None:
        return "positions as its own tool lists them, below"
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in item.items() if value not in (None, ""))


def _say_exchange(item: _ToldItem) -> str:
    """One token of the wallet, and what came of it."""
    what, outcome = str(item.units or item.label), str(item.outcome)
    if item.failed:
        return f"{what}: failed and is tried again: {outcome}"
    told = {"COMMITTED": "", "stays": "stays: ", "waits": "waits: "}.get(outcome, f"{outcome}: ")
    return f"{what}: {told}{item.reason}".rstrip(": ")


def _say_right(item: _ToldItem, book: AddressBook) -> str:
    """Say whose right it is, over what, and whether it was taken back."""
    if item.taker is None:
        return str(item.detail)
    taker, contract = (book.in_text(item.chain_id, str(each)) for each in (item.taker, item.contract))
    ends = {"": "", "COMMITTED": ": taken back", "CANNOT_BE_TAKEN_BACK": f": stays, {item.detail}"}
    outcome = str(item.outcome)
    return f"{taker} {item.right}, by {contract}{ends.get(outcome, f': {outcome.lower()}')}"

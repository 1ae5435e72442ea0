"""The address book in the admin: an owner names addresses, each for the pages of their own golems alone."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.forms import list_chains
from permits_app.forms import clean_checksum
from permits_app.models import KnownAddress
from permits_app.words.address_book import ANY_CHAIN, read_book
from tools_app.core.json_types import JsonObject
from tools_app.core.plain_text import PlainTextField
from tools_app.pages.html import show_hex
from tools_app.pages.opened_rows import OPENED, OpenedRowForm
from tools_app.wording.address_names import list_named
from tools_app.wording.formats import format_chain


def _list_chains_of(chain_id: int | None) -> list[int]:
    """The chains a name is for."""
    return [chain_id] if chain_id else [int(chain) for chain, _ in list_chains()]


class KnownAddressForm(OpenedRowForm):
    """A name for an address; what is registered under that name elsewhere keeps it."""

    name = PlainTextField(max_length=48, help_text="How pages call it", widget=UnfoldAdminTextInputWidget())
    note = PlainTextField(
        max_length=300, required=False, help_text="Who it is, and how you know", widget=UnfoldAdminTextInputWidget()
    )
    chain_id = forms.TypedChoiceField(
        label="Chain",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="Empty: the same account on every chain",
        widget=UnfoldAdminSelectWidget(),
    )

    owner_id: int
    """Whose a new row becomes; set by the admin for each request."""

    class Meta:
        model = KnownAddress
        fields = ("address", "name", "chain_id", "note")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            self.instance.owner_id = self.owner_id
        chains: Any = self.fields["chain_id"]  # Any: a field by its name; the one there has choices
        chains.choices = [("", "every chain"), *list_chains()]

    def clean_address(self) -> str:
        """EIP-55; mixed case must carry the right checksum."""
        return clean_checksum(str(self.cleaned_data["address"]))

    def clean(self) -> JsonObject:
        """A name belongs to one address."""
        cleaned = super().clean() or {}
        name, address, chain_id = cleaned.get("name"), cleaned.get("address"), cleaned.get("chain_id")
        if not name or not address:
            return cleaned
        for chain in _list_chains_of(chain_id):
            for known, registered in list_named(chain):
                if registered.lower() == name.lower() and known.lower() != address.lower():
                    told = f"{registered} is registered at {known} on {format_chain(chain)}"
                    self.add_error("name", f"{told}. Choose another name.")
                    return cleaned
        others = KnownAddress.objects.filter(owner_id=self.instance.owner_id, chain_id=chain_id)
        others = others.exclude(pk=self.instance.pk)
        if others.filter(name__iexact=name).exists():
            self.add_error("name", "You call another address that. A name belongs to one address.")
        if others.filter(address=address).exists():
            self.add_error("address", "You named this address already.")
        return cleaned


@admin.register(KnownAddress)
class KnownAddressAdmin(OwnerScopedAdmin):
    """Everyone sees and edits the names they gave, and nobody else's."""

    form = KnownAddressForm
    owner_path = "owner"
    empty_text = "Pages call what you named by that name, everything registered by its own, and the rest unknown."
    list_display = ("name", "address_short", "chain", "note")
    search_fields = ("name", "=address", "note")
    search_help_text = "Words of a name, or a whole address"
    ordering = ("name",)
    fields = ("address", "name", "chain_id", "note", OPENED)

    def get_form(
        self,
        request: HttpRequest,
        obj: Any = None,  # Any: as Django types it
        change: bool = False,
        **kwargs: Any,  # Any: as Django types it
    ) -> Any:  # Any: as Django types it
        """The form of a row of this person."""
        form: Any = super().get_form(request, obj, change, **kwargs)  # Any: as Django types it
        form.owner_id = request.user.pk
        return form

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # Any: a row of the page's model
        """Nobody else's: a name is the word of the person who gave it."""
        return super().has_change_permission(request, obj) and self._is_of(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Likewise."""
        return super().has_delete_permission(request, obj) and self._is_of(request, obj)

    @staticmethod
    def _is_of(request: HttpRequest, obj: object) -> bool:
        return not isinstance(obj, KnownAddress) or obj.owner_id == request.user.pk

    def save_model(
        self,
        request: HttpRequest,
        obj: KnownAddress,
        form: Any,  # Any: Django's own form or rows
        change: bool,
    ) -> None:
        """Save, and say so when it looks like another one."""
        book = read_book(obj.owner_id)
        twins = (book.find_twin(chain, obj.address) for chain in (*_list_chains_of(obj.chain_id), ANY_CHAIN))
        twin = next((found for found in twins if found is not None), None)
        super().save_model(request, obj, form, change)
        if twin is not None:
            messages.warning(request, f"{obj.address} LOOKS LIKE {twin[1]} {twin[0]} and is another address.")

    @display(description="Address")
    def address_short(self, obj: KnownAddress) -> SafeString:
        """With a copy button."""
        return show_hex(obj.address)

    @display(description="Chain", ordering="chain_id")
    def chain(self, obj: KnownAddress) -> str:
        """By name."""
        return format_chain(obj.chain_id) if obj.chain_id else "every chain"

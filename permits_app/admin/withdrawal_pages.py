"""An owner takes money out of a golem: what goes where is asked for here, and decided on the page of the request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from archetypes_app.models import Golem
from archetypes_app.roles import Power
from permits_app.actions.request_change import request_operation
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.approval_pages.forms import WhyForm
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.forms import clean_checksum
from permits_app.models import ChangeRequest, WithdrawalAddress
from permits_app.models.withdrawal import REGISTER, WITHDRAW, list_standing
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.core.stored_json import read_stored
from tools_app.pages.confirmation import report_refusal
from tools_app.pages.number_reading import make_number_widget
from tools_app.toolkit.golem_chains import list_chains
from tools_app.wording.formats import format_chain

MOST_SHOWN: Final = 20
_REMOVE: Final = "remove"


@dataclass(frozen=True, slots=True)
class AddressLine:
    """One registered address as the page shows it."""

    row_id: int
    label: str
    address: str
    chain: str
    since: datetime


@dataclass(frozen=True, slots=True)
class AskedLine:
    """One withdrawal that was asked for, and where it stands."""

    title: str
    state: str
    why: str
    url: str
    at: datetime


class WithdrawForm(WhyForm):
    """What leaves, and to which of the registered addresses."""

    to = forms.ChoiceField(label="To", widget=UnfoldAdminSelectWidget(), help_text="One of the registered addresses")
    token = PlainTextField(
        label="Token",
        max_length=42,
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Its symbol or its address; empty for the chain's own coin",
    )
    amount = PlainTextField(
        label="Amount",
        max_length=60,
        required=False,
        widget=make_number_widget("amount"),
        help_text="In units of the token, for example 12.5; empty for everything, of the coin all but gas",
    )
    field_order = ("to", "token", "amount", "reason")

    def __init__(self, *args: Any, addresses: list[AddressLine], **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        choices = [(str(each.row_id), f"{each.label} on {each.chain}, {each.address}") for each in addresses]
        self.fields["to"].choices = choices  # type: ignore[attr-defined]
        self.fields["reason"].widget.attrs.pop("autofocus", None)


class RegisterForm(WhyForm):
    """Another address."""

    label = PlainTextField(
        label="Name", max_length=48, widget=UnfoldAdminTextInputWidget(), help_text="How pages call it"
    )
    address = PlainTextField(
        label="Address", max_length=42, widget=UnfoldAdminTextInputWidget(), help_text="An account that you control"
    )
    chain_id = forms.TypedChoiceField(label="Chain", coerce=int, widget=UnfoldAdminSelectWidget())
    field_order = ("label", "address", "chain_id", "reason")

    def __init__(self, *args: Any, golem: Golem, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        choices = [(chain_id, format_chain(chain_id)) for chain_id in list_chains(golem)]
        self.fields["chain_id"].choices = choices  # type: ignore[attr-defined]
        self.fields["reason"].widget.attrs.pop("autofocus", None)

    def clean_address(self) -> str:
        """EIP-55; mixed case must carry the right checksum."""
        return clean_checksum(str(self.cleaned_data["address"]))


@dataclass(frozen=True, slots=True)
class _WantedWithdrawal:
    """What the form asks to take out: the number of a registered address, token and amount as typed."""

    to: int
    token: str
    amount: str
    reason: str


@dataclass(frozen=True, slots=True)
class _WantedAddress:
    """The address that the form registers."""

    chain_id: int
    address: str
    label: str
    reason: str


class WithdrawalPages:
    """The page of the golem's admin on which its owners take money out. It asks; nothing is sent from here."""

    def list_withdrawal_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Its address."""
        return [path("<uuid:golem_id>/withdraw/", wrap(self.withdraw_view), name=f"{name}_withdraw")]

    def withdraw_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """For its administrators alone."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id, Power.ADMINISTER)
        addresses = _list_addresses(golem)
        shown: dict[str, WhyForm] = {
            WITHDRAW: WithdrawForm(prefix=WITHDRAW, addresses=addresses),
            "register": RegisterForm(prefix="register", golem=golem),
        }
        if request.method == "POST":
            answer = _ask(request, golem, addresses, shown)
            if answer is not None:
                return answer
        context = {
            **admin.admin_site.each_context(request),
            "title": f"Withdraw from {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "back_url": admin.page_of(golem),
            "addresses": addresses,
            "asked": _list_asked(golem),
            "withdraw": shown[WITHDRAW],
            "register": shown["register"],
        }
        return TemplateResponse(request, "admin/golem/withdraw.html", context)


def _ask(
    request: HttpRequest, golem: Golem, addresses: list[AddressLine], shown: dict[str, WhyForm]
) -> HttpResponse | None:
    """The answer to what was posted; None where a form has to be shown again."""
    did, own = request.POST.get("do", ""), reverse("admin:archetypes_app_golem_withdraw", args=[golem.pk])
    rows = {str(each.row_id): each for each in addresses}
    name, arguments, reason = REGISTER, dict[str, object](), ""
    if did == _REMOVE and request.POST.get("address") in rows:
        row = WithdrawalAddress.objects.get(pk=request.POST["address"], golem=golem)
        arguments = {"act": _REMOVE, "chain_id": row.chain_id, "address": row.address}
        reason = "taken off on the page of withdrawals"
    elif did == WITHDRAW:
        form = shown[did] = WithdrawForm(request.POST, prefix=did, addresses=addresses)
        if not form.is_valid():
            return None
        given = read_stored(_WantedWithdrawal, form.cleaned_data)
        row = WithdrawalAddress.objects.get(pk=given.to, golem=golem)
        name, reason = WITHDRAW, given.reason
        arguments = {
            "chain_id": row.chain_id,
            "to": row.address,
            "token": given.token,
            "amount": given.amount,
        }
    elif did == "register":
        named = shown[did] = RegisterForm(request.POST, prefix=did, golem=golem)
        if not named.is_valid():
            return None
        wanted = read_stored(_WantedAddress, named.cleaned_data)
        reason = wanted.reason
        arguments = {"act": did, "chain_id": wanted.chain_id, "address": wanted.address, "label": wanted.label}
    if not arguments:
        return HttpResponseRedirect(own)
    try:
        asked = request_operation(
            golem=golem, name=name, arguments=arguments, owner=request.user, reason=reason, now=clock.now()
        )
    except GolemError as error:
        return report_refusal(request, error, own)
    return HttpResponseRedirect(page_of_request(asked.pk))


def _list_addresses(golem: Golem) -> list[AddressLine]:
    rows = list_standing(golem.pk).order_by("registered_at")
    return [AddressLine(row.pk, row.label, row.address, format_chain(row.chain_id), row.registered_at) for row in rows]


def _list_asked(golem: Golem) -> list[AskedLine]:
    rows = ChangeRequest.objects.filter(golem=golem, kind__in=[WITHDRAW, REGISTER]).order_by("-created_at")
    return [
        AskedLine(row.title, row.get_state_display(), row.state_reason, page_of_request(row.pk), row.created_at)
        for row in rows[:MOST_SHOWN]
    ]

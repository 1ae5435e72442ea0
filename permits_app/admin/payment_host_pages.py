"""An owner lists the hosts that a golem may pay by x402; whom each is paid at is what the host answers first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
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
from permits_app.approvals.operations.payment_host import REMOVE, SET
from permits_app.limits.payment_hosts import sum_signed
from permits_app.models import PaymentHost
from permits_app.models.payment_host import HOST, list_hosts
from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import ChainNotSupported
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_units
from tools_app.pages.confirmation import report_refusal
from tools_app.pages.number_reading import make_number_widget
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.payment_hosts import read_origin
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.formats import format_chain

_LARGEST: Final = Decimal(10**12)


@dataclass(frozen=True, slots=True)
class HostLine:
    """One host as the page shows it."""

    row_id: int
    origin: str
    chain: str
    most: str
    most_a_day: str
    left: str
    payee: str
    since: datetime | None


class HostForm(WhyForm):
    """A host, the token it is paid in, and its caps in units of that token."""

    origin = PlainTextField(
        label="Host",
        max_length=255,
        widget=UnfoldAdminTextInputWidget(),
        help_text="As https://api.example; every address of it may ask for money then, and no other name",
    )
    token = forms.ChoiceField(label="Paid in", widget=UnfoldAdminSelectWidget())
    most = PlainTextField(label="One payment at most", max_length=40, widget=make_number_widget("amount"))
    most_a_day = PlainTextField(label="In 24 hours at most", max_length=40, widget=make_number_widget("amount"))
    field_order = ("origin", "token", "most", "most_a_day", "reason")

    def __init__(self, *args: Any, golem: Golem, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        self.tokens = _list_tokens(golem)
        choices = [(name, f"{each.symbol} on {format_chain(each.chain_id)}") for name, each in self.tokens.items()]
        self.fields["token"].choices = choices  # type: ignore[attr-defined]
        self.fields["reason"].widget.attrs.pop("autofocus", None)

    def clean_origin(self) -> str:
        """In the one spelling of a host."""
        given = str(self.cleaned_data["origin"]).strip()
        origin = read_origin(given)
        if not origin or given.rstrip("/").lower() != origin:
            raise forms.ValidationError("Write it as https://api.example, without a path.")
        return origin

    def clean_most(self) -> int:
        """Base units."""
        return self._read("most")

    def clean_most_a_day(self) -> int:
        """Base units."""
        return self._read("most_a_day")

    def _read(self, name: str) -> int:
        token = self.tokens.get(str(self.cleaned_data.get("token", "")))
        if token is None:
            raise forms.ValidationError("Choose the token first.")
        text = str(self.cleaned_data[name]).replace(",", "")
        if not text.replace(".", "", 1).isdecimal() or not text.isascii():
            raise forms.ValidationError("Write a number such as 0.25.")
        raw = Decimal(text).scaleb(token.decimals)
        if not 0 < Decimal(text) <= _LARGEST or raw != raw.to_integral_value():
            raise forms.ValidationError(f"More than nothing, with at most {token.decimals} decimals.")
        return int(raw)


@dataclass(frozen=True, slots=True)
class _WantedHost:
    """The host that the form lists, amounts in base units."""

    origin: str
    token: str
    most: int
    most_a_day: int
    reason: str


class PaymentHostPages:
    """The page of the golem's admin on which its owners list hosts. It asks; nothing is listed from here."""

    def list_payment_host_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Its address."""
        return [path("<uuid:golem_id>/payment-hosts/", wrap(self.payment_hosts_view), name=f"{name}_payment_hosts")]

    def payment_hosts_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """For its administrators alone."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id, Power.ADMINISTER)
        form = HostForm(request.POST if request.POST.get("do") == SET else None, golem=golem)
        if request.method == "POST":
            answer = _ask(request, golem, form)
            if answer is not None:
                return answer
        context = {
            **admin.admin_site.each_context(request),
            "title": f"Hosts that {golem.name} may pay",
            "opts": admin.opts,
            "golem": golem,
            "back_url": admin.page_of(golem),
            "hosts": _list_lines(golem),
            "form": form,
        }
        return TemplateResponse(request, "admin/golem/payment_hosts.html", context)


def _ask(request: HttpRequest, golem: Golem, form: HostForm) -> HttpResponse | None:
    """The answer to what was posted; None where the form has to be shown again."""
    own = reverse("admin:archetypes_app_golem_payment_hosts", args=[golem.pk])
    if request.POST.get("do") == REMOVE:
        row = list_hosts(golem.pk).filter(pk=request.POST.get("host", "0")).first() if _is_key(request) else None
        if row is None:
            return HttpResponseRedirect(own)
        arguments = {"act": REMOVE, "chain_id": int(row.chain_id), "origin": row.origin}
        reason = "taken off on the page of payment hosts"
    elif not form.is_valid():
        return None
    else:
        given = read_stored(_WantedHost, form.cleaned_data)
        token = form.tokens[given.token]
        most, day = (format_units(raw, token.decimals, token.symbol) for raw in (given.most, given.most_a_day))
        reason = given.reason
        arguments = {
            "act": SET,
            "chain_id": token.chain_id,
            "origin": given.origin,
            "token": token.address,
            "most_raw": str(given.most),
            "most_a_day_raw": str(given.most_a_day),
            "shown": f"{most} at a time and {day} in 24 hours",
        }
    try:
        asked = request_operation(
            golem=golem, name=HOST, arguments=arguments, owner=request.user, reason=reason, now=clock.now()
        )
    except GolemError as error:
        return report_refusal(request, error, own)
    return HttpResponseRedirect(page_of_request(asked.pk))


def _is_key(request: HttpRequest) -> bool:
    told = request.POST.get("host", "")
    return told.isascii() and told.isdecimal() and len(told) < 12


def _list_tokens(golem: Golem) -> dict[str, TokenMeta]:
    """The registered tokens of the golem's chains, but for coins; none of a chain that no node is configured for."""
    found: dict[str, TokenMeta] = {}
    for chain_id in list_chains(golem):
        try:
            tokens = get_deployment(chain_id).tokens
        except ChainNotSupported:
            continue
        found.update({f"{chain_id}:{each.address}": each for each in tokens})
    return found


def _list_lines(golem: Golem) -> list[HostLine]:
    tokens, now = _list_tokens(golem), clock.now()
    return [
        _describe(row, tokens.get(f"{row.chain_id}:{row.token}"), now)
        for row in list_hosts(golem.pk).order_by("origin")
    ]


def _describe(row: PaymentHost, token: TokenMeta | None, now: datetime) -> HostLine:
    def say(raw: int) -> str:
        return (
            format_units(raw, token.decimals, token.symbol) if token is not None else f"{raw} base units of {row.token}"
        )

    left = max(0, int(row.most_a_day_raw) - sum_signed(row, now=now))
    return HostLine(
        row.pk,
        row.origin,
        format_chain(int(row.chain_id)),
        say(int(row.most_raw)),
        say(int(row.most_a_day_raw)),
        say(left),
        row.payee,
        row.payee_since,
    )

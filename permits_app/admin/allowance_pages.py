"""An owner lets a key take so much of a token a day from a golem's Safe, watches what is left, and ends it.

What is asked for here is decided and signed on the page of the request, by the Safe's owners.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
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
from permits_app.approvals.operations.allowance import ALLOWANCE, END, GIVE
from permits_app.custody.allowed_keys import AllowedKey, AllowingSafe, find_allowing_safe, read_allowed
from permits_app.custody.safe_view import open_chain
from permits_app.forms import clean_checksum
from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import ChainNotSupported
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_units
from tools_app.pages.confirmation import report_refusal
from tools_app.pages.number_reading import make_number_widget
from tools_app.standards.safe_allowance import LARGEST_AMOUNT, NAME
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.formats import format_chain


@dataclass(frozen=True, slots=True)
class AllowanceLine:
    """One key and one token as the page shows them."""

    delegate: str
    permission: str
    left: str
    used: int
    resets: str
    is_active: bool
    reason: str


class AllowanceForm(WhyForm):
    """A key, a token of the golem's home chain, and how much of it the key may take in a day."""

    delegate = PlainTextField(
        label="Key",
        max_length=42,
        widget=UnfoldAdminTextInputWidget(),
        help_text="The address of somebody else's key; it may pay whom it likes, until owners end it",
    )
    token = forms.ChoiceField(label="Token", widget=UnfoldAdminSelectWidget())
    amount = PlainTextField(
        label="In 24 hours at most",
        max_length=40,
        widget=make_number_widget("amount"),
        help_text="In units of the token, such as 25 or 12.5. What is not taken is not saved up",
    )
    field_order = ("delegate", "token", "amount", "reason")

    def __init__(self, *args: Any, chain_id: int, base_asset: str, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        self.tokens = _list_tokens(chain_id)
        choices = [(address, each.symbol) for address, each in self.tokens.items()]
        self.fields["token"].choices = choices  # type: ignore[attr-defined]
        own = (address for address, each in self.tokens.items() if each.symbol == base_asset)
        self.fields["token"].initial = next(own, None)
        self.fields["reason"].widget.attrs.pop("autofocus", None)

    def clean_delegate(self) -> str:
        """EIP-55; mixed case must carry the right checksum."""
        return clean_checksum(str(self.cleaned_data["delegate"]))

    def clean_amount(self) -> int:
        """Base units."""
        token = self.tokens.get(str(self.cleaned_data.get("token", "")))
        if token is None:
            raise forms.ValidationError("Choose the token first.")
        text = str(self.cleaned_data["amount"]).replace(",", "")
        if not text.replace(".", "", 1).isdecimal() or not text.isascii():
            raise forms.ValidationError("Write a number such as 25.")
        raw = Decimal(text).scaleb(token.decimals)
        if not 0 < raw <= LARGEST_AMOUNT or raw != raw.to_integral_value():
            raise forms.ValidationError(f"More than nothing, with at most {token.decimals} decimals.")
        return int(raw)


@dataclass(frozen=True, slots=True)
class _WantedAllowance:
    """What the form lets a key take in a day, in base units."""

    delegate: str
    token: str
    amount: int
    reason: str


class AllowancePages:
    """The page of the golem's admin for allowances. It asks; nothing is given or ended from here."""

    def list_allowance_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Its address."""
        return [path("<uuid:golem_id>/allowances/", wrap(self.allowances_view), name=f"{name}_allowances")]

    def allowances_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """For its administrators alone."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id, Power.ADMINISTER)
        safe = find_allowing_safe(golem)
        posted = request.POST if request.method == "POST" and request.POST.get("do") == GIVE else None
        form = AllowanceForm(posted, chain_id=golem.home_chain_id, base_asset=golem.base_asset)
        if request.method == "POST" and safe is not None:
            answer = _ask(request, golem, form)
            if answer is not None:
                return answer
        lines, problem = _read_lines(safe)
        context = {
            **admin.admin_site.each_context(request),
            "title": f"Allowances of {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "back_url": admin.page_of(golem),
            "safe": safe,
            "chain": format_chain(golem.home_chain_id),
            "module": SHELF.label_on(NAME, golem.home_chain_id),
            "lines": lines,
            "problem": problem,
            "form": form,
        }
        return TemplateResponse(request, "admin/golem/allowances.html", context)


def _ask(request: HttpRequest, golem: Golem, form: AllowanceForm) -> HttpResponse | None:
    """The answer to what was posted; None where the form has to be shown again."""
    own = reverse("admin:archetypes_app_golem_allowances", args=[golem.pk])
    if request.POST.get("do") == END:
        try:
            delegate = clean_checksum(request.POST.get("delegate", ""))
        except forms.ValidationError:
            return HttpResponseRedirect(own)
        arguments, reason = {"act": END, "delegate": delegate}, "ended on the page of allowances"
    elif not form.is_valid():
        return None
    else:
        given = read_stored(_WantedAllowance, form.cleaned_data)
        reason = given.reason
        arguments = {
            "act": GIVE,
            "delegate": given.delegate,
            "token": given.token,
            "amount_raw": str(given.amount),
        }
    try:
        asked = request_operation(
            golem=golem, name=ALLOWANCE, arguments=arguments, owner=request.user, reason=reason, now=clock.now()
        )
    except GolemError as error:
        return report_refusal(request, error, own)
    return HttpResponseRedirect(page_of_request(asked.pk))


def _list_tokens(chain_id: int) -> dict[str, TokenMeta]:
    """The registered tokens of a chain but for its coin; none of one that no node is configured for."""
    try:
        tokens = get_deployment(chain_id).tokens
    except ChainNotSupported:
        return {}
    return {each.address: each for each in tokens if not each.is_native}


def _read_lines(safe: AllowingSafe | None) -> tuple[list[AllowanceLine], str]:
    """What the module tells now; and why it cannot be asked, where that is so."""
    if safe is None or not safe.has_module:
        return [], ""
    try:
        return [_describe(each) for each in read_allowed(open_chain(safe.chain_id, now=clock.now()), safe)], ""
    except GolemError as error:
        return [], f"The module cannot be asked now: {error.title}"


def _describe(key: AllowedKey) -> AllowanceLine:
    given = key.allowance
    resets = datetime.fromtimestamp(given.resets_at, UTC) if given.resets_at else None
    left = key.left
    return AllowanceLine(
        delegate=given.delegate,
        permission=key.permission,
        left=format_units(left.raw, left.token.decimals, left.token.symbol) if left is not None else "",
        used=given.used,
        resets=f"{resets:%Y-%m-%d %H:%M} UTC" if resets is not None and given.spent else "",
        is_active=key.is_active,
        reason=key.reason,
    )

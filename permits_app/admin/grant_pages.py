"""An owner lets a golem draw from a wallet of theirs: asked for here, granted in the wallet, read from the grant.

The page asks the browser's wallet (ERC-7715). What the wallet answers is brought in as text, and what it grants is read
from its own caveats; nothing of what was asked for is kept.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from unfold.widgets import UnfoldAdminTextareaWidget

from archetypes_app.models import Golem
from archetypes_app.roles import Power
from permits_app.actions.receive_grant import LONGEST_TEXT, receive_grant
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.pages.right_lines import list_right_lines, say_most
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.pages.confirmation import report_refusal
from tools_app.toolkit.others_money import GrantReader
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.wording.address_names import list_tokens
from tools_app.wording.formats import format_chain

_DAYS: Final = 30
_A_DAY: Final = 25


class GrantForm(forms.Form):
    """What the wallet answered."""

    context = PlainTextField(
        label="What your wallet granted",
        max_length=LONGEST_TEXT,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="The permission context, 0x-hex. Filled in once your wallet granted it.",
    )


class GrantPages:
    """The page of the golem's admin on which an owner grants, watches and takes back."""

    def list_grant_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Its address."""
        return [path("<uuid:golem_id>/grant/", wrap(self.grant_view), name=f"{name}_grant")]

    def grant_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """For its administrators alone."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id, Power.ADMINISTER)
        protocol = _find_protocol(golem.home_chain_id)
        form = GrantForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and protocol is not None and form.is_valid():
            return _bring_in(request, golem, protocol, str(form.cleaned_data["context"]))
        context = {
            **admin.admin_site.each_context(request),
            "title": f"Let {golem.name} draw",
            "opts": admin.opts,
            "golem": golem,
            "back_url": admin.page_of(golem),
            "form": form,
            "protocol": protocol,
            "chain": format_chain(golem.home_chain_id),
            "tokens": list_tokens(golem.home_chain_id),
            "base_asset": golem.base_asset,
            "rights": list_right_lines(golem, now=clock.now()),
            "a_day": _A_DAY,
            "days": _DAYS,
        }
        return TemplateResponse(request, "admin/golem/grant.html", context)


def _find_protocol(chain_id: int) -> ProtocolDef | None:
    """Whose grants a person brings in as text, on this chain."""
    return next((each for each in SHELF.on(chain_id) if isinstance(each.received, GrantReader)), None)


def _bring_in(request: HttpRequest, golem: Golem, protocol: ProtocolDef, given: str) -> HttpResponse:
    own = reverse("admin:archetypes_app_golem_grant", args=[golem.pk])
    try:
        right = receive_grant(
            golem=golem,
            protocol=protocol.name,
            chain_id=golem.home_chain_id,
            given=given.strip(),
            actor=f"user:{request.user.pk}",
            now=clock.now(),
        )
    except GolemError as error:
        return report_refusal(request, error, own)
    messages.success(request, f"{golem.name} may draw {say_most(right)} of {right.principal}.")
    return HttpResponseRedirect(own)

"""Shows the Safe of a golem without a cage: signers, modules and guards, and the state its owners agreed to."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from archetypes_app.audit_actor_names import name_actor
from permits_app.actions.note_safe import note_safe
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.admin.safe_card import build_wallet_card
from permits_app.approval_pages.forms import WhyForm
from permits_app.models import Wallet
from permits_app.models.wallet import WalletKind
from permits_app.words.address_book import read_book
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.wording.formats import format_chain


class SafePages:
    """One page of the golem's admin, and the note that an owner has looked."""

    def list_safe_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses."""
        return [path("<uuid:golem_id>/safe/", wrap(self.safe_view), name=f"{name}_safe")]

    def safe_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """The Safe as it was last seen; a POST takes note of it."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id)
        wallet = Wallet.objects.filter(golem=golem, kind=WalletKind.GNOSIS_SAFE).first()
        if wallet is None:
            raise Http404("this golem acts through no Safe of its own")
        page = reverse("admin:archetypes_app_golem_safe", args=[golem.pk])
        may_act = admin.has_change_permission(request, golem)
        if request.method == "POST":
            if not may_act:
                raise PermissionDenied
            form = WhyForm(request.POST, prefix="note-safe")
            if not form.is_valid():
                messages.error(request, "Say why the Safe is as it should be.")
                return HttpResponseRedirect(page)
            try:
                note_safe(
                    golem_id=golem.pk,
                    actor=name_actor(request.user),
                    reason=form.cleaned_data["reason"],
                    now=clock.now(),
                )
            except GolemError as error:
                messages.error(request, f"{error.title}: {error.detail}")
                return HttpResponseRedirect(page)
            messages.info(request, "Noted. The next change of the Safe is told again.")
            return HttpResponseRedirect(page)
        context = {
            **admin.admin_site.each_context(request),
            "title": f"The Safe of {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "account": wallet.address,
            "chain": format_chain(golem.home_chain_id),
            "safe": build_wallet_card(wallet, chain_id=golem.home_chain_id, book=read_book(golem.owner_id)),
            "note_safe": WhyForm(prefix="note-safe"),
            "may_act": may_act,
        }
        return TemplateResponse(request, "permits_app/approvals/safe.html", context)

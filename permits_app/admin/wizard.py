"""The wizard "New golem": who it is, its wallet, its limits, its token. Every page is a plain form that does one thing.

What was done so far lies in the rows, not in a session: leaving half-way loses nothing, and no passphrase is kept.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import segno
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldBooleanWidget

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.admin.api_keys import redirect_to_token
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.empty_categories import tell_unmet
from archetypes_app.errors import UnknownProfile
from archetypes_app.golem_intents import CUSTOM, INTENTS
from archetypes_app.models import ApiKey, Archetype, Golem, ToolProfile
from archetypes_app.models.api_key import Scope
from archetypes_app.profiles import list_new_golem_profiles
from archetypes_app.roles import Power
from archetypes_app.sample_calls import find_first_action
from archetypes_app.toolset import resolve_toolset
from permits_app.actions.choose_halt import choose_halt
from permits_app.actions.create_golem import create_golem
from permits_app.actions.give_configured_wallet import (
    ConfiguredWallet,
    import_configured_file,
    read_configured_wallet,
)
from permits_app.actions.keep_keys_from_spending import keep_keys_from_spending
from permits_app.actions.set_limits import set_limits
from permits_app.admin.golem_site import as_golem_admin
from permits_app.approvals.golem_setup import is_in_setup
from permits_app.custody.create_wallet import create_wallet, import_wallet
from permits_app.doors.request_preview import request_preview
from permits_app.edit_conflict_forms import OpenedWizardLimitsForm
from permits_app.errors import SignerUnavailable, WalletExists
from permits_app.forms import WalletForm, WalletSource, WizardGolemForm
from permits_app.halts.halt_choices import HaltChoice, read_chosen, read_most_loss
from permits_app.limits.suggested_allowlist import AllowlistChoice, suggest_allowlist
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from permits_app.pages.portfolio_card import read_portfolio_card
from permits_app.pages.suggested_policy import fit_limits, list_needed, tell_cage
from tools_app.chain.networks import ChainNotSupported
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import Secret, TaintLabel
from tools_app.core.units import MICRO_USD_PER_USD
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.wording.formats import format_chain, shorten_hex

LOCAL_CHAIN_ID = 31337
CONFIGURED = "CONFIGURED"
"""A choice of the wallet page: GOLEM_WALLET_KEYSTORE_FILE."""

FIRST_CAPITAL = 1_000 * MICRO_USD_PER_USD
"""What the first page says a golem works with before anybody says otherwise, in micro-USD."""
FIRST_LIMITS = ("per_transaction_micro_usd", "per_tick_micro_usd", "per_session_micro_usd", "per_day_micro_usd")
STEPS = ("Who it is", "Wallet", "Limits", "Funds", "API key")


class TokenForm(forms.Form):
    """Last page of the wizard: what the agent's token may do."""

    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=[Scope.READ, Scope.PREVIEW, Scope.COMMIT],
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="Give only what the agent needs; it can be rotated or revoked at any time",
    )

    may_spend = forms.BooleanField(
        required=False,
        initial=True,
        label="Agent keys may spend",
        widget=UnfoldBooleanWidget(),
        help_text="Off: what agents ask for is previewed and nothing of it is signed. The heartbeat is another switch;"
        " it rehearses until you let it act",
    )

    def __init__(self, *args: Any, can_write: bool = True, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        if not can_write:
            del self.fields["may_spend"]
            field: Any = self.fields["scopes"]  # Any: a field by its name; the one there has choices
            field.choices = [(Scope.READ.value, Scope.READ.label)]
            field.initial = [Scope.READ.value]
            field.help_text = "It has nothing to write with, so its token only reads"


class WizardWalletForm(WalletForm):
    """The wallet page, with the server's own keystore file as one more source where there is one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        field: Any = self.fields["source"]  # Any: a field by its name; the one there has choices
        if settings.GOLEM_WALLET_KEYSTORE_FILE:
            field.choices = [*field.choices, (CONFIGURED, "Use the keystore file this server was set up with")]
        field.initial = _default_wallet_source()


@dataclass(frozen=True, slots=True)
class _WantedGolem:
    """What it is for, and what it works with in micro-USD; None where its owner leaves that open."""

    intent: str
    works_with: int | None


@dataclass(frozen=True, slots=True)
class _WantedWallet:
    """Where its key comes from, with the keystore's text and passphrase where one is imported."""

    source: str
    passphrase: str = field(default="", repr=False)
    document: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class _WantedLimits:
    """Numbers of the offered entries that are ticked, and what a halt shall do."""

    allowlist: tuple[str, ...]
    on_halt: str | None
    most_loss_bps: int | None


@dataclass(frozen=True, slots=True)
class _WantedToken:
    """What the agent's token may do; whether keys may spend is asked where it can write."""

    scopes: tuple[str, ...]
    may_spend: bool = True


class WizardPages:
    """The wizard as pages of the golem's admin."""

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: Any = None,  # Any: a template's context
    ) -> HttpResponse:
        """First page: who it is."""
        admin = as_golem_admin(self)
        if not admin.has_add_permission(request):
            raise PermissionDenied
        offered = admin.list_choices(ToolProfile, request).order_by("name")
        archetypes = admin.list_choices(Archetype, request).order_by("name")
        ticked = _list_ticked(request, offered)
        form = WizardGolemForm(
            request.POST or None,
            owner=request.user,
            archetypes=archetypes,
            profiles=offered,
            initial={"intent": CUSTOM if ticked else "trade", "profiles": ticked, "works_with": FIRST_CAPITAL},
        )
        if request.method == "POST" and form.is_valid():
            wanted = read_stored(_WantedGolem, form.cleaned_data)
            intent = INTENTS.get(wanted.intent, INTENTS[CUSTOM])
            golem = create_golem(
                owner=request.user,
                actor=name_actor(request.user),
                now=clock.now(),
                gives_wallet=False,
                limits=fit_limits(intent, wanted.works_with),
                cage=intent.cage,
                **{name: form.cleaned_data[name] for name in form.Meta.fields},
            )
            step = "wallet" if can_write(golem) else "token"
            return HttpResponseRedirect(reverse(f"admin:archetypes_app_golem_set_up_{step}", args=[golem.pk]))
        told = [(each, tell_unmet(each.name) if each.is_builtin else "") for each in archetypes]
        return self._show(request, 0, form, submit="Next: wallet", golem=None, archetypes=told)

    def wallet_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Second page: a new key, an imported one, or none. Wallets are its administrators' alone."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id, Power.ADMINISTER)
        following = reverse("admin:archetypes_app_golem_set_up_limits", args=[golem.pk])
        if golem.address:
            return HttpResponseRedirect(following)
        form = WizardWalletForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            try:
                self._give_wallet(golem, read_stored(_WantedWallet, form.cleaned_data), actor=name_actor(request.user))
            except GolemError as error:
                form.add_error(None, error.detail)
            else:
                return HttpResponseRedirect(following)
        return self._show(request, 1, form, submit="Next: limits", golem=golem)

    def limits_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Third page: limits and allowlist."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        if not is_in_setup(golem):
            messages.info(request, "It is set up: change its limits here, and what loosens is asked of its owners.")
            return HttpResponseRedirect(reverse("admin:archetypes_app_golem_change", args=[golem.pk]))
        offered = _offer_allowlist(golem)
        row = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
        form = OpenedWizardLimitsForm(
            request.POST or None,
            instance=row,
            choices=[(str(number), choice.label) for number, choice in enumerate(offered)],
            initial={
                "allowlist": [str(number) for number in sorted(list_needed(golem, offered))],
                "on_halt": read_chosen(golem).value,
                "most_loss_bps": read_most_loss(golem),
            },
        )
        if request.method == "POST" and form.is_valid():
            columns = {name: form.cleaned_data[name] for name in form.Meta.fields}
            given = read_stored(_WantedLimits, form.cleaned_data)
            set_limits(
                golem=golem,
                limits=columns,
                choices=[offered[int(number)] for number in given.allowlist],
                actor=name_actor(request.user),
                now=clock.now(),
            )
            choose_halt(
                golem=golem,
                choice=HaltChoice(given.on_halt or read_chosen(golem)),
                most_loss_bps=given.most_loss_bps,
                actor=name_actor(request.user),
                now=clock.now(),
            )
            return HttpResponseRedirect(reverse("admin:archetypes_app_golem_set_up_funds", args=[golem.pk]))
        ticked = set(form["allowlist"].value() or [])
        groups = _group_choices(offered, ticked)
        cage = PolicyCage.objects.filter(golem=golem).first()
        return self._show(
            request,
            2,
            form,
            submit="Next: funds",
            golem=golem,
            allowlist_groups=groups,
            first=FIRST_LIMITS,
            cage=tell_cage(cage, golem.base_asset) if cage is not None else "",
        )

    def funds_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Fourth page: where to send money, and what is there by now."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        following = reverse("admin:archetypes_app_golem_set_up_token", args=[golem.pk])
        if not golem.address or request.method == "POST":
            return HttpResponseRedirect(following)
        return self._show(
            request,
            3,
            forms.Form(),
            submit="Next: token",
            golem=golem,
            chain=format_chain(golem.home_chain_id),
            portfolio=read_portfolio_card(golem, now=clock.now()),
            picture=segno.make(golem.address, error="m").svg_inline(scale=5, border=2, light="#fff", dark="#000"),
            has_faucet=LOCAL_CHAIN_ID in list_chains(golem) and LOCAL_CHAIN_ID in settings.GOLEM_RPC_URLS,
        )

    def token_view(self, request: HttpRequest, golem_id: object) -> HttpResponse:
        """Last page: the token's scopes; its answer is the last page, which shows the token once."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        form = TokenForm(request.POST or None, can_write=can_write(golem) and bool(golem.address))
        if request.method == "POST" and form.is_valid():
            given = read_stored(_WantedToken, form.cleaned_data)
            if not given.may_spend:
                keep_keys_from_spending(
                    golem=golem, reason="chosen when it was set up", actor=name_actor(request.user), now=clock.now()
                )
            fresh = create_api_key(
                golem=golem,
                scopes=list(given.scopes),
                label="first token",
                created_by=request.user,
                now=clock.now(),
            )
            return redirect_to_token(request=request, fresh=fresh)
        return self._show(request, 4, form, submit="Create the golem's token", golem=golem)

    def try_view(self, request: HttpRequest, golem_id: object, key_id: UUID) -> HttpResponse:
        """What an agent would do first, from the browser: the page of the permit that its preview opened."""
        golem = as_golem_admin(self).get_own_golem(request, golem_id)
        key = ApiKey.objects.select_related("golem").filter(golem=golem, pk=key_id, revoked_at=None).first()
        first = find_first_action(key) if key is not None else None
        if key is None or first is None or request.method != "POST":
            raise Http404("nothing to preview")
        try:
            permit = request_preview(golem=golem, api_key=key, body=first, request_id=str(uuid4()))
        except GolemError as error:
            messages.error(request, f"It was refused: {error.detail}")
            return HttpResponseRedirect(reverse("admin:archetypes_app_golem_change", args=[golem.pk]))
        return HttpResponseRedirect(reverse("admin:permits_app_actionpermit_change", args=[permit["permit_id"]]))

    def _give_wallet(self, golem: Golem, chosen: _WantedWallet, *, actor: str) -> None:
        if chosen.source == WalletSource.CREATE:
            create_wallet(golem=golem, actor=actor, now=clock.now())
        elif chosen.source == CONFIGURED:
            if import_configured_file(golem=golem, actor=actor, now=clock.now()) is None:
                raise WalletExists("the server's keystore file serves another golem already; choose another wallet")
        elif chosen.source == WalletSource.IMPORT:
            passphrase = Secret(chosen.passphrase, TaintLabel.WALLET_SECRET)
            import_wallet(golem=golem, document=chosen.document, passphrase=passphrase, actor=actor, now=clock.now())

    def _show(
        self,
        request: HttpRequest,
        step: int,
        form: forms.BaseForm,
        *,
        submit: str,
        golem: Golem | None,
        **extra: Any,  # Any: a template's context
    ) -> HttpResponse:
        admin = as_golem_admin(self)
        context = {
            **admin.admin_site.each_context(request),
            "title": "New golem" if golem is None else f"Set up {golem.name}",
            "opts": admin.opts,
            "form": form,
            "submit": submit,
            "golem": golem,
            "steps": [
                {"title": title, "state": "done" if index < step else "now" if index == step else "todo"}
                for index, title in enumerate(STEPS)
            ],
            "step_title": STEPS[step],
            "template": f"admin/archetypes_app/golem/wizard_{step}.html",
            "skip_url": reverse("admin:archetypes_app_golem_change", args=[golem.pk]) if golem else "",
            **extra,
        }
        return TemplateResponse(request, "admin/archetypes_app/golem/wizard.html", context)


def _list_ticked(request: HttpRequest, offered: QuerySet[ToolProfile]) -> list[object]:
    """Keys of the profiles TOOL_PROFILE or GOLEM_PROFILE gives a new golem, where this person may choose them."""
    try:
        names = [profile.name for profile in list_new_golem_profiles()]
    except UnknownProfile as error:
        messages.warning(request, f"TOOL_PROFILE: {error.detail}. Nothing is ticked for you.")
        return []
    return list(offered.filter(name__in=names).values_list("pk", flat=True))


def _default_wallet_source() -> str:
    """What is chosen on the wallet page before anybody chooses."""
    try:
        source = read_configured_wallet()
    except SignerUnavailable:
        return str(WalletSource.CREATE)
    if source is ConfiguredWallet.IMPORT and settings.GOLEM_WALLET_KEYSTORE_FILE:
        return CONFIGURED
    is_none = settings.GOLEM_WALLET_SOURCE.strip().lower() == "none"
    return str(WalletSource.NONE if is_none else WalletSource.CREATE)


def _offer_allowlist(golem: Golem) -> Sequence[AllowlistChoice]:
    """What the home chain registers; nothing when no node of it is configured."""
    try:
        return suggest_allowlist(golem.home_chain_id)
    except ChainNotSupported:
        return ()


def _group_choices(
    offered: Sequence[AllowlistChoice], ticked: Container[str]
) -> list[tuple[str, list[dict[str, object]], list[dict[str, object]]]]:
    """Checkboxes under the heading of their kind, for the template: those that are ticked, and the others."""
    groups: dict[str, tuple[list[dict[str, object]], list[dict[str, object]]]] = {}
    for number, choice in enumerate(offered):
        is_ticked = str(number) in ticked
        option = {
            "value": str(number),
            "checked": is_ticked,
            "name": choice.label,
            "address": shorten_hex(choice.address),
        }
        groups.setdefault(str(AllowlistKind(choice.kind).label), ([], []))[0 if is_ticked else 1].append(option)
    return [(heading, *options) for heading, options in groups.items()]


def can_write(golem: Golem) -> bool:
    """Whether its tools move money, now or once it has a wallet."""
    toolset = resolve_toolset(golem)
    names = {*(tool.name for tool in toolset), *toolset.missing}
    return any(isinstance(tool, WriteTool) for tool in REGISTRY if tool.name in names)

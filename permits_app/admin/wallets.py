"""Wallets and keys: an account, how its calls get there, who signs. No key is here; a file of one can be taken home."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.roles import Power
from permits_app.actions.request_change import request_operation
from permits_app.actions.rotate_session import ask_for_session
from permits_app.approval_pages.forms import WhyForm
from permits_app.approval_pages.views import page_of as page_of_request
from permits_app.custody.create_wallet import back_up_wallet
from permits_app.custody.signer_addresses import list_addresses, write_csv
from permits_app.forms import PasswordForm
from permits_app.models import ChangeRequest, SigningKey, Wallet
from permits_app.models.wallet import WalletKind
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import audit_log, clock
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.pages.confirmation import report_refusal, show_confirmation
from tools_app.pages.html import NOTHING, show_age, show_badge, show_hex
from tools_app.wording.formats import format_usd

_KINDS = [
    (WalletKind.POLICY_CAGE, "The Safe behind its cage, with the session key the chain names"),
    (WalletKind.GNOSIS_SAFE, "A Safe whose owners sign each plan, or the golem's key alone"),
    (WalletKind.PRIVY, "A server wallet at Privy"),
    (WalletKind.AWS_KMS, "A key in AWS KMS"),
    (WalletKind.TURNKEY, "A wallet at Turnkey"),
    (WalletKind.ZERODEV, "A smart account that the golem's key owns, through ZeroDev's bundler"),
    (WalletKind.LOCAL_KEYSTORE, "A key of this server's keystore (development)"),
]


class SignerForm(WhyForm):
    """Which account a golem shall act with."""

    kind = forms.ChoiceField(
        label="Act with",
        choices=[("", "Choose what it shall act with"), *_KINDS],
        widget=UnfoldAdminSelectWidget(),
    )
    safe = forms.CharField(
        label="Safe",
        required=False,
        max_length=42,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Its address; only for a Safe without a cage. Its owners and threshold are read from the chain",
    )
    wallet_id = forms.CharField(
        label="Wallet or key elsewhere",
        required=False,
        max_length=64,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Its id there; for Privy, Turnkey and AWS KMS, and for ZeroDev when the account's owner is at Privy",
    )
    account = forms.CharField(
        label="Smart account",
        required=False,
        max_length=42,
        widget=UnfoldAdminTextInputWidget(),
        help_text="A Kernel v3 account; only for ZeroDev. Empty takes the one its factory makes for the golem's key",
    )
    address = forms.CharField(
        label="Key",
        required=False,
        max_length=42,
        widget=UnfoldAdminTextInputWidget(),
        help_text="One of this golem's own keys in the keystore; needed for a key of this server's keystore",
    )
    field_order = ("kind", "safe", "wallet_id", "account", "address", "reason")

    def clean(self) -> JsonObject:
        """A key of the keystore is named: a staged one may be meant for a cage, and its account is empty."""
        given: dict[str, object] = super().clean() or {}
        if given.get("kind") == WalletKind.LOCAL_KEYSTORE and not given.get("address"):
            self.add_error("address", "Name the key. The golem would act with its account, whose funds are its own.")
        return given

    def as_arguments(self) -> dict[str, str]:
        """What the owners' operation takes."""
        return {name: self.cleaned_data[name] for name in ("kind", "safe", "wallet_id", "account", "address")}


@admin.register(Wallet)
class WalletAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One account per golem."""

    empty_text = "No golem has an account yet. The wizard's step Wallet makes one; without it a golem only reads."
    ordering = ("golem__name",)
    list_display = ("golem", "address_short", "kind", "backup")
    list_filter = (GolemFilter, "kind")
    list_select_related = ("golem",)
    search_fields = ("=address", "golem__name")
    fields = ("golem", "address_short", "kind", "signed_by", "backup", "created_at")
    readonly_fields = fields
    write_power = Power.ADMINISTER
    actions_detail: ClassVar[tuple[str, ...]] = ("back_up", "choose_signer", "ask_session", "take_addresses")

    def has_back_up_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Who administers its golem, and operators of the server."""
        return bool(request.user.has_perm("permits_app.view_wallet")) and not self.is_only_seen(request, object_id)

    @display(description="Address")
    def address_short(self, obj: Wallet) -> SafeString:
        """With a copy button."""
        return show_hex(obj.address)

    @display(description="Signed for by")
    def signed_by(self, obj: Wallet) -> SafeString:
        """The active key, which with a Safe is not the account."""
        key = SigningKey.objects.filter(golem_id=obj.golem_id, state="ACTIVE").first()
        return show_hex(key.address) if key is not None else show_badge("no key is active", "warn")

    @display(description="Backup", ordering="backed_up_at")
    def backup(self, obj: Wallet) -> SafeString:
        """When it was last taken."""
        return show_age(obj.backed_up_at) if obj.backed_up_at else show_badge("never backed up", "warn")

    @action(description="Back up", icon="download", url_path="back-up", permissions=["back_up"])
    def back_up(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Hand out the encrypted keystore file, after the account's password was given again."""
        wallet: Wallet = self.get_row_to_act_on(request, object_id)
        page = _page_of(wallet)
        form = PasswordForm(request.POST or None, user=request.user)
        if request.method == "POST":
            actor = name_actor(request.user)
            if form.is_valid():
                try:
                    address, document = back_up_wallet(wallet=wallet, actor=actor, now=clock.now())
                except GolemError as error:
                    return report_refusal(request, error, page)
                return _as_download(document, f"golem-{address}.json", "application/json")
            audit_log.append(
                golem_id=wallet.golem_id,
                event="WalletBackupRefused",
                actor=actor,
                data={"address": wallet.address},
                now=clock.now(),
            )
        return show_confirmation(
            request=request,
            model_admin=self,
            title="Back up this wallet",
            explanation=(
                "You get the encrypted keystore file of its active key. It opens with this server's keystore "
                "passphrase, which is not in it; keep the two apart. Taking a backup is written to the audit log."
            ),
            form=form,
            submit="Download the keystore file",
            back_url=page,
            subject=wallet,
        )

    @action(description="Change the signer", icon="key", url_path="signer", permissions=["back_up"])
    def choose_signer(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask the owners to let the golem act with another account or signer."""
        wallet: Wallet = self.get_row_to_act_on(request, object_id)
        form = SignerForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            return self._ask(
                request,
                wallet,
                lambda golem: request_operation(
                    golem=golem,
                    name="signer",
                    arguments=form.as_arguments(),
                    owner=request.user,
                    reason=form.cleaned_data["reason"],
                    now=clock.now(),
                ),
            )
        return show_confirmation(
            request=request,
            model_admin=self,
            form=form,
            submit="Ask the owners",
            back_url=_page_of(wallet),
            subject=wallet,
            title="Let the golem act with another account",
            explanation="Funds stay where they are: what the golem holds now is the owners' to move. What both "
            "accounts hold, and what the chain, Privy or ZeroDev says of the new one, is shown to who decides. The "
            "former key gets no more to sign; its file stays, because it may hold coins.",
        )

    @action(description="Next session key", icon="autorenew", url_path="session", permissions=["back_up"])
    def ask_session(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make the next session key of the cage and ask the owners to appoint it."""
        wallet: Wallet = self.get_row_to_act_on(request, object_id)
        form = WhyForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            reason = form.cleaned_data["reason"]
            return self._ask(
                request,
                wallet,
                lambda golem: ask_for_session(golem=golem, owner=request.user, reason=reason, now=clock.now()),
            )
        return show_confirmation(
            request=request,
            model_admin=self,
            form=form,
            submit="Make it and ask the owners",
            subject=wallet,
            back_url=_page_of(wallet),
            title="Appoint the next session key",
            explanation="A new key is made in this server's keystore. The owners' signature appoints it in the cage; "
            "from that block on the former key has no rights there. Send the new key coins for gas.",
        )

    @action(description="Addresses", icon="list_alt", url_path="addresses", permissions=["view"])
    def take_addresses(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Every account, cage and key of the golem as CSV."""
        wallet: Wallet = self.get_row(request, object_id)
        rows = list_addresses([wallet.golem])
        return _as_download(write_csv(rows), f"golem-{wallet.golem_id}-addresses.csv", "text/csv")

    def _ask(self, request: HttpRequest, wallet: Wallet, ask: Callable[[Golem], ChangeRequest]) -> HttpResponse:
        golem = Golem.objects.get(pk=wallet.golem_id)
        try:
            opened = ask(golem)
        except GolemError as error:
            return report_refusal(request, error, _page_of(wallet))
        messages.info(request, "It waits for the owners.")
        return HttpResponseRedirect(page_of_request(opened.pk))


@admin.register(SigningKey)
class SigningKeyAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Every key a golem ever had, with what its owners gave it."""

    ordering = ("golem__name", "-created_at")
    list_display = ("golem", "address_short", "holder", "state_badge", "activated_at", "dropped_at")
    list_filter = (GolemFilter, "state", "holder")
    list_select_related = ("golem",)
    search_fields = ("=address", "golem__name")
    fields = (
        "golem",
        "address_short",
        "holder",
        "account",
        "external_id",
        "state_badge",
        "reason",
        "given",
        "delegated",
        "asked_at",
        "activated_at",
        "dropped_at",
        "created_at",
    )
    readonly_fields = fields

    @display(description="Address")
    def address_short(self, obj: SigningKey) -> SafeString:
        """With a copy button."""
        return show_hex(obj.address)

    @display(description="State", ordering="state")
    def state_badge(self, obj: SigningKey) -> SafeString:
        """Coloured."""
        return show_badge(
            obj.get_state_display().split(":")[0], {"ACTIVE": "good", "STAGED": "info"}.get(obj.state, "quiet")
        )

    @display(description="What its owners gave it")
    def given(self, obj: SigningKey) -> str:
        """Until when, how many operations, and how much they may move."""
        if not obj.granted:
            return NOTHING
        named = ("expires_at", "operations", "budget_micro_usd")
        end, operations, budget = (int(obj.granted.get(name, 0)) for name in named)
        return f"{_tell_end(end)}; {operations:,} operations; {format_usd(budget)}"


def _tell_end(expires_at: int) -> str:
    try:
        return f"until {clock.tell_unix_time(expires_at)}"
    except (ValueError, OverflowError, OSError):  # a chain counts further than a calendar
        return "without an end"


def _page_of(wallet: Wallet) -> str:
    return reverse("admin:permits_app_wallet_change", args=[wallet.pk])


def _as_download(document: str, name: str, content_type: str) -> HttpResponse:
    response = HttpResponse(document, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    add_never_cache_headers(response)
    return response

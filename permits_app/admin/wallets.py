"""Wallets: an address and where its key lies. The key is never here; its encrypted file can be taken home."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.admin.audited import name_actor
from archetypes_app.admin.choices import GolemFilter
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from permits_app.actions.create_wallet import back_up_wallet
from permits_app.forms import PasswordForm
from permits_app.models import Wallet
from tools_app.admin.confirm import report_refusal, show_confirmation
from tools_app.admin.display import show_age, show_badge, show_hex
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import audit_log, clock
from tools_app.core.errors import GolemError


@admin.register(Wallet)
class WalletAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """One account per golem."""

    list_display = ("golem", "address_short", "kind", "backup")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("=address", "golem__name")
    fields = ("golem", "address_short", "kind", "backup", "created_at")
    readonly_fields = fields
    actions_detail: ClassVar[tuple[str, ...]] = ("back_up",)

    def has_back_up_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Owners and operators; the row itself is looked up among theirs."""
        return bool(request.user.has_perm("permits_app.view_wallet"))

    @display(description="Address")
    def address_short(self, obj: Wallet) -> SafeString:
        """With a copy button."""
        return show_hex(obj.address)

    @display(description="Backup", ordering="backed_up_at")
    def backup(self, obj: Wallet) -> SafeString:
        """When it was last taken."""
        return show_age(obj.backed_up_at) if obj.backed_up_at else show_badge("never backed up", "warn")

    @action(description="Back up", icon="download", url_path="back-up", permissions=["back_up"])
    def back_up(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Hand out the encrypted keystore file, after the account's password was given again."""
        wallet: Wallet = self.get_row(request, object_id)
        page = reverse("admin:permits_app_wallet_change", args=[wallet.pk])
        form = PasswordForm(request.POST or None, user=request.user)
        if request.method == "POST":
            actor = name_actor(request.user)
            if form.is_valid():
                try:
                    document = back_up_wallet(wallet=wallet, actor=actor, now=clock.now())
                except GolemError as error:
                    return report_refusal(request, error, page)
                return _as_download(document, wallet.address)
            audit_log.append(
                golem_id=wallet.golem_id, event="WalletBackupRefused", actor=actor, data={"address": wallet.address},
                now=clock.now(),
            )  # fmt: skip
        return show_confirmation(
            request=request,
            model_admin=self,
            title="Back up this wallet",
            explanation=(
                "You get the encrypted keystore file. It opens with this server's keystore passphrase, which is not in "
                "it; keep the two apart. Taking a backup is written to the audit log."
            ),
            form=form,
            submit="Download the keystore file",
            back_url=page,
            subject=wallet,
        )


def _as_download(document: str, address: str) -> HttpResponse:
    response = HttpResponse(document, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="golem-{address}.json"'
    add_never_cache_headers(response)
    return response

"""Give a golem a wallet: a new key, or an imported keystore file. The key never enters the database."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.errors import WalletExists
from permits_app.models import SigningKey, Wallet
from permits_app.models.signing_key import KeyState
from tools_app.core import audit_log
from tools_app.core.taint import Secret
from tools_app.core.transaction_retry import retry_aborted
from tools_app.portfolio.position_search import begin_search


def create_wallet(*, golem: Golem, actor: str, now: datetime) -> Wallet:
    """Make a new key for `golem`. Writes the audit log. Raises WalletExists, SignerUnavailable."""
    _check_has_none(golem)
    return _attach(golem, open_keystore().create(), "WalletCreated", actor, now)


def import_wallet(*, golem: Golem, document: str, passphrase: Secret, actor: str, now: datetime) -> Wallet:
    """Take a keystore v3 document under its own passphrase. Raises WalletExists, InvalidParams, SignerUnavailable."""
    _check_has_none(golem)
    address = open_keystore().import_file(document=document, passphrase=passphrase)
    wallet = _attach(golem, address, "WalletImported", actor, now)
    # What it has already may lie where no contract lists it.
    begin_search(chain_id=golem.home_chain_id, account=address, now=now)
    return wallet


def back_up_wallet(*, wallet: Wallet, actor: str, now: datetime) -> tuple[str, str]:
    """The address of the active key and its encrypted keystore document, for the owner to keep.

    Writes the audit log. Raises SignerUnavailable for a key that is kept elsewhere.
    """
    key = SigningKey.objects.filter(golem_id=wallet.golem_id, state=KeyState.ACTIVE).first()
    address = key.address if key is not None else wallet.address
    document = open_keystore().export_file(address)
    _note_backup(wallet, address, actor, now)
    return address, document


def is_address_taken(address: str) -> bool:
    """Whether a golem of this server has the account or the key."""
    return Wallet.objects.filter(address=address).exists() or SigningKey.objects.filter(address=address).exists()


def _check_has_none(golem: Golem) -> None:
    if golem.address or Wallet.objects.filter(golem=golem).exists():
        raise WalletExists("this golem has a wallet already; a key is never replaced in place")


@retry_aborted
def _note_backup(wallet: Wallet, address: str, actor: str, now: datetime) -> None:
    with transaction.atomic():
        Wallet.objects.filter(pk=wallet.pk).update(backed_up_at=now)
        audit_log.append(
            golem_id=wallet.golem_id, event="WalletBackedUp", actor=actor, data={"address": address}, now=now
        )


@retry_aborted
def _attach(golem: Golem, address: str, event: str, actor: str, now: datetime) -> Wallet:
    with transaction.atomic():
        if is_address_taken(address):
            raise WalletExists("another golem on this server uses this key; one account serves one golem")
        wallet = Wallet.objects.create(golem=golem, address=address)
        SigningKey.objects.create(golem=golem, address=address, state=KeyState.ACTIVE, activated_at=now)
        Golem.objects.filter(pk=golem.pk).update(address=address)
        golem.address = address
        audit_log.append(golem_id=golem.pk, event=event, actor=actor, data={"address": address}, now=now)
    return wallet

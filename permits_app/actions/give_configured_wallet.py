"""The wallet that the environment (GOLEM_WALLET_*) gives a new golem: a new key, one keystore file, or none."""

from __future__ import annotations

import logging
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from django.conf import settings

from archetypes_app.models import Golem
from permits_app.custody.create_wallet import create_wallet, import_wallet
from permits_app.errors import SignerUnavailable, WalletExists
from permits_app.models import Wallet
from tools_app.core.taint import Secret, TaintLabel

logger = logging.getLogger(__name__)


class ConfiguredWallet(StrEnum):
    """What GOLEM_WALLET_SOURCE says; the empty text is none."""

    NONE = ""
    CREATE = "create"
    IMPORT = "import"


def read_configured_wallet() -> ConfiguredWallet:
    """What the environment gives a new golem. Raises SignerUnavailable for a word that is none of them."""
    word = settings.GOLEM_WALLET_SOURCE.strip().lower()
    if word == "none":
        return ConfiguredWallet.NONE
    try:
        return ConfiguredWallet(word)
    except ValueError:
        raise SignerUnavailable("GOLEM_WALLET_SOURCE must be create, import or none") from None


def give_configured_wallet(*, golem: Golem, actor: str, now: datetime) -> Wallet | None:
    """Give `golem` what the environment says; None when it says none, or when its one file serves another golem.

    Raises SignerUnavailable, InvalidParams for a file that cannot be read or opened, WalletExists for a golem with one.
    """
    source = read_configured_wallet()
    if source is ConfiguredWallet.NONE:
        return None
    if source is ConfiguredWallet.CREATE:
        return create_wallet(golem=golem, actor=actor, now=now)
    return import_configured_file(golem=golem, actor=actor, now=now)


def import_configured_file(*, golem: Golem, actor: str, now: datetime) -> Wallet | None:
    """Import GOLEM_WALLET_KEYSTORE_FILE; None when its account serves another golem already."""
    path = Path(settings.GOLEM_WALLET_KEYSTORE_FILE)
    try:
        document = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SignerUnavailable("the file GOLEM_WALLET_KEYSTORE_FILE names cannot be read") from None
    passphrase = Secret(settings.GOLEM_WALLET_PASSPHRASE, TaintLabel.WALLET_SECRET)
    try:
        return import_wallet(golem=golem, document=document, passphrase=passphrase, actor=actor, now=now)
    except WalletExists:
        if golem.address:
            raise
        logger.warning("the configured keystore serves another golem, so %s starts without a wallet", golem.pk)
        return None

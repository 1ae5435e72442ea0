"""Open the keys that signed lately, before anybody waits for them: each takes a second of a processor by design."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import Max

from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.custody.signers.local import LocalSigner
from permits_app.errors import SignerUnavailable
from permits_app.models import OutboundTransaction, SigningKey
from permits_app.models.signing_key import KeyHolder, KeyState

_LATELY: Final = timedelta(days=1)
_MOST: Final = 8

logger = logging.getLogger(__name__)


def open_recent_keys(now: datetime) -> list[str]:
    """Open up to eight active keys of this server's keystore, the latest signer first. Their addresses.

    What does not open is left to the commit that needs it, which says so to whoever asked.
    """
    keystore = open_keystore()
    opened = []
    for address in _list_recent(now):
        try:
            LocalSigner(keystore=keystore, address=address).open()
        except SignerUnavailable as error:
            logger.info("the key of %s is not opened ahead: %s", address, error.code)
            continue
        opened.append(address)
    return opened


def _list_recent(now: datetime) -> list[str]:
    active = SigningKey.objects.filter(state=KeyState.ACTIVE, holder=KeyHolder.LOCAL_KEYSTORE, account="")
    signed = OutboundTransaction.objects.filter(sender__in=active.values("address"), created_at__gt=now - _LATELY)
    latest = signed.values("sender").annotate(at=Max("created_at")).order_by("-at").values_list("sender", flat=True)
    try:
        return list(latest[:_MOST])
    finally:
        # Opening them takes seconds, and nobody else's query waits for this connection meanwhile.
        connection.close()

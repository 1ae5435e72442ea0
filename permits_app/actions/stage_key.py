"""stage_key: a new key for a golem, made and kept by this server, with no right to anything yet.

Its owners give it rights on chain, by appointing it in the cage. One golem has one staged key; asking again answers the
same one. Takes the golem's row lock; appends SigningKeyStaged.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.models import SigningKey
from permits_app.models.signing_key import KeyState
from tools_app.core import audit_log
from tools_app.core.whole import whole


def stage_key(*, golem: Golem, reason: str, actor: str, now: datetime) -> SigningKey:
    """The golem's staged key, made when there is none. Raises SignerUnavailable."""
    staged = _find_staged(golem)
    if staged is not None:
        return staged
    # Before the lock: encrypting a key file takes a second by design. One that is not needed has no rights.
    return _keep(golem, open_keystore().create(), reason, actor, now)


@whole
def _keep(golem: Golem, address: str, reason: str, actor: str, now: datetime) -> SigningKey:
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem.pk)
        staged = _find_staged(golem)
        if staged is not None:
            return staged
        key = SigningKey.objects.create(golem=golem, address=address, reason=reason[:200])
        facts = {"address": address, "reason": reason}
        audit_log.append(golem_id=golem.pk, event="SigningKeyStaged", actor=actor, data=facts, now=now)
    return key


def _find_staged(golem: Golem) -> SigningKey | None:
    return SigningKey.objects.filter(golem=golem, state=KeyState.STAGED).first()

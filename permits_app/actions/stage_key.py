"""stage_key: a new key for a golem, kept by this server or elsewhere, with no right to anything yet.

Its owners give it rights: on chain, by appointing it in the cage, or here, by choosing it as the golem's wallet. One
golem has one staged key; asking again answers the same one. Takes the golem's row lock; appends SigningKeyStaged.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.custody.signers.choose_signer import open_keystore, open_kms, open_privy, open_turnkey
from permits_app.errors import SignerMismatch, WalletExists
from permits_app.models import SigningKey
from permits_app.models.signing_key import KeyHolder, KeyState
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.golem_chains import list_chains


def stage_key(*, golem: Golem, reason: str, actor: str, now: datetime) -> SigningKey:
    """The golem's staged key, made when there is none. Raises SignerUnavailable."""
    staged = _find_staged(golem)
    if staged is not None:
        return staged
    # Before the lock: encrypting a key file takes a second by design. One that is not needed has no rights.
    return _keep(golem, open_keystore().create(), reason, actor, now)


def stage_key_elsewhere(*, golem: Golem, holder: KeyHolder, reason: str, actor: str, now: datetime) -> SigningKey:
    """The golem's staged key at Privy, Turnkey or in AWS KMS, made there when there is none. It has no right to
    anything before owners choose it. Raises WalletExists where another key is staged, SignerUnavailable,
    SignerMismatch.
    """
    staged = _find_staged(golem)
    if staged is None:
        # No transaction is open: who keeps the key may take a while.
        name = f"golem-{golem.pk}"
        external_id, address = _make(holder, name, list_chains(golem))
        if len(external_id) > (SigningKey._meta.get_field("external_id").max_length or 0):
            raise SignerMismatch("the key's id there is longer than any that is known", holder=str(holder))
        staged = _keep(golem, address, reason, actor, now, holder=holder, external_id=external_id)
    if staged.holder != holder:
        raise WalletExists(f"another key waits for its owners: {staged.address}, {staged.get_holder_display().lower()}")
    return staged


def _make(holder: KeyHolder, name: str, chain_ids: tuple[int, ...]) -> tuple[str, str]:
    """Its id there, and its address."""
    if holder == KeyHolder.PRIVY:
        return open_privy().create_wallet(name=name, chain_ids=chain_ids)
    if holder == KeyHolder.TURNKEY:
        return open_turnkey().create_wallet(name=name, chain_ids=chain_ids)
    return open_kms().create_key(name=name)


@retry_aborted
def _keep(
    golem: Golem,
    address: str,
    reason: str,
    actor: str,
    now: datetime,
    *,
    holder: KeyHolder = KeyHolder.LOCAL_KEYSTORE,
    external_id: str = "",
) -> SigningKey:
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem.pk)
        staged = _find_staged(golem)
        if staged is not None:
            return staged
        key = SigningKey.objects.create(
            golem=golem, address=address, reason=reason[:200], holder=holder, external_id=external_id
        )
        facts = {"address": address, "reason": reason, **({"holder": str(holder)} if external_id else {})}
        audit_log.append(golem_id=golem.pk, event="SigningKeyStaged", actor=actor, data=facts, now=now)
    return key


def _find_staged(golem: Golem) -> SigningKey | None:
    return SigningKey.objects.filter(golem=golem, state=KeyState.STAGED).first()

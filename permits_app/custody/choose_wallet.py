"""choose_wallet: from now on a golem acts with another account, or another signer of one.

Only between actions: with a commit under way, or bytes that may still be mined, it is refused. The former key is
dropped and its file stays, because it may hold coins. Takes the golem's row lock, which a commit's start takes too;
appends WalletChosen; emits policy:cage_updated.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.custody.session_keys import adopt_session
from permits_app.errors import SessionNotActive, SignerUnavailable, WalletBusy, WalletExists
from permits_app.models import (
    ActionPermit,
    CageMirror,
    ChangeRequest,
    FormerAccount,
    OutboundTransaction,
    SigningKey,
    Wallet,
)
from permits_app.models.permit import UNFINISHED
from permits_app.models.signing_key import KeyHolder, KeyState
from permits_app.models.transaction import UNSETTLED
from permits_app.models.wallet import WalletKind
from permits_app.permits.leaving_chains import OF_A_KEY
from permits_app.policy_cage.state import CageState
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted
from tools_app.portfolio.position_search import begin_search
from tools_app.toolkit.golem_chains import list_chains

NOTHING_SEEN: Final[dict[str, object]] = {"safe": {}, "safe_noted": {}, "safe_nonce": None, "runs": {}}
"""Of an account that nobody looked at yet, and whose owners agreed to no code of it."""


@dataclass(frozen=True, slots=True)
class WalletChoice:
    """The account, its kind, and the key that signs. With a cage the chain names the key, and `key` stays empty.

    At ZeroDev `key` is the one owner of the smart account `address`. `external_id` is what who keeps the key calls it.
    """

    kind: WalletKind
    address: str
    key: str = ""
    external_id: str = ""


@retry_aborted
def choose_wallet(
    *,
    golem: Golem,
    choice: WalletChoice,
    actor: str,
    reason: str,
    now: datetime,
    held_micro_usd: int | None = None,
) -> Wallet:
    """Let `golem` act with `choice`. `held_micro_usd` is what the account it leaves was measured to hold.

    Raises WalletBusy, WalletExists for another golem's account or key, SessionNotActive, SignerUnavailable.
    """
    with transaction.atomic():
        locked = Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem.pk)
        _check_idle(locked)
        if choice.kind not in OF_A_KEY and locked.other_chain_ids:
            raise WalletBusy(
                "a contract is on one chain, and the golem has several; take the others off its page first",
                chain_ids=list(list_chains(locked)),
            )
        _check_free(locked, choice)
        before = Wallet.objects.filter(golem=locked).first()
        before_address, before_kind = (before.address, before.kind) if before is not None else ("", "")
        facts = {
            "from": {"kind": before.kind, "address": before.address} if before is not None else None,
            "to": {"kind": choice.kind.value, "address": choice.address, "key": choice.key},
            "reason": reason,
        }
        wallet, _ = Wallet.objects.update_or_create(
            golem=locked,
            defaults={
                "kind": choice.kind,
                "address": choice.address,
                "backed_up_at": None,
                # Of another Safe nothing was noted.
                **({} if before is not None and before.address == choice.address else NOTHING_SEEN),
            },
        )
        if before is not None:
            _note_left(locked, before_address, before_kind, choice, held_micro_usd, now)
        Golem.objects.filter(pk=locked.pk).update(address=choice.address)
        golem.address = choice.address
        if choice.kind == WalletKind.POLICY_CAGE:
            _appoint_by_chain(locked, choice, now)
        else:
            _appoint(locked, choice, now)
        audit_log.append(golem_id=locked.pk, event="WalletChosen", actor=actor, data=facts, now=now)
        payload = {"row": "wallet", "fields": ["kind", "address"]}
        event_bus.emit(golem_id=locked.pk, event=Event(EventType.POLICY_CAGE_UPDATED, payload), now=now)
        begin_search(chain_id=locked.home_chain_id, account=choice.address, now=now)
    return wallet


def _note_left(
    golem: Golem, address: str, kind: str, choice: WalletChoice, held_micro_usd: int | None, now: datetime
) -> None:
    """Keep which account is left, so that what lies there is told; one that is taken again is none."""
    FormerAccount.objects.filter(golem=golem, address=choice.address).delete()
    if address and address != choice.address:
        FormerAccount.objects.update_or_create(
            golem=golem,
            chain_id=golem.home_chain_id,
            address=address,
            defaults={"kind": kind, "held_micro_usd": held_micro_usd, "left_at": now},
        )


def _check_idle(golem: Golem) -> None:
    # The permit by which an agent asked for this very change sends nothing, and ends with it.
    asks = ChangeRequest.objects.filter(golem=golem, permit__isnull=False, change__operation="signer")
    unfinished = ActionPermit.objects.filter(golem=golem, status__in=[str(status) for status in UNFINISHED]).exclude(
        pk__in=asks.values("permit_id")
    )
    keys = SigningKey.objects.filter(golem=golem).values_list("address", "account")
    in_flight = OutboundTransaction.objects.filter(
        sender__in=[address for pair in keys for address in pair if address],
        is_live=True,
        state__in=[str(state) for state in UNSETTLED],
    )
    if unfinished.exists() or in_flight.exists():
        raise WalletBusy("an action of this golem is under way; its wallet is changed once that has ended")


def _check_free(golem: Golem, choice: WalletChoice) -> None:
    accounts = Wallet.objects.filter(address=choice.address).exclude(golem=golem)
    keys = SigningKey.objects.filter(Q(address__in=[choice.address, choice.key]) | Q(account=choice.address)).exclude(
        golem=golem
    )
    if accounts.exists() or keys.exists():
        raise WalletExists("another golem on this server uses this account or key; one account serves one golem")
    if choice.kind != WalletKind.ZERODEV:
        return
    # Which key signs for an account, and which account a key owns, never changes: replacements need it later.
    owned = SigningKey.objects.filter(golem=golem).filter(Q(address=choice.key) | Q(account=choice.address))
    if any((key.address, key.account or choice.address) != (choice.key, choice.address) for key in owned):
        raise WalletExists("this key owns another smart account, or another key this one; stage a new key")


def _appoint_by_chain(golem: Golem, choice: WalletChoice, now: datetime) -> None:
    mirror = CageMirror.objects.filter(cage__golem=golem).first()
    if mirror is None or mirror.account != choice.address or not mirror.is_enforced:
        raise SignerUnavailable("no cage that the Safe acts through is mirrored for this golem", address=choice.address)
    session = CageState.from_dict(mirror.state).session
    if not SigningKey.objects.filter(golem=golem, address=session.key).exists():
        raise SessionNotActive(
            "the cage's session key is none of this golem's; its owners appoint the staged key first",
            contract=mirror.contract,
            session_key=session.key,
        )
    adopt_session(golem_id=golem.pk, session=session, now=now)


def _appoint(golem: Golem, choice: WalletChoice, now: datetime) -> None:
    SigningKey.objects.filter(golem=golem, state=KeyState.ACTIVE).exclude(address=choice.key).update(
        state=KeyState.DROPPED, dropped_at=now, updated_at=now
    )
    SigningKey.objects.update_or_create(
        address=choice.key,
        defaults={
            "golem": golem,
            "holder": _find_holder(choice),
            "external_id": choice.external_id,
            "state": KeyState.ACTIVE,
            "activated_at": now,
            "dropped_at": None,
            **({"account": choice.address} if choice.kind == WalletKind.ZERODEV else {}),
        },
    )


def _find_holder(choice: WalletChoice) -> KeyHolder:
    """Who keeps the key: a smart account's owner is at Privy where it has an id there."""
    if not choice.external_id:
        return KeyHolder.LOCAL_KEYSTORE
    return {WalletKind.AWS_KMS: KeyHolder.AWS_KMS, WalletKind.TURNKEY: KeyHolder.TURNKEY}.get(
        choice.kind, KeyHolder.PRIVY
    )

"""A stranger proves a wallet: a challenge with a nonce, signed as text (EIP-191) or as typed data (EIP-712), used once.

What is signed names this server, this golem, the wallet, the nonce and when it ends, so that a signature for another
page, another golem or another time opens nothing. A visit lets a wallet ask what owners opened, and nothing else.
A wallet that is a contract is asked on the golem's home chain whether it signed (ERC-1271), once for each challenge, so
that nobody has a node asked at a pace of their own.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import transaction
from eth_utils import keccak

from archetypes_app.actions.create_api_key import hash_token
from archetypes_app.models import Golem
from golem_project.a2a.advisory_lock import take_turn
from golem_project.a2a.callers import VISIT_PREFIX
from golem_project.a2a.contract_wallets import says_it_signed
from golem_project.a2a.errors import ChallengeRefused, TooManyTasks
from golem_project.a2a.models import Challenge, Visit
from tools_app.core.clock import AHEAD, is_over
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted

if TYPE_CHECKING:
    from eth_account.messages import SignableMessage

_WHO = re.compile(r"(?:did:pkh:eip155:[1-9][0-9]{0,19}:)?(0x[0-9a-fA-F]{40})")
_SIGNATURE = re.compile(r"0x(?:[0-9a-fA-F]{2}){1,2048}")
_KEY_SIGNATURE_BYTES = 65
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class NewVisit:
    """A visit and its token, which is shown once."""

    visit: Visit
    token: str = field(repr=False)


def make_challenge(*, golem: Golem, who: str, domain: str, now: datetime) -> Challenge:
    """A challenge for `who`, an address or a did:pkh of one. Raises InvalidParams, TooManyTasks."""
    match = _WHO.fullmatch(who)
    if match is None:
        raise InvalidParams("send an address, or a did:pkh of one", fields={"wallet": "0x… or did:pkh:eip155:1:0x…"})
    return _keep_challenge(golem, match.group(1).lower(), domain[:255], now)


@retry_aborted
def _keep_challenge(golem: Golem, address: str, domain: str, now: datetime) -> Challenge:
    most = settings.GOLEM_A2A_MOST_CHALLENGES_PER_MINUTE
    with transaction.atomic():
        take_turn(f"challenges:{golem.pk}")
        if (
            Challenge.objects.filter(golem=golem, created_at__gt=now - _MINUTE, created_at__lte=now + AHEAD).count()
            >= most
        ):
            raise TooManyTasks("this golem gave out enough challenges for this minute", limit=most)
        return Challenge.objects.create(
            golem=golem,
            address=address,
            nonce=secrets.token_hex(16),
            domain=domain,
            created_at=now,
            expires_at=now + timedelta(seconds=settings.GOLEM_A2A_CHALLENGE_SECONDS),
        )


def show_challenge(challenge: Challenge) -> JsonObject:
    """What to sign: `text` with personal_sign, or `typed_data` with signTypedData_v4."""
    return {
        "nonce": challenge.nonce,
        "expires_at": challenge.expires_at.isoformat(),
        "text": _write_text(challenge),
        "typed_data": _write_typed(challenge),
    }


def open_visit(*, golem_id: UUID, nonce: str, signature: str, now: datetime) -> NewVisit:
    """Exchange a signed challenge for a token, once. Raises ChallengeRefused."""
    challenge = Challenge.objects.select_related("golem").filter(golem_id=golem_id, nonce=nonce).first()
    life = timedelta(seconds=settings.GOLEM_A2A_CHALLENGE_SECONDS)
    if challenge is None or challenge.used_at is not None or is_over(challenge.expires_at, longest=life, now=now):
        raise ChallengeRefused("this nonce is unknown, used or over; ask for a new challenge")
    if not _SIGNATURE.fullmatch(signature):
        raise ChallengeRefused("the signature is not this wallet's over this challenge")
    messages = _list_messages(challenge)
    if challenge.address in _recover(messages, signature):
        return _use(challenge, now)
    # Used before the chain is asked: whoever asks again needs another challenge, of which there are so many a minute.
    _take(challenge, now)
    digests = [_digest(message) for message in messages]
    if not says_it_signed(
        address=challenge.address,
        digests=digests,
        signature=bytes.fromhex(signature[2:]),
        chain_id=challenge.golem.home_chain_id,
        now=now,
    ):
        raise ChallengeRefused("the signature is not this wallet's over this challenge")
    return _give(challenge, now)


@retry_aborted
def _use(challenge: Challenge, now: datetime) -> NewVisit:
    with transaction.atomic():
        _take(challenge, now)
        return _give(challenge, now)


def _take(challenge: Challenge, now: datetime) -> None:
    # Of two with the same signature the row lets one through.
    if not Challenge.objects.filter(pk=challenge.pk, used_at__isnull=True, expires_at__gt=now).update(used_at=now):
        raise ChallengeRefused("this nonce is used; ask for a new challenge")


def _give(challenge: Challenge, now: datetime) -> NewVisit:
    token = VISIT_PREFIX + secrets.token_urlsafe(32)
    visit = Visit.objects.create(
        challenge=challenge,
        golem_id=challenge.golem_id,
        address=challenge.address,
        digest=hash_token(token),
        expires_at=now + timedelta(seconds=settings.GOLEM_A2A_VISIT_SECONDS),
    )
    return NewVisit(visit, token)


def _list_messages(challenge: Challenge) -> tuple[SignableMessage, ...]:
    """What may have been signed: the text, or the typed data."""
    # Slow to load, and only a stranger's first request needs it.
    from eth_account.messages import encode_defunct, encode_typed_data

    return encode_defunct(text=_write_text(challenge)), encode_typed_data(full_message=_write_typed(challenge))


def _digest(message: SignableMessage) -> bytes:
    return bytes(keccak(b"\x19" + message.version + message.header + message.body))


def _recover(messages: Iterable[SignableMessage], signature: str) -> set[str]:
    """Which keys may have signed it."""
    from eth_account import Account
    from eth_keys.exceptions import BadSignature

    found: set[str] = set()
    if len(signature) != 2 + 2 * _KEY_SIGNATURE_BYTES:
        return found
    for message in messages:
        try:
            found.add(str(Account.recover_message(message, signature=signature)).lower())
        except (BadSignature, ValueError):
            continue
    return found


def _write_text(challenge: Challenge) -> str:
    return (
        f"{challenge.domain} asks the wallet {challenge.address} to prove itself to the golem {challenge.golem_id}.\n\n"
        "This moves no funds and gives no right to any.\n\n"
        f"Nonce: {challenge.nonce}\nValid until: {challenge.expires_at.isoformat()}"
    )


def _write_typed(challenge: Challenge) -> dict[str, object]:
    return {
        "types": {
            "EIP712Domain": [{"name": "name", "type": "string"}, {"name": "version", "type": "string"}],
            "Visit": [
                {"name": "domain", "type": "string"},
                {"name": "golem", "type": "string"},
                {"name": "wallet", "type": "address"},
                {"name": "nonce", "type": "string"},
                {"name": "validUntil", "type": "string"},
            ],
        },
        "primaryType": "Visit",
        "domain": {"name": "Golem A2A", "version": "1"},
        "message": {
            "domain": challenge.domain,
            "golem": str(challenge.golem_id),
            "wallet": challenge.address,
            "nonce": challenge.nonce,
            "validUntil": challenge.expires_at.isoformat(),
        },
    }

"""Challenges of passkeys: each for one person, one session and one action, used up by whatever answers it.

An answer that was got for one page is thereby worth nothing on another, nor twice, nor tomorrow.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from django.db import transaction

from permits_app.approval_errors import PasskeyRefused
from permits_app.approvals.passkey_site import PasskeySite
from permits_app.models import PasskeyChallenge
from permits_app.models.passkey import LONGEST_ACTION
from tools_app.core.clock import is_over
from tools_app.core.transaction_retry import retry_aborted

LIVES_SECONDS: Final = 180
MOST_OPEN: Final = 8
"""Of one person; the oldest gives way to a new one."""
_BYTES: Final = 32


class FactorUse(StrEnum):
    """What a second factor is asked for. REGISTER is what a new passkey signs when it is made."""

    APPROVE = "approve"
    SET_UP_CODE = "set-up-code"
    REMOVE_CODE = "remove-code"
    ADD_PASSKEY = "add-passkey"
    REMOVE_PASSKEY = "remove-passkey"
    RAISE_BUDGET = "raise-budget"
    REGISTER = "register"


@dataclass(frozen=True, slots=True)
class PasskeyAnswer:
    """What a browser handed in for a passkey, and where: the JSON of its credential, its session and the site."""

    text: str = field(repr=False)
    session_key: str = field(repr=False)
    site: PasskeySite


def name_action(use: FactorUse, subject: str = "") -> str:
    """The one action that a challenge is for: what is done, and to what."""
    return f"{use}:{subject}"[:LONGEST_ACTION]


@retry_aborted
def make_challenge(
    *,
    user: Any,  # Any: an account, whose model is a setting of Django's
    session_key: str,
    action: str,
    now: datetime,
) -> bytes:
    """A new challenge, 32 random bytes; those that are over are forgotten."""
    with transaction.atomic():
        kept = PasskeyChallenge.objects.filter(person=user).order_by("-pk").values("pk")[: MOST_OPEN - 1]
        PasskeyChallenge.objects.filter(person=user).exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()
        PasskeyChallenge.objects.filter(person=user, expires_at__lte=now).delete()
        row = PasskeyChallenge.objects.create(
            person=user,
            challenge=secrets.token_bytes(_BYTES),
            session_hash=_hash(session_key),
            action=action,
            expires_at=now + timedelta(seconds=LIVES_SECONDS),
        )
    return bytes(row.challenge)


def use_up_challenge(
    *,
    user: Any,  # Any: an account, whose model is a setting of Django's
    challenge: bytes,
    session_key: str,
    action: str,
    now: datetime,
) -> None:
    """Take the challenge away, whoever answers it and how. Raises PasskeyRefused when it is none for this.

    Joins the caller's transaction, which has to last also when the answer is refused.
    """
    row = PasskeyChallenge.objects.select_for_update(no_key=True).filter(person=user, challenge=challenge).first()
    if row is None:
        raise PasskeyRefused("it answers nothing that this page asked, or was used before; ask your passkey again")
    row.delete()
    if row.session_hash != _hash(session_key):
        raise PasskeyRefused("it was asked for in another session; ask your passkey again")
    if row.action != action:
        raise PasskeyRefused("it was given for something else than this; ask your passkey again")
    if is_over(row.expires_at, longest=timedelta(seconds=LIVES_SECONDS), now=now):
        raise PasskeyRefused(f"it came later than {LIVES_SECONDS} seconds; ask your passkey again")


def _hash(session_key: str) -> str:
    return hashlib.sha256(session_key.encode()).hexdigest()

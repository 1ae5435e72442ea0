"""Let an agent ask for an owner: it gets a code to ask again with, and a short one that the owner types."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from archetypes_app.actions.create_api_key import TOKEN_PREFIX, check_scopes, hash_token
from archetypes_app.errors import TooManySignIns
from archetypes_app.models import AgentSignIn
from archetypes_app.models.agent_sign_in import SignInState
from tools_app.core.transaction_retry import retry_aborted

MINUTES: Final = 10
"""How long an owner has to type the code."""
POLL_SECONDS: Final = 5
MOST_OF_AN_ADDRESS: Final = 5
MOST_WAITING: Final = 500
_KEPT: Final = timedelta(days=1)
# Without vowels, so that no code is a word.
_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
_DEVICE_PREFIX: Final = f"{TOKEN_PREFIX}dc_"


@dataclass(frozen=True, slots=True)
class AskedSignIn:
    """What the agent is told, once."""

    row: AgentSignIn
    device_code: str = field(repr=False)


@retry_aborted
def ask_sign_in(*, agent: str, scopes: Iterable[str], asked_from: str, now: datetime) -> AskedSignIn:
    """Write the request down. Raises UnknownScope and TooManySignIns."""
    wanted = check_scopes(scopes)
    waiting = AgentSignIn.objects.filter(state=SignInState.WAITING, ends_at__gt=now)
    if (
        waiting.filter(asked_from=asked_from)[:MOST_OF_AN_ADDRESS].count() >= MOST_OF_AN_ADDRESS
        or waiting[:MOST_WAITING].count() >= MOST_WAITING
    ):
        raise TooManySignIns("an owner decides about them, or they end by themselves", retry_after_seconds=MINUTES * 60)
    code = _DEVICE_PREFIX + secrets.token_urlsafe(32)
    letters = "".join(secrets.choice(_LETTERS) for _ in range(8))
    with transaction.atomic():
        AgentSignIn.objects.filter(ends_at__lt=now - _KEPT).exclude(state=SignInState.COLLECTED).delete()
        # One of a future that did not come would keep its code from others.
        AgentSignIn.objects.filter(state=SignInState.WAITING, asked_at__gt=now + timedelta(minutes=MINUTES)).delete()
        row = AgentSignIn.objects.create(
            device_digest=hash_token(code),
            user_code=f"{letters[:4]}-{letters[4:]}",
            agent=agent,
            asked_scopes=wanted,
            asked_from=asked_from,
            asked_at=now,
            ends_at=now + timedelta(minutes=MINUTES),
        )
    return AskedSignIn(row=row, device_code=code)

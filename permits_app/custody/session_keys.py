"""follow_session: the keys of a golem behind a cage become what the mirror shows of its session.

The chain decides: the key it names is active, every other one is dropped. A halt drops it here whatever the chain says,
until the owner resumes the golem. Takes the golem's row lock; appends SessionKeyActive and SessionKeyDropped; emits
policy:cage_updated.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.models import CageMirror, SigningKey, Wallet
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.state import CageState, SessionState
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted

_ACTOR = "system:cage-mirror"


def follow_sessions(*, now: datetime) -> int:
    """Every golem behind a cage; returns how many keys changed."""
    caged = Wallet.objects.filter(kind=WalletKind.POLICY_CAGE).order_by("pk").values_list("golem_id", flat=True)
    return sum(one_by_one(list(caged), lambda pk: follow_session(golem_id=pk, now=now), what="the session of golem"))


@retry_aborted
def follow_session(*, golem_id: UUID, now: datetime) -> int:
    """One golem; how many of its keys changed. A golem whose wallet is no cage keeps its keys."""
    mirror = CageMirror.objects.filter(cage__golem_id=golem_id).first()
    if mirror is None or not _differs(golem_id, mirror):
        return 0
    with transaction.atomic():
        golem = Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem_id)
        if not Wallet.objects.filter(golem_id=golem_id, kind=WalletKind.POLICY_CAGE).exists():
            return 0
        if golem.is_halted and not SigningKey.objects.filter(golem_id=golem_id, state=KeyState.ACTIVE).exists():
            return 0
        mirror.refresh_from_db(fields=["state"])
        return adopt_session(golem_id=golem_id, session=CageState.from_dict(mirror.state).session, now=now)


def adopt_session(*, golem_id: UUID, session: SessionState, now: datetime) -> int:
    """Make the session's key the active one and drop the others; joins the caller's transaction, golem locked."""
    changed = 0
    for former in SigningKey.objects.filter(golem_id=golem_id, state=KeyState.ACTIVE).exclude(address=session.key):
        _move(former, KeyState.DROPPED, now=now, dropped_at=now)
        changed += 1
    key = SigningKey.objects.filter(golem_id=golem_id, address=session.key).first()
    if key is not None and (key.state != KeyState.ACTIVE or key.granted.get("expires_at") != session.expires_at):
        granted = {
            "expires_at": session.expires_at,
            "operations": session.operations_left,
            "budget_micro_usd": str(session.budget_left),
        }
        _move(key, KeyState.ACTIVE, now=now, activated_at=now, dropped_at=None, granted=granted)
        changed += 1
    return changed


def drop_session(*, golem_id: UUID, actor: str, now: datetime) -> list[str]:
    """Drop the session key of a golem behind a cage; its address, or nothing. Keys of other wallets stay.

    Joins the caller's transaction, golem locked.
    """
    if not Wallet.objects.filter(golem_id=golem_id, kind=WalletKind.POLICY_CAGE).exists():
        return []
    keys = list(SigningKey.objects.filter(golem_id=golem_id, state=KeyState.ACTIVE))
    for key in keys:
        _move(key, KeyState.DROPPED, now=now, actor=actor, dropped_at=now)
    return [key.address for key in keys]


def _differs(golem_id: UUID, mirror: CageMirror) -> bool:
    session = CageState.from_dict(mirror.state).session
    active = SigningKey.objects.filter(golem_id=golem_id, state=KeyState.ACTIVE).first()
    if active is not None and active.address == session.key:
        return bool(active.granted.get("expires_at") != session.expires_at)
    return active is not None or SigningKey.objects.filter(golem_id=golem_id, address=session.key).exists()


def _move(
    key: SigningKey,
    to: KeyState,
    *,
    now: datetime,
    actor: str = _ACTOR,
    **columns: Any,  # Any: columns of the row
) -> None:
    SigningKey.objects.filter(pk=key.pk).update(state=to, updated_at=now, **columns)
    event = "SessionKeyActive" if to is KeyState.ACTIVE else "SessionKeyDropped"
    facts = {"address": key.address, "from": key.state, **columns.get("granted", {})}
    audit_log.append(golem_id=key.golem_id, event=event, actor=actor, data=facts, now=now)
    payload = {"row": "signing key", "fields": ["state"]}
    event_bus.emit(golem_id=key.golem_id, event=Event(EventType.POLICY_CAGE_UPDATED, payload), now=now)

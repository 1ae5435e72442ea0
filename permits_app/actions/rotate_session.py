"""rotate_session: when a golem's session key is near its end, make the next one and ask the owners to appoint it.

By time, by operations and by budget, each a while before the chain would stop the key. The owners carry the request out
by their own signature; until then the golem goes on with the key it has. Appends SigningKeyStaged, ChangeRequested.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.actions.request_change import request_operation
from permits_app.actions.stage_key import stage_key
from permits_app.models import CageMirror, ChangeRequest, SigningKey, Wallet
from permits_app.models.approval import LIVE_STATES
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.contract import Limit
from permits_app.policy_cage.state import CageState, SessionState
from tools_app.core.errors import GolemError
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.json_types import JsonObject
from tools_app.core.units import BPS, format_micro_usd

_ACTOR = "system:session-keys"


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """When a session is renewed. Seconds, operations, basis points of what was granted, seconds before the end."""

    seconds: int
    operations: int
    floor_bps: int
    lead_seconds: int


def read_terms() -> SessionTerms:
    """The server's terms."""
    return SessionTerms(
        seconds=settings.GOLEM_SESSION_SECONDS,
        operations=settings.GOLEM_SESSION_OPERATIONS,
        floor_bps=settings.GOLEM_SESSION_FLOOR_BPS,
        lead_seconds=settings.GOLEM_SESSION_LEAD_SECONDS,
    )


def find_rotation_reason(
    *, session: SessionState, operations: int, budget: int, started_at: int, now: int, terms: SessionTerms
) -> str | None:
    """Why the session's key is due, or None. Pure.

    `operations` and `budget` (micro-USD) are what was granted at `started_at`; times in unix seconds.
    """
    ends_at = min(session.expires_at, started_at + terms.seconds)
    # A short session would otherwise be due from its first moment.
    lead = min(terms.lead_seconds, max(0, ends_at - started_at) // 2)
    if now >= ends_at - lead:
        return f"its time is over in {max(0, ends_at - now)} s"
    left = session.operations_left
    if operations - left >= terms.operations or left * BPS <= operations * terms.floor_bps:
        return f"{left} of its {operations} operations are left"
    if session.budget_left * BPS <= budget * terms.floor_bps:
        return f"{format_micro_usd(session.budget_left)} of its {format_micro_usd(budget)} are left"
    return None


def build_set_session(*, state: CageState, key: str, now: datetime, terms: SessionTerms) -> JsonObject:
    """The arguments of the owners' operation `cage` that appoints `key`, inside the cage's own limits. Pure."""
    seconds = min(terms.seconds, state.limit(Limit.MAX_SESSION_SECONDS))
    return {
        "act": "session",
        "key": key,
        "expires_at": int(now.timestamp()) + seconds,
        "operations": min(terms.operations, state.limit(Limit.MAX_SESSION_OPERATIONS)),
        "budget_micro_usd": state.limit(Limit.MAX_SESSION_BUDGET_MICRO_USD),
    }


def rotate_sessions(*, now: datetime) -> int:
    """Look at every golem behind a cage; how many requests were opened. One that fails stops nobody else's."""
    caged = Wallet.objects.filter(kind=WalletKind.POLICY_CAGE).order_by("pk").values_list("golem_id", flat=True)
    asked = one_by_one(list(caged), lambda pk: rotate_session(golem_id=pk, now=now), what="the next session of golem")
    return sum(request is not None for request in asked)


def rotate_session(*, golem_id: UUID, now: datetime) -> ChangeRequest | None:
    """Ask for the next session when the present one is due; None when it is not, or is asked for already.

    Raises SignerUnavailable, and what reading the Safe raises.
    """
    mirror = CageMirror.objects.filter(cage__golem_id=golem_id).first()
    key = SigningKey.objects.filter(golem_id=golem_id, state=KeyState.ACTIVE).first()
    if mirror is None or key is None:
        return None
    state, terms = CageState.from_dict(mirror.state), read_terms()
    if state.session.key != key.address or key.activated_at is None:
        return None
    reason = find_rotation_reason(
        session=state.session,
        operations=int(key.granted.get("operations", 0)),
        budget=int(key.granted.get("budget_micro_usd", 0)),
        started_at=int(key.activated_at.timestamp()),
        now=int(now.timestamp()),
        terms=terms,
    )
    if reason is None or _is_asked(golem_id, now, terms):
        return None
    golem = Golem.objects.select_related("owner").get(pk=golem_id)
    words = f"the session key {key.address} is due: {reason}"
    staged = stage_key(golem=golem, reason=words, actor=_ACTOR, now=now)
    if not _claim(staged, now, terms):
        return None
    try:
        return ask_for_session(golem=golem, owner=None, reason=words, now=now)
    except GolemError:
        SigningKey.objects.filter(pk=staged.pk).update(asked_at=staged.asked_at)
        raise


def ask_for_session(
    *,
    golem: Golem,
    owner: Any | None,  # Any: whoever is signed in, of the project's user model
    reason: str,
    now: datetime,
) -> ChangeRequest:
    """Stage a key and ask the owners to appoint it; `owner` is who asks, None for the server itself.

    Raises SignerUnavailable, CageNotMirrored, what reading the Safe raises, NotAnOwner.
    """
    mirror = CageMirror.objects.filter(cage__golem=golem).first()
    key = stage_key(golem=golem, reason=reason, actor=_ACTOR if owner is None else f"owner:{owner.pk}", now=now)
    state = CageState.from_dict(mirror.state) if mirror is not None else CageState("", "", "")
    arguments = build_set_session(state=state, key=key.address, now=now, terms=read_terms())
    return request_operation(golem=golem, name="cage", arguments=arguments, owner=owner, reason=reason, now=now)


def _claim(staged: SigningKey, now: datetime, terms: SessionTerms) -> bool:
    """Whether this worker is the one that asks; of two at once one is."""
    lately = now - timedelta(seconds=terms.lead_seconds // 4)
    free = SigningKey.objects.filter(Q(asked_at__isnull=True) | Q(asked_at__lte=lately), pk=staged.pk)
    return bool(free.update(asked_at=now))


def _is_asked(golem_id: UUID, now: datetime, terms: SessionTerms) -> bool:
    """Whether owners are asked for a session now, or refused or missed one within a quarter of the lead."""
    asked = ChangeRequest.objects.filter(golem_id=golem_id, kind="cage", change__act="session")
    lately = now - timedelta(seconds=terms.lead_seconds // 4)
    return asked.filter(Q(state__in=LIVE_STATES) | Q(closed_at__gte=lately)).exists()

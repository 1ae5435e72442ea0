"""Describes each key that may act for a golem's Safe or on an owner's wallet, as session_get_keys tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from permits_app.approvals.cage_rules_text import name_rule
from permits_app.custody.allowed_keys import AllowedKey
from permits_app.models import CageMirror, OutboundTransaction, SigningKey
from permits_app.policy_cage.contract import RuleKind
from permits_app.policy_cage.state import CageState, SessionState
from permits_app.tools.delegated_keys import DelegatedKey, HandedOnKey
from tools_app.toolkit.result import TokenAmount, UsdAmount


@dataclass(frozen=True, slots=True)
class SessionKeyLine:
    """One key as the contract has it. `permissions` are what it may do, `is_active` whether it may now.

    `enforced_by` is cage, allowance or delegation. A cage's key is told by its address, with its role, batches and
    budget; one with an allowance by its address, a line for each token; a delegation by its hash. Of both there are
    `acts_for`, whose money it is, and `left` in the present period. `expires_at` is null for an allowance, which its
    owners end. `last_used` is null where it was not used through this server, which sees no other use of it.
    `usage_count` is null where nobody here saw it appointed. `is_held_here`: this server keeps the key.
    """

    key_id: str
    enforced_by: str
    acts_for: str
    role: int | None
    label: str
    created_at: str | None
    expires_at: str | None
    permissions: tuple[str, ...]
    usage_count: int | None
    last_used: str | None
    operations_left: int | None
    budget_left_usd: UsdAmount | None
    left: TokenAmount | None
    is_active: bool
    is_held_here: bool
    reason: str


def list_permissions(state: CageState, role: int, chain_id: int) -> tuple[str, ...]:
    return tuple(sorted(set(_name_calls(state, role, chain_id))))


def _name_calls(state: CageState, role: int, chain_id: int) -> Iterator[str]:
    kinds = {RuleKind.ROLE_CALL, RuleKind.ROLE_ALLOWANCE, RuleKind.PAYOUT} if role else {RuleKind.CALL}
    place = {RuleKind.ROLE_CALL: 192, RuleKind.ROLE_ALLOWANCE: 160, RuleKind.PAYOUT: 168}
    for (kind, name), value in state.rules.items():
        if value and kind in kinds and (not role or int(name, 16) >> place[RuleKind(kind)] == role):
            yield name_rule(kind, bytes.fromhex(name[2:]), chain_id=chain_id)


def describe_session(
    role: int, named: SessionState, state: CageState, mirror: CageMirror, own: SigningKey | None, now: datetime
) -> SessionKeyLine:
    granted = int(own.granted.get("operations", 0)) if own is not None and own.granted else None
    is_over = named.expires_at <= now.timestamp()
    reason = "it may act"
    if mirror.safe and mirror.contract not in mirror.safe.get("modules", ()):
        reason = "the cage is no module of the Safe"
    elif state.is_halted:
        reason = "the cage is halted"
    elif is_over:
        reason = "its time is over"
    elif not named.operations_left:
        reason = "its batches are used up"
    return SessionKeyLine(
        key_id=named.key,
        enforced_by="cage",
        acts_for=mirror.account,
        role=role,
        label=own.reason if own is not None else "",
        created_at=own.created_at.isoformat() if own is not None else None,
        expires_at=spell_time(named.expires_at),
        permissions=list_permissions(state, role, mirror.chain_id),
        usage_count=max(0, granted - named.operations_left) if granted is not None else None,
        last_used=_find_last_use(own),
        operations_left=named.operations_left,
        budget_left_usd=UsdAmount(named.budget_left),
        left=None,
        is_active=reason == "it may act",
        is_held_here=own is not None,
        reason=reason,
    )


def describe_allowed(given: AllowedKey) -> SessionKeyLine:
    return SessionKeyLine(
        key_id=given.allowance.delegate,
        enforced_by="allowance",
        acts_for=given.safe,
        role=None,
        label="",
        created_at=None,
        expires_at=None,
        permissions=(given.permission,),
        usage_count=given.allowance.used,
        last_used=None,
        operations_left=None,
        budget_left_usd=None,
        left=given.left,
        is_active=given.is_active,
        is_held_here=False,
        reason=given.reason,
    )


def describe_delegated(given: DelegatedKey) -> SessionKeyLine:
    row = given.row
    return SessionKeyLine(
        key_id=row.reference,
        enforced_by="delegation",
        acts_for=row.principal,
        role=None,
        label="",
        created_at=row.created_at.isoformat(),
        expires_at=row.ends_at.isoformat(),
        permissions=(given.permission,),
        usage_count=given.used,
        last_used=given.last_used.isoformat() if given.last_used is not None else None,
        operations_left=None,
        budget_left_usd=None,
        left=given.left,
        is_active=given.is_active,
        is_held_here=True,
        reason=given.reason,
    )


def describe_handed_on(given: HandedOnKey) -> SessionKeyLine:
    row = given.row
    return SessionKeyLine(
        key_id=row.reference,
        enforced_by="delegation",
        acts_for=given.principal,
        role=None,
        label="",
        created_at=row.created_at.isoformat(),
        expires_at=row.ends_at.isoformat(),
        permissions=(given.permission,),
        usage_count=None,
        last_used=None,
        operations_left=None,
        budget_left_usd=None,
        left=None,
        is_active=given.is_active,
        is_held_here=False,
        reason=given.reason,
    )


def _find_last_use(own: SigningKey | None) -> str | None:
    """When a transaction of a key of this server was sent last."""
    if own is None:
        return None
    sent = OutboundTransaction.objects.filter(sender=own.address, broadcast_count__gt=0)
    at = sent.order_by("-created_at").values_list("created_at", flat=True).first()
    return at.isoformat() if at is not None else None


def spell_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()

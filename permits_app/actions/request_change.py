"""request_change: a permit of tier HIGH or CRITICAL, or an owner's operation, becomes a request to the owners.

What they will be shown is written and hashed here, once. Equal wishes fold into one request; an agent has only so many
open ones per tier, so no flood of small ones keeps a great one out. Appends ChangeRequested; emits approval:requested.
Seed: 002, "PrivilegedTool"; decisions, "Tiers of approval".
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F

from archetypes_app.models import Golem
from archetypes_app.ownership import list_owners
from archetypes_app.toolset import resolve_toolset
from permits_app.approvals import digest, states
from permits_app.approvals.errors import NotAnOwner, ReasonNeeded, TooManyChanges
from permits_app.approvals.operations import find_operation
from permits_app.approvals.operations.base import Proposal
from permits_app.approvals.rules import Quorum, find_quorum
from permits_app.approvals.statement import describe_permit
from permits_app.models import ActionPermit, ChangeRequest
from permits_app.models.approval import LIVE_STATES, RISK_RANK, ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.policy import read_policy
from tools_app.core.events import EventType
from tools_app.toolkit.enums import RiskTier

PERMIT_KIND = "permit"


def find_waiting_permit(*, golem: Golem, action_hash: str) -> ActionPermit | None:
    """The permit of an equal action that waits for owners already; counts the repetition on its request."""
    request = ChangeRequest.objects.filter(
        golem=golem, kind=PERMIT_KIND, fold_hash=action_hash, state__in=LIVE_STATES,
        permit__status=PermitStatus.AWAITING_APPROVAL,
    ).select_related("permit").first()  # fmt: skip
    if request is None:
        return None
    ChangeRequest.objects.filter(pk=request.pk).update(repeats=F("repeats") + 1)
    found: ActionPermit = request.permit
    return found


def check_inbox_room(*, golem: Golem, api_key_id: Any, tier: RiskTier) -> None:
    """Raises TooManyChanges when the agent has as many open requests of `tier` as it may."""
    most = settings.GOLEM_APPROVAL_OPEN_PER_AGENT
    waiting = ChangeRequest.objects.filter(
        golem=golem, api_key_id=api_key_id, asked_by__isnull=True, risk_tier=tier.value, state=ChangeState.OPEN
    ).count()
    if waiting >= most:
        raise TooManyChanges(
            f"{waiting} requests of tier {tier} of this agent wait for its owners; it may have {most}",
            observed=str(waiting), limit=str(most), risk_tier=tier.value,
        )  # fmt: skip


def request_permit_approval(*, permit: ActionPermit, actor: str, now: datetime) -> ChangeRequest:
    """Open the request of a permit that was just saved as AWAITING_APPROVAL; joins the caller's transaction."""
    golem = permit.golem
    tier = RiskTier(permit.risk_tier)
    check_inbox_room(golem=golem, api_key_id=permit.api_key_id, tier=tier)
    maker = permit.api_key.created_by_id if permit.api_key is not None else None
    request = ChangeRequest(
        golem=golem,
        kind=PERMIT_KIND,
        title=_title_of(permit),
        permit=permit,
        api_key_id=permit.api_key_id,
        asker=actor,
        change={"permit_id": str(permit.pk)},
        shown=describe_permit(permit),
        plan_hash=permit.plan_hash,
        policy_hash=permit.policy_hash,
        fold_hash=permit.action_hash,
        value_micro_usd=permit.value_micro_usd,
        deadline_at=permit.expires_at,
    )
    return _open(request, tier=tier, asker_id=None, key_maker_id=maker, now=now)


def request_operation(
    *, golem: Golem, name: str, arguments: Mapping[str, Any], owner: Any, reason: str, now: datetime
) -> ChangeRequest:
    """Ask the owners for an operation, as one of them. An equal request that is open is answered instead.

    Raises UnknownOperation, ChangeUnchanged, InvalidParams, NotAnOwner, ReasonNeeded.
    """
    if not list_owners(golem).filter(pk=owner.pk).exists():
        raise NotAnOwner(f"{owner} does not own {golem.name}", golem_id=str(golem.pk))
    if not reason.strip():
        raise ReasonNeeded("say why; the reason is shown to who decides and kept in the audit log")
    operation = find_operation(name)
    with transaction.atomic():
        locked = Golem.objects.select_for_update(of=("self",)).select_related("archetype", "owner").get(pk=golem.pk)
        proposal = operation.propose(locked, arguments)
        fold_hash = digest.hash_change(golem_id=golem.pk, kind=name, change=proposal.change)
        waiting = ChangeRequest.objects.filter(golem=golem, fold_hash=fold_hash, state__in=LIVE_STATES).first()
        if waiting is not None:
            ChangeRequest.objects.filter(pk=waiting.pk).update(repeats=F("repeats") + 1)
            return waiting
        policy = read_policy(golem=locked, toolset=resolve_toolset(locked))
        request = ChangeRequest(
            golem=locked,
            kind=name,
            title=proposal.title,
            asked_by=owner,
            asker=f"owner:{owner.pk}",
            reason=reason.strip(),
            change=proposal.change,
            shown=_describe(locked, proposal),
            plan_hash=fold_hash,
            policy_hash=policy.hash,
            fold_hash=fold_hash,
            value_micro_usd=proposal.value_micro_usd,
            cooling_seconds=proposal.cooling_seconds,
            deadline_at=now + timedelta(hours=settings.GOLEM_APPROVAL_HOURS),
        )
        return _open(request, tier=proposal.risk_tier, asker_id=owner.pk, key_maker_id=None, now=now)


def _open(
    request: ChangeRequest, *, tier: RiskTier, asker_id: int | None, key_maker_id: int | None, now: datetime
) -> ChangeRequest:
    owners = list_owners(request.golem).values_list("pk", flat=True)
    quorum: Quorum = find_quorum(tier=tier, owner_ids=owners, asker_id=asker_id, key_maker_id=key_maker_id)
    request.id = uuid.uuid4()
    request.risk_tier, request.risk_rank = tier.value, RISK_RANK[tier.value]
    request.required_approvals = quorum.required
    request.barred_owner_id = quorum.barred_owner_id
    request.is_single_owner = quorum.is_single_owner
    request.needs_second_factor = quorum.needs_second_factor
    request.digest = digest.hash_request(request)
    try:
        with transaction.atomic():
            request.save(force_insert=True)
    except IntegrityError as error:
        if "change_equal_wish_once" not in str(error):
            raise
        raise TooManyChanges("an equal request was opened at the same moment; look it up") from None
    states.tell(
        request=request, audit="ChangeRequested", event=EventType.APPROVAL_REQUESTED, actor=request.asker, now=now,
        reason=request.reason, facts={"policy_hash": request.policy_hash, "needs": str(request.required_approvals)},
    )  # fmt: skip
    return request


def _describe(golem: Golem, proposal: Proposal) -> dict[str, Any]:
    return {
        "golem": golem.name,
        "differences": [each.as_dict() for each in proposal.differences],
        "cooling_seconds": str(proposal.cooling_seconds),
    }


def _title_of(permit: ActionPermit) -> str:
    moved = [flow["bound_units"] for flow in permit.bounds.get("spends", [])[:2]]
    words = permit.action_type.replace("_", " ").capitalize()
    what = f"{words} {' and '.join(moved)}".strip() if moved else words
    return f"{what} at {permit.venue}"[:200]

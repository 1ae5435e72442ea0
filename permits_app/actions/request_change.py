"""request_change: a permit of tier HIGH or CRITICAL, or an owner's operation, becomes a request to the owners.

What they will be shown is written and hashed here, once. Equal wishes fold into one request; an agent has only so many
open ones per tier, so no flood of small ones keeps a great one out. Appends ChangeRequested; emits approval:requested.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F

from archetypes_app.models import Golem
from archetypes_app.ownership import has_power, list_deciders
from archetypes_app.roles import Power
from archetypes_app.toolset import resolve_toolset
from permits_app.approval_errors import NotAnOwner, ReasonNeeded, SafeNonceTaken, TooManyChanges
from permits_app.approvals import request_digest, request_states
from permits_app.approvals.address_lines import describe_addresses
from permits_app.approvals.approval_rules import Quorum, find_quorum
from permits_app.approvals.approval_statement import describe_permit
from permits_app.approvals.loan_risk import read_loan_risk, say_growth
from permits_app.approvals.operations import find_operation
from permits_app.approvals.operations.base import ObservingOperation, Proposal, SafeTxDraft
from permits_app.approvals.owner_calls import describe_fields, describe_owner_call
from permits_app.approvals.simulated_loss import say_loss_briefly
from permits_app.limits.policy import read_policy
from permits_app.models import ActionPermit, ChangeRequest, OwnerTransaction
from permits_app.models.approval import LIVE_STATES, RISK_RANK, ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.permits.kept_bounds import read_bounds
from tools_app.core.events import EventType
from tools_app.core.storable_text import make_plain
from tools_app.core.stored_json import read_stored
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import format_units
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import format_chain

PERMIT_KIND = "permit"
SERVER = "system:server"
SAFE_TX = "safe_tx"
_MOST_STAKE = 2**61
WISH = "owner_operation"
"""Where the effect of a privileged tool names the owners' operation it asks for: `name` and `arguments`."""


def find_waiting_permit(*, golem: Golem, action_hash: str) -> ActionPermit | None:
    """The permit of an equal action that waits for owners already; counts the repetition on its request."""
    request = (
        ChangeRequest.objects.filter(
            golem=golem,
            kind=PERMIT_KIND,
            fold_hash=action_hash,
            state__in=LIVE_STATES,
            permit__status=PermitStatus.AWAITING_APPROVAL,
        )
        .select_related("permit")
        .first()
    )
    if request is None:
        return None
    ChangeRequest.objects.filter(pk=request.pk).update(repeats=F("repeats") + 1)
    return request.permit


@dataclass(frozen=True, slots=True)
class _WishedOperation:
    """The owners' operation that a permit's tool wishes for."""

    name: str
    arguments: dict[str, object]


def check_inbox_room(*, golem: Golem, api_key_id: UUID | None, tier: RiskTier) -> None:
    """Raises TooManyChanges when the agent has as many open requests of `tier` as it may."""
    most = settings.GOLEM_APPROVAL_OPEN_PER_AGENT
    waiting = ChangeRequest.objects.filter(
        golem=golem, api_key_id=api_key_id, asked_by__isnull=True, risk_tier=tier.value, state=ChangeState.OPEN
    ).count()
    if waiting >= most:
        raise TooManyChanges(
            f"{waiting} requests of tier {tier} of this agent wait for its owners; it may have {most}",
            observed=str(waiting),
            limit=str(most),
            risk_tier=tier.value,
        )


def request_permit_approval(
    *, permit: ActionPermit, actor: str, now: datetime, safe_tx: SafeTxDraft | None = None, why: str = ""
) -> ChangeRequest:
    """Open the request of a permit that was just saved as AWAITING_APPROVAL; joins the caller's transaction.

    `why` is what its agent says it is for.
    `safe_tx` is what the owners of its Safe sign, where each plan needs them. Raises TooManyChanges, SafeNonceTaken.
    """
    golem = permit.golem
    tier = RiskTier(permit.risk_tier)
    check_inbox_room(golem=golem, api_key_id=permit.api_key_id, tier=tier)
    maker = permit.api_key.created_by_id if permit.api_key is not None else None
    told = permit.expected_outcome.get("details", {}).get(WISH)
    wish = read_stored(_WishedOperation, told) if told else None
    proposal = find_operation(wish.name).propose(golem, wish.arguments) if wish is not None else None
    if proposal is not None:
        proposal = _end_by_time(proposal, permit.expires_at)
    change: dict[str, object] = {"permit_id": str(permit.pk)}
    if wish is not None and proposal is not None:
        change |= {"operation": wish.name, **_bind(proposal)}
    elif safe_tx is not None:
        change[SAFE_TX] = safe_tx.as_dict()
    shown = describe_permit(permit)
    if proposal is not None:
        shown |= _describe(golem, proposal)
    elif safe_tx is not None:
        shown[SAFE_TX] = describe_fields(safe_tx.as_dict())
    request = ChangeRequest(
        golem=golem,
        kind=PERMIT_KIND,
        title=proposal.title if proposal is not None else _title_of(permit),
        permit=permit,
        api_key_id=permit.api_key_id,
        asker=actor,
        reason=why,
        change=change,
        shown=shown,
        plan_hash=permit.plan_hash,
        policy_hash=permit.policy_hash,
        fold_hash=permit.action_hash,
        value_micro_usd=max(_measure_stake(permit), proposal.value_micro_usd if proposal is not None else 0),
        cooling_seconds=proposal.cooling_seconds if proposal is not None else 0,
        deadline_at=permit.expires_at,
    )
    draft = proposal.safe_tx if proposal is not None else safe_tx
    return _open(request, proposal=proposal, draft=draft, tier=tier, asker_id=None, key_maker_id=maker, now=now)


def request_operation(
    *,
    golem: Golem,
    name: str,
    arguments: Mapping[str, object],
    owner: Any | None,  # Any: whoever is signed in, of the project's user model
    reason: str,
    now: datetime,
) -> ChangeRequest:
    """Ask the owners for an operation, as one of them. An equal request that is open is answered instead.

    `owner` None is the server itself, such as for a session key that is due: nobody is barred from deciding then.

    Raises UnknownOperation, ChangeUnchanged, InvalidParams, NotAnOwner, ReasonNeeded.
    """
    if owner is not None and not has_power(golem, owner, Power.OPERATE):
        raise NotAnOwner(f"{owner} neither owns nor operates {golem.name}", golem_id=str(golem.pk))
    if not make_plain(reason).strip():
        raise ReasonNeeded("say why; the reason is shown to who decides and kept in the audit log")
    operation = find_operation(name)
    if isinstance(operation, ObservingOperation):
        arguments = operation.observe(golem, arguments, now=now)
    return _ask(golem, name, arguments, owner, make_plain(reason).strip(), now)


@retry_aborted
def _ask(
    golem: Golem,
    name: str,
    arguments: Mapping[str, object],
    owner: Any | None,  # Any: whoever is signed in, of the project's user model
    reason: str,
    now: datetime,
) -> ChangeRequest:
    operation = find_operation(name)
    with transaction.atomic():
        rows = Golem.objects.select_for_update(no_key=True, of=("self",)).select_related("archetype", "owner")
        locked = rows.get(pk=golem.pk)
        proposal = operation.propose(locked, arguments)
        fold_hash = request_digest.hash_change(golem_id=golem.pk, kind=name, change=proposal.change)
        waiting = ChangeRequest.objects.filter(golem=golem, fold_hash=fold_hash, state__in=LIVE_STATES).first()
        if waiting is not None:
            ChangeRequest.objects.filter(pk=waiting.pk).update(repeats=F("repeats") + 1)
            return waiting
        policy = read_policy(golem=locked, toolset=resolve_toolset(locked))
        deadline_at = now + timedelta(hours=settings.GOLEM_APPROVAL_HOURS)
        proposal = _end_by_time(proposal, deadline_at)
        request = ChangeRequest(
            golem=locked,
            kind=name,
            title=proposal.title,
            asked_by=owner,
            asker=f"owner:{owner.pk}" if owner is not None else SERVER,
            reason=reason,
            change=_bind(proposal),
            shown=_describe(locked, proposal),
            plan_hash=request_digest.hash_change(golem_id=golem.pk, kind=name, change=_bind(proposal)),
            policy_hash=policy.hash,
            fold_hash=fold_hash,
            value_micro_usd=proposal.value_micro_usd,
            cooling_seconds=proposal.cooling_seconds,
            deadline_at=deadline_at,
        )
        asker_id = owner.pk if owner is not None else None
        return _open(
            request,
            proposal=proposal,
            draft=proposal.safe_tx,
            tier=proposal.risk_tier,
            asker_id=asker_id,
            key_maker_id=None,
            now=now,
        )


def _open(
    request: ChangeRequest,
    *,
    proposal: Proposal | None,
    draft: SafeTxDraft | None,
    tier: RiskTier,
    asker_id: int | None,
    key_maker_id: int | None,
    now: datetime,
) -> ChangeRequest:
    owners = list_deciders(request.golem).values_list("pk", flat=True)
    quorum: Quorum = find_quorum(
        tier=tier,
        owner_ids=owners,
        asker_id=asker_id,
        key_maker_id=key_maker_id,
        is_tightening=proposal is not None and proposal.is_tightening and request.permit_id is None,
    )
    request.id = uuid.uuid4()
    request.risk_tier, request.risk_rank = tier.value, RISK_RANK[tier.value]
    request.required_approvals = quorum.required
    request.barred_owner_id = quorum.barred_owner_id
    request.is_single_owner = quorum.is_single_owner
    request.needs_second_factor = quorum.needs_second_factor
    _name_addresses(request)
    request.digest = request_digest.hash_request(request)
    try:
        with transaction.atomic():
            request.save(force_insert=True)
            if draft is not None:
                _ask_the_safe(request, draft)
    except IntegrityError as error:
        if "owner_transaction_one_per_nonce" in str(error):
            raise SafeNonceTaken("another request of this Safe was made at this moment; ask again") from None
        if "change_equal_wish_once" not in str(error):
            raise
        raise TooManyChanges("an equal request was opened at the same moment; look it up") from None
    request_states.tell(
        request=request,
        audit="ChangeRequested",
        event=EventType.APPROVAL_REQUESTED,
        actor=request.asker,
        now=now,
        reason=request.reason,
        facts={"policy_hash": request.policy_hash, "needs": str(request.required_approvals)},
    )
    return request


def _bind(proposal: Proposal) -> dict[str, object]:
    """What is hashed and carried out: the change, and the transaction that carries it out on chain."""
    return proposal.change if proposal.safe_tx is None else {**proposal.change, SAFE_TX: proposal.safe_tx.as_dict()}


def _end_by_time(proposal: Proposal, deadline_at: datetime | None) -> Proposal:
    """What a Safe's owners sign ends with the time in which it may be decided, and what it waits after that."""
    if proposal.safe_tx is None or deadline_at is None:
        return proposal
    ends_at = deadline_at + timedelta(seconds=proposal.cooling_seconds)
    return replace(proposal, safe_tx=proposal.safe_tx.end_at(ends_at))


def _ask_the_safe(request: ChangeRequest, draft: SafeTxDraft) -> None:
    fields = draft.as_dict()
    OwnerTransaction.objects.create(
        request=request,
        chain_id=draft.chain_id,
        safe=draft.safe,
        safe_nonce=draft.tx.nonce,
        to=draft.tx.to,
        value_wei=fields["value"],
        data=fields["data"],
        operation=draft.tx.operation,
        threshold=draft.threshold,
        own_key=draft.own_key,
        safe_tx_hash=fields["safe_tx_hash"],
        asked_block=draft.block,
    )


def _describe(golem: Golem, proposal: Proposal) -> dict[str, object]:
    shown: dict[str, object] = {
        "golem": golem.name,
        "differences": [each.as_dict() for each in proposal.differences],
        "cooling_seconds": str(proposal.cooling_seconds),
    }
    if proposal.safe_tx is not None:
        fields = proposal.safe_tx.as_dict()
        shown["chain"] = format_chain(proposal.safe_tx.chain_id)
        shown["calls"] = [describe_owner_call(fields, label=proposal.title)]
        shown[SAFE_TX] = describe_fields(fields)
    return shown


def _name_addresses(request: ChangeRequest) -> None:
    """Name each address of a request and its suspicious features, as part of the statement for owners."""
    chain_id = request.permit.chain_id if request.permit is not None else request.golem.home_chain_id
    lines = describe_addresses(request.shown, golem=request.golem, chain_id=chain_id)
    if lines:
        request.shown = {**request.shown, "addresses": lines}


def _measure_stake(permit: ActionPermit) -> int:
    """Micro-USD that may be lost: the most its calls take, and what covers the debts that they leave."""
    risk = read_loan_risk(permit.expected_outcome.get("positions", []))
    return permit.value_micro_usd + (min(risk.cover_micro_usd, _MOST_STAKE) if risk is not None else 0)


def _title_of(permit: ActionPermit) -> str:
    # A loan takes nothing out of the account: what it brings is told instead.
    bounds = read_bounds(permit.bounds)
    flows = bounds.spends or bounds.receives
    moved = [format_units(flow.bound, flow.token.decimals, flow.token.symbol) for flow in flows[:2]]
    words = permit.action_type.replace("_", " ").capitalize()
    what = f"{words} {' and '.join(moved)}".strip() if moved else words
    expected = permit.expected_outcome
    told = (say_growth(expected.get("positions", [])), say_loss_briefly(expected))
    return ", ".join((f"{what} at {permit.venue}", *filter(None, told)))[:200]

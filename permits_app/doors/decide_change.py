"""decide_change: one owner approves or rejects what they saw; the last approval needed has it executed.

The second factor is used up first, in a transaction of its own. Then golem, permit and request are locked:
open, not stale, this owner allowed, the digest the one they saw. The database refuses a decision by who asked, without
the second factor, or about another digest, whatever this code does. Appends OwnerDecided and ChangeApproved or
ChangeRejected.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from archetypes_app.ownership import has_power
from archetypes_app.roles import Power
from permits_app.actions.close_stale_change import close_stale_change
from permits_app.actions.end_expired_signatures import SIGNED_ENDED, end_expired_signatures, has_ended
from permits_app.actions.release_permit import end_waiting_permit
from permits_app.actions.settle_change import settle_change
from permits_app.approval_errors import (
    AlreadyDecided,
    ChangeClosed,
    ChangeNotFound,
    ChangeStale,
    NotAnOwner,
    OwnRequest,
    ReasonNeeded,
)
from permits_app.approvals import request_states, second_factor
from permits_app.approvals.owner_states import is_sent, keep_signature
from permits_app.approvals.passkey_challenges import FactorUse, PasskeyAnswer, name_action
from permits_app.approvals.signatures import check_owner_signature
from permits_app.approvals.stale_requests import check_safe_current, find_staleness
from permits_app.approvals.votes import end_lost_approvals, read_standing
from permits_app.models import ChangeComment, ChangeRequest, OwnerApproval, OwnerTransaction, Withdrawal
from permits_app.models.approval import LIVE_STATES, ChangeState, Verdict
from permits_app.models.owner_transaction import OwnerTransactionState
from permits_app.models.permit import PermitStatus
from permits_app.permits.row_locks import lock_request
from permits_app.tasks import commit_change_task
from tools_app.core.errors import BrokerUnavailable
from tools_app.core.events import EventType
from tools_app.core.storable_text import make_plain
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.worker_dispatch import enqueue

logger = logging.getLogger(__name__)


def decide_change(
    *,
    request_id: UUID,
    owner: object,
    verdict: Verdict,
    reason: str,
    code: str,
    seen_digest: str,
    now: datetime,
    signature: str = "",
    passkey: PasskeyAnswer | None = None,
) -> ChangeRequest:
    """Record the decision of `owner`. `seen_digest` is what their page showed; `code` or `passkey` is a second factor.

    A change on chain is approved with `signature`, 0x-hex: the owner's own, over the SafeTx that was shown.
    Raises ChangeNotFound, NotAnOwner, ChangeClosed, ChangeStale, OwnRequest, AlreadyDecided, ReasonNeeded,
    SecondFactorMissing, SecondFactorWrong, PasskeyRefused, PasskeyCopied, SignatureMissing, SignatureWrong, and what
    a node raises.
    """
    request = _load(request_id)
    _check_may_decide(request, owner, verdict, reason)
    is_proven = request.needs_second_factor and verdict is Verdict.APPROVE
    _check_open(request)
    _close_if_stale(request, seen_digest, now)
    signed = _read_signature(request, owner, signature, now) if verdict is Verdict.APPROVE else None
    proof = ""
    if is_proven:
        action = name_action(FactorUse.APPROVE, f"{request.pk}:{seen_digest}")
        proof = second_factor.check_second_factor(user=owner, code=code, passkey=passkey, action=action, now=now)
    return _decide(request, owner, verdict, make_plain(reason).strip(), seen_digest, signed, proof, now)


@retry_aborted
def _decide(
    request: ChangeRequest,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    verdict: Verdict,
    reason: str,
    seen_digest: str,
    signed: tuple[str, bytes] | None,
    proof: str,
    now: datetime,
) -> ChangeRequest:
    with transaction.atomic():
        request = _lock(request)
        _check_open(request)
        end_lost_approvals(OwnerApproval.objects.filter(request=request), now=now)
        _check_may_decide(request, owner, verdict, reason)
        if OwnerApproval.objects.filter(request=request, owner=owner, ended_at__isnull=True).exists():
            if settle_change(request=request, actor=f"owner:{owner.pk}", now=now):
                _execute_once_committed(request)
                return request
            raise AlreadyDecided(
                "your decision on this request is recorded and counts; it waits for others",
                request_id=str(request.pk),
            )
        if signed is not None:
            keep_signature(request=request, owner=owner, signer=signed[0], signature=signed[1], now=now)
        OwnerApproval.objects.create(
            request=request,
            owner=owner,
            verdict=verdict,
            reason=reason,
            digest=seen_digest,
            has_second_factor=bool(proof),
            decided_at=now,
        )
        _settle(request, owner, verdict, reason, proof, now)
    return request


def sign_change(*, request_id: UUID, owner: object, signature: str, seen_digest: str, now: datetime) -> ChangeRequest:
    """Hand in a signature without approving: for who may not approve, or when the Safe needs more than approved.

    Raises ChangeNotFound, NotAnOwner, ChangeClosed, ChangeStale, SignatureMissing, SignatureWrong, and what a node
    raises.
    """
    request = _load(request_id)
    if not has_power(request.golem, owner, Power.DECIDE):
        raise NotAnOwner("only an owner of this golem signs for it here")
    _check_may_sign(request)
    if request.state == ChangeState.OPEN:
        _close_if_stale(request, seen_digest, now)
    if has_ended(request, at=now):
        end_expired_signatures(request=request, now=now)
        raise ChangeClosed(SIGNED_ENDED, state=ChangeState.EXPIRED)
    return _sign(request, owner, _read_signature(request, owner, signature, now), now)


@retry_aborted
def _sign(
    request: ChangeRequest,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    signed: tuple[str, bytes] | None,
    now: datetime,
) -> ChangeRequest:
    with transaction.atomic():
        request = _lock(request)
        _check_may_sign(request)
        if signed is not None:
            keep_signature(request=request, owner=owner, signer=signed[0], signature=signed[1], now=now)
        if request.state == ChangeState.APPROVED:
            transaction.on_commit(lambda: execute_soon(request.pk))
    return request


@retry_aborted
def comment_change(
    *,
    request_id: UUID,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    text: str,
    now: datetime,
) -> ChangeComment:
    """Keep a comment of an owner; it decides nothing. Raises ChangeNotFound, NotAnOwner, ReasonNeeded."""
    request = _load(request_id)
    if not has_power(request.golem, owner, Power.DECIDE):
        raise NotAnOwner("only owners of this golem comment on its requests")
    if not text.strip():
        raise ReasonNeeded("an empty comment says nothing")
    with transaction.atomic():
        comment = ChangeComment.objects.create(request=request, author=owner, text=text.strip()[:2_000], written_at=now)
        request_states.tell(
            request=request,
            audit="ChangeCommented",
            event=EventType.APPROVAL_COMMENTED,
            actor=f"owner:{owner.pk}",
            now=now,
        )
    return comment


@retry_aborted
def cancel_change(
    *,
    request_id: UUID,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    reason: str,
    now: datetime,
) -> ChangeRequest:
    """Withdraw a request, also one that is approved and still waits, as any owner. Raises as decide_change."""
    request = _load(request_id)
    if not has_power(request.golem, owner, Power.DECIDE):
        raise NotAnOwner("only owners of this golem cancel its requests")
    if not make_plain(reason).strip():
        raise ReasonNeeded("say why it is cancelled")
    with transaction.atomic():
        request = _lock(request)
        is_begun = Withdrawal.objects.filter(request=request).exists()
        is_under_way = request.claimed_at is not None or is_begun or is_sent(request)
        if request.state not in (ChangeState.OPEN, ChangeState.APPROVED) or is_under_way:
            raise ChangeClosed(f"the request is {request.get_state_display().lower()}", state=request.state)
        actor = f"owner:{owner.pk}"
        request_states.move_request(
            request=request, to=ChangeState.CANCELLED, actor=actor, now=now, reason=make_plain(reason).strip()
        )
        end_waiting_permit(request, PermitStatus.CANCELLED, actor, make_plain(reason).strip(), now)
    return request


def _load(request_id: UUID) -> ChangeRequest:
    request = (
        ChangeRequest.objects.select_related("golem__archetype", "permit", "api_key").filter(pk=request_id).first()
    )
    if request is None:
        raise ChangeNotFound(f"there is no request {request_id}")
    return request


def _lock(request: ChangeRequest) -> ChangeRequest:
    """The request as it is now, locked with what moves with it: the halt and every commit take the golem's lock too."""
    lock_request(request)
    return ChangeRequest.objects.select_related("golem", "permit", "api_key").get(pk=request.pk)


def _check_may_decide(
    request: ChangeRequest,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    verdict: Verdict,
    reason: str,
) -> None:
    if not has_power(request.golem, owner, Power.DECIDE):
        raise NotAnOwner("only an owner of this golem decides; an operator of the server does not")
    if verdict is Verdict.REJECT and not make_plain(reason).strip():
        raise ReasonNeeded("a rejection needs a reason")
    if verdict is Verdict.APPROVE and read_standing(request).barred_owner_id == owner.pk:
        raise OwnRequest("another owner has to approve what you, or an agent with your key, asked for")


def _check_may_sign(request: ChangeRequest) -> None:
    asked: OwnerTransaction | None = getattr(request, "owner_transaction", None)
    if asked is None:
        raise ChangeClosed("nothing of this request is signed by the owners of a Safe", state=request.state)
    if request.state not in LIVE_STATES or asked.state != OwnerTransactionState.SIGNING:
        raise ChangeClosed(f"the request is {request.get_state_display().lower()}", state=request.state)


def _read_signature(
    request: ChangeRequest,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    text: str,
    now: datetime,
) -> tuple[str, bytes] | None:
    """Who signed and the bytes; None for a change that is none on chain, or that `owner` signed before."""
    asked: OwnerTransaction | None = getattr(request, "owner_transaction", None)
    if asked is None:
        return None
    try:
        safe = check_safe_current(request, now=now)
    except ChangeStale as error:
        close_stale_change(request=request, why=error.detail, now=now)
        raise
    assert safe is not None
    if not text.strip() and asked.signatures.filter(given_by=owner).exists():
        return None
    return check_owner_signature(asked, safe, text)


def _check_open(request: ChangeRequest) -> None:
    if request.state == ChangeState.STALE:
        raise ChangeStale(request.state_reason or "the plan or the policy moved", request_id=str(request.pk))
    if request.state != ChangeState.OPEN:
        raise ChangeClosed(f"the request is {request.get_state_display().lower()}", state=request.state)


def _close_if_stale(request: ChangeRequest, seen_digest: str, now: datetime) -> None:
    if seen_digest != request.digest:
        raise ChangeStale("the page showed another request than the one that is open now; read it again")
    if now >= request.deadline_at:
        raise ChangeClosed("the request timed out", state=ChangeState.EXPIRED)
    why = find_staleness(request)
    if not why:
        return
    close_stale_change(request=request, why=why, now=now)
    raise ChangeStale(why, request_id=str(request.pk))


def _settle(
    request: ChangeRequest,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    verdict: Verdict,
    reason: str,
    proof: str,
    now: datetime,
) -> None:
    actor = f"owner:{owner.pk}"
    standing = read_standing(request)
    # The decision that settles the request is told by its new state.
    is_partial = verdict is Verdict.APPROVE and not standing.is_met
    request_states.tell(
        request=request,
        audit="OwnerDecided",
        event=EventType.APPROVAL_GRANTED if is_partial else None,
        actor=actor,
        now=now,
        reason=reason,
        facts={
            "verdict": str(verdict),
            "given": str(standing.given),
            "needs": str(standing.required),
            **({"second_factor": proof} if proof else {}),
        },
    )
    if verdict is Verdict.REJECT:
        request_states.move_request(
            request=request, to=ChangeState.REJECTED, actor=actor, now=now, reason=reason, decided_at=now
        )
        end_waiting_permit(request, PermitStatus.BLOCKED, actor, f"rejected by an owner: {reason}", now)
        return
    if is_partial:
        return
    settle_change(request=request, actor=actor, now=now)
    _execute_once_committed(request)


def _execute_once_committed(request: ChangeRequest) -> None:
    if not request.cooling_seconds:
        transaction.on_commit(lambda: execute_soon(request.pk))


def execute_soon(request_id: UUID) -> None:
    """Hand an approved request to a worker; without a broker the sweep does."""
    try:
        enqueue(commit_change_task, request_id=str(request_id))
    except BrokerUnavailable:
        logger.warning("change request %s is approved; the sweep executes it", request_id)

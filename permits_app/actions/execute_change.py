"""execute_change: an approved request takes effect, once. Approved means executed.

A permit goes back to CREATED after hooks and simulation judged the stored plan anew (the tool is never asked again),
and is committed at once, or announced when the Warden is on; where a Safe's owners sign plans, with their signatures.
An owner's operation is applied in one transaction; one on chain is released, relayed, and applied here when the chain
has it. A worker claims the request first; the sweep hands it to another when that one died. Appends ChangeExecuted.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.actions.announce_warden_actions import announce_permit
from permits_app.actions.carry_out_withdrawal import carry_out_withdrawal
from permits_app.actions.close_stale_change import close_stale_change
from permits_app.actions.commit import commit_permit
from permits_app.actions.end_expired_signatures import end_expired_signatures, has_ended
from permits_app.actions.follow_approved_permits import follow_approved_permit
from permits_app.actions.relay_owner_transaction import count_missing, relay_owner_transaction
from permits_app.actions.release_permit import FreshJudgement, end_waiting_permit, open_again, resimulate
from permits_app.actions.start_commit import start_commit
from permits_app.actions.sync_policy_cage import sync_policy_cage
from permits_app.approval_errors import ChangeStale, SignaturesIncomplete
from permits_app.approvals import request_states
from permits_app.approvals.operations import find_operation
from permits_app.approvals.operations.base import ChainBoundOperation
from permits_app.approvals.operations.cage import find_mirror
from permits_app.approvals.owner_states import find_owner_transaction, is_plan, release_owner_transaction
from permits_app.approvals.safe_nonces import check_turn
from permits_app.approvals.safe_proposals import join_owner_signatures
from permits_app.approvals.stale_requests import check_safe_current, find_staleness
from permits_app.approvals.warden_announcements import is_warden_on, wait_of
from permits_app.custody.safe_view import SafeView
from permits_app.errors import PermitNotCommittable
from permits_app.models import ActionPermit, ChangeExecution, ChangeRequest, OwnerTransaction
from permits_app.models.approval import ChangeState
from permits_app.models.owner_transaction import OwnerTransactionState
from permits_app.models.permit import PermitStatus
from permits_app.models.withdrawal import WITHDRAW
from permits_app.permits.row_locks import lock_action, lock_request, lock_settings
from tools_app.core import clock
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.json_types import JsonObject
from tools_app.core.required_value import require
from tools_app.core.transaction_retry import retry_aborted

logger = logging.getLogger(__name__)

_ACTOR = "system:approvals"


def execute_change(*, request_id: UUID, now: datetime) -> JsonObject | None:
    """Execute one approved request whose wait is over; None when it is not due, or another worker has it.

    Never raises a GolemError: what went wrong is in the request. Safe to run twice and twice at once.
    """
    request = _claim(request_id, now)
    if request is None:
        return None
    asked = find_owner_transaction(request)
    try:
        if asked is not None and not is_plan(request):
            _carry_out_on_chain(request, asked, now)
        elif request.kind == WITHDRAW:
            _withdraw(request, now)
        elif request.permit_id is None:
            _carry_out_here(request, now)
        else:
            _release_permit(request, asked, now)
    except GolemError as error:
        if error.next_step is Recovery.WAIT:
            # Told once: the sweep asks again every few seconds, for as long as nobody does what is missing.
            is_new = request.problem.get("code") != error.code
            logger.log(logging.WARNING if is_new else logging.DEBUG, "change %s waits: %s", request_id, error.code)
            ChangeRequest.objects.filter(pk=request_id).update(claimed_at=None, problem=error.as_problem())
            return None
        _fail(request, error, clock.now())
    return describe_execution(ChangeRequest.objects.get(pk=request_id))


def record_late_execution(*, asked: OwnerTransaction, now: datetime) -> None:
    """The chain executed what the request had been closed without: say so, and let the mirror follow.

    Nothing is written here that belonged to the request: what holds on this server may have been decided anew since.
    """
    request = asked.request
    if request.state not in (ChangeState.FAILED, ChangeState.STALE):
        return
    mirror = find_mirror(request.golem)
    result: dict[str, object] = {"tx_hash": asked.executed_in, "safe_nonce": str(asked.safe_nonce)}
    if mirror is not None:
        result |= _follow_mirror(mirror.pk, now)
    _close_late(request, result, now)


@retry_aborted
def _close_late(request: ChangeRequest, result: dict[str, object], now: datetime) -> None:
    with transaction.atomic():
        lock_request(request)
        request.refresh_from_db(fields=["state"])
        _close(request, result, now, reason="the chain executed it after all; nothing else was changed with it")


def describe_execution(request: ChangeRequest) -> JsonObject:
    """What became of a request, JSON-ready."""
    return {"request_id": str(request.pk), "state": request.state, "result": request.result, "problem": request.problem}


def _claim(request_id: UUID, now: datetime) -> ChangeRequest | None:
    dead = now - timedelta(seconds=settings.GOLEM_CHANGE_CLAIM_SECONDS)
    claimed = ChangeRequest.objects.filter(
        Q(claimed_at__isnull=True) | Q(claimed_at__lte=dead),
        pk=request_id,
        state=ChangeState.APPROVED,
        executes_at__lte=now,
    ).update(claimed_at=now)
    if not claimed:
        return None
    return ChangeRequest.objects.select_related("golem__archetype", "golem__owner", "permit").get(pk=request_id)


def _withdraw(request: ChangeRequest, now: datetime) -> None:
    found = carry_out_withdrawal(request=request, now=now)
    if found is None:
        # Under way: the sweep of permits follows it, and that of requests asks again.
        ChangeRequest.objects.filter(pk=request.pk).update(claimed_at=None)
        return
    _apply_on_chain(request, found, clock.now())


def _carry_out_here(request: ChangeRequest, now: datetime) -> None:
    """Apply it; what starts from a chain is held against the chain first, and the golem's mirror follows after it."""
    operation = find_operation(request.kind)
    if not isinstance(operation, ChainBoundOperation):
        _apply(request, now)
        return
    operation.check_chain(request.golem, request.change, now=now)
    _apply(request, clock.now())
    mirror = find_mirror(request.golem)
    if mirror is not None:
        _follow_mirror(mirror.pk, clock.now())


@retry_aborted
def _apply(request: ChangeRequest, now: datetime) -> None:
    with transaction.atomic():
        lock_settings(request.golem_id)
        lock_request(request)
        golem = Golem.objects.select_related("archetype", "owner").get(pk=request.golem_id)
        request.golem = golem
        why = find_staleness(request)
        if why:
            request_states.move_request(request=request, to=ChangeState.STALE, actor=_ACTOR, now=now, reason=why)
            return
        result = find_operation(request.kind).apply(
            golem=golem, change=request.change, actor=request.asker, reason=request.reason, now=now
        )
        _close(request, result, now)


def _release_permit(request: ChangeRequest, asked: OwnerTransaction | None, now: datetime) -> None:
    why = find_staleness(request)
    if why:
        close_stale_change(request=request, why=why, now=now)
        return
    golem, permit = request.golem, require(request.permit)
    if has_ended(request, at=now + timedelta(seconds=wait_of(golem=golem, permit=permit))):
        end_expired_signatures(request=request, now=now)
        return
    if asked is not None:
        # From here on hooks and simulation judge the very bytes that are sent, the owners' signatures in them.
        permit.owner_signatures = join_owner_signatures(asked, _check_signed(request, asked, now))
        ActionPermit.objects.filter(pk=permit.pk).update(owner_signatures=permit.owner_signatures)
    fresh = resimulate(permit=permit, golem=golem, now=now)
    moment = clock.now()
    _set_free(request, fresh, moment)
    if not is_warden_on(golem):
        commit_permit(permit_id=permit.pk)
        follow_approved_permit(request_id=request.pk, now=clock.now())


@retry_aborted
def _set_free(request: ChangeRequest, fresh: FreshJudgement, now: datetime) -> None:
    """The permit of an approved request is committed, or announced, from here on."""
    golem, permit = request.golem, require(request.permit)
    with transaction.atomic():
        lock_action(golem_id=golem.pk, permit_id=permit.pk)
        request.refresh_from_db(fields=["state"])
        open_again(permit=permit, fresh=fresh, leaving=PermitStatus.AWAITING_APPROVAL, actor=_ACTOR, now=now)
        if is_warden_on(golem):
            announce_permit(permit_id=permit.pk, golem=golem, actor=_ACTOR, now=now)
        else:
            start_commit(golem=golem, permit_id=permit.pk, actor=_ACTOR, now=now)
        _close(request, {"permit_id": str(permit.pk)}, now)


def _carry_out_on_chain(request: ChangeRequest, asked: OwnerTransaction, now: datetime) -> None:
    """Release what the owners signed, have it relayed, and when the chain has it write what goes with it here."""
    if has_ended(request, at=now) and not asked.relays.exists():
        end_expired_signatures(request=request, now=now)
        return
    if asked.state == OwnerTransactionState.SIGNING:
        if request.permit is not None and request.permit.status == PermitStatus.COMMITTING:
            # A worker stopped in the middle of its release; the sweep of permits goes on with it.
            ChangeRequest.objects.filter(pk=request.pk).update(claimed_at=None)
            return
        why = find_staleness(request)
        if why:
            close_stale_change(request=request, why=why, now=now)
            return
        _check_signed(request, asked, now)
        if request.permit_id is None:
            _release(request, now)
        else:
            _release_wish(request, now)
        asked.refresh_from_db()
    if not relay_owner_transaction(asked=asked, now=clock.now()):
        ChangeRequest.objects.filter(pk=request.pk).update(claimed_at=None)
        return
    _finish_on_chain(request, asked)


def _check_signed(request: ChangeRequest, asked: OwnerTransaction, now: datetime) -> SafeView:
    """The Safe now. Raises ChangeStale, SignaturesIncomplete, SafeTurnAwaited."""
    safe = check_safe_current(request, now=now)
    assert safe is not None
    missing = count_missing(asked, safe)
    if missing:
        raise SignaturesIncomplete(f"{missing} more of the Safe's owners must sign", missing=str(missing))
    check_turn(asked, safe)
    return safe


@retry_aborted
def _release(request: ChangeRequest, now: datetime) -> None:
    """From here on the signed bytes may leave; the lock is the one that cancelling takes."""
    with transaction.atomic():
        lock_request(request)
        release_owner_transaction(request=request, actor=_ACTOR, now=now)


def _release_wish(request: ChangeRequest, now: datetime) -> None:
    """An agent's wish is released by its own permit: the tool does it, once, with the permit's capability."""
    golem, permit = request.golem, require(request.permit)
    fresh = resimulate(permit=permit, golem=golem, now=now)
    _start_wish(golem, permit, fresh, now)
    commit_permit(permit_id=permit.pk)
    permit.refresh_from_db()
    if permit.status != PermitStatus.COMMITTED:
        raise PermitNotCommittable(permit.status_reason or "its permit was not carried out", permit_id=str(permit.pk))


@retry_aborted
def _start_wish(golem: Golem, permit: ActionPermit, fresh: FreshJudgement, now: datetime) -> None:
    with transaction.atomic():
        lock_action(golem_id=golem.pk, permit_id=permit.pk)
        open_again(permit=permit, fresh=fresh, leaving=PermitStatus.AWAITING_APPROVAL, actor=_ACTOR, now=now)
        start_commit(golem=golem, permit_id=permit.pk, actor=_ACTOR, now=now)


def _finish_on_chain(request: ChangeRequest, asked: OwnerTransaction) -> None:
    now = clock.now()
    mirror = find_mirror(request.golem)
    result: dict[str, object] = {"tx_hash": asked.executed_in, "safe_nonce": str(asked.safe_nonce)}
    if mirror is not None:
        result |= _follow_mirror(mirror.pk, now)
    _apply_on_chain(request, result, now)


@retry_aborted
def _apply_on_chain(request: ChangeRequest, found: dict[str, object], now: datetime) -> None:
    with transaction.atomic():
        lock_settings(request.golem_id)
        lock_request(request)
        golem = Golem.objects.select_related("archetype", "owner").get(pk=request.golem_id)
        operation = find_operation(request.change.get("operation", request.kind))
        applied = operation.apply(
            golem=golem, change=request.change, actor=request.asker, reason=request.reason, now=now
        )
        _close(request, {**found, **applied}, now)


def _follow_mirror(mirror_id: int, now: datetime) -> dict[str, str]:
    """The mirror at the newest block. The chain has the change already, so a node that fails now changes nothing."""
    try:
        mirror = sync_policy_cage(mirror_id=mirror_id, now=now)
    except GolemError as error:
        logger.warning("the mirror follows later: %s", error.code)
        return {}
    return {"block_number": str(mirror.block_number)}


def _close(request: ChangeRequest, result: dict[str, object], now: datetime, *, reason: str = "") -> None:
    # One that was begun, failed, and is executed by the chain after all has its row already.
    ChangeExecution.objects.get_or_create(request=request, defaults={"executed_at": now, "actor": _ACTOR})
    request_states.move_request(
        request=request,
        to=ChangeState.EXECUTED,
        actor=_ACTOR,
        now=now,
        reason=reason,
        facts=result,
        result=result,
        problem={},
    )


@retry_aborted
def _fail(request: ChangeRequest, error: GolemError, now: datetime) -> None:
    with transaction.atomic():
        lock_request(request)
        request.refresh_from_db(fields=["state"])
        if request.state == ChangeState.APPROVED:
            to = ChangeState.STALE if isinstance(error, ChangeStale) else ChangeState.FAILED
            request_states.move_request(
                request=request,
                to=to,
                actor=_ACTOR,
                now=now,
                reason=error.detail,
                problem=error.as_problem(),
                facts={"error_code": error.code},
            )
        end_waiting_permit(request, PermitStatus.BLOCKED, _ACTOR, error.detail, now, problem=error.as_problem())

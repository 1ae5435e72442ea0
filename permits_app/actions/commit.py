"""commit_permit: a worker uses a permit once. The story, from the permit to its end:

1. `start_commit` took the permit to COMMITTING in one short transaction, and a worker was woken.
2. A lease lets one worker work on it; whoever comes twice or late goes away (`commit_lease`).
3. A permit that has stored bytes goes on with those: nothing is signed twice (`executor.resume`).
4. A local write is carried out and closed in one (`commit_local_write`); a promise is judged, signed and handed in.
5. Any other permit is judged again: hashes, policy, hooks, and the simulation where the block moved (`recheck_permit`).
6. A capability is minted, consumed once, and its bytes are signed, stored and sent (`executor.execute`).
7. Before a signature a node that fails is asked again while the permit is valid; what ends unsigned is a refusal
   (`end_commit`).
8. What is mined is judged and closed with ledger, audit and events (`settlement.finish`). What is not mined at once
   stays COMMITTING: the chain's follower hands it to a worker again when its receipts are there.

Emits permit:committed, permit:blocked or permit:unknown; appends PermitConsumed and its siblings.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from permits_app.actions.commit_local_write import commit_local_write
from permits_app.actions.end_commit import end_commit
from permits_app.actions.hand_in_promise import hand_in_promise
from permits_app.actions.recheck_permit import check_in_time, recheck_permit, say_not_signed
from permits_app.approvals.owner_states import follow_plan
from permits_app.errors import (
    LeaseLost,
)
from permits_app.execution import executor, sign_promise
from permits_app.execution.commit_lease import Lease, ask_for_lease, giving_back
from permits_app.execution.finish_permit import finish
from permits_app.execution.follower_threads import name_sending
from permits_app.limits.policy import load_golem
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits import capabilities
from permits_app.permits.row_locks import lock_action
from permits_app.permits.selectors import read_permit, view_permit
from tools_app.chain.node_errors import RpcRefused
from tools_app.core import clock, wake_waiting_process
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

logger = logging.getLogger(__name__)

_RETRY_PAUSE = timedelta(seconds=1)
S = PermitStatus


def commit_permit(*, permit_id: UUID) -> JsonObject | None:
    """Work on an unfinished permit until its outcome is known, as far as it is; None when another worker has it.

    Never raises a GolemError: what went wrong is in the permit.
    """
    lease, asked = ask_for_lease(permit_id=permit_id, now=clock.now())
    with giving_back(lease):
        taken, permit, payloads = read_permit(permit_id, asked)
        if not taken or permit is None:
            return None
        try:
            _work(permit, lease, is_signed=bool(payloads))
        except LeaseLost:
            lease.release()
            return None
        _, permit, sent = read_permit(permit_id, lease.fill_release())
    if permit is None:
        return None
    if permit.status == S.COMMITTING:
        wake_waiting_process.tap(name_sending(permit.chain_id))
    if permit.owner_signatures:
        _follow_owners(permit)
    return view_permit(permit, sent)


@retry_aborted
def _follow_owners(permit: ActionPermit) -> None:
    with transaction.atomic():
        lock_action(golem_id=permit.golem_id, permit_id=permit.pk)
        follow_plan(permit=permit, actor="system:worker", now=clock.now())


def _work(permit: ActionPermit, lease: Lease, *, is_signed: bool) -> None:
    # As one join of all these tables, planning it took the database ten times as long as the rest of a commit.
    permit.golem = load_golem(permit.golem_id)
    if permit.halt_epoch is not None:
        _resume_revocation(permit, lease)
        return
    if permit.is_local:
        commit_local_write(permit, lease)
        return
    tool = REGISTRY.get(permit.tool_name)
    if not isinstance(tool, WriteTool):
        raise TypeError(f"{tool.name} is no write")
    try:
        if "promise" in permit.bounds:
            _promise(permit, tool, lease)
            return
        execution = executor.resume(permit=permit, lease=lease) if is_signed else _execute_first(permit, tool, lease)
    except LeaseLost:
        raise
    except GolemError as error:
        if not _is_put_off(permit, error, lease):
            end_commit(permit, error)
        return
    _conclude(permit, tool, execution)


def _conclude(permit: ActionPermit, tool: WriteTool | None, execution: executor.ExecutedCalls) -> None:
    """Judge what is seen. What was sent just now and is not mined yet stays COMMITTING, for the follower to see."""
    waits_until = (permit.committing_at or permit.created_at) + timedelta(seconds=settings.GOLEM_RECEIPT_WAIT_SECONDS)
    is_young = permit.status == S.COMMITTING and clock.now() < waits_until
    if execution.is_complete or not (execution.is_awaited and is_young):
        finish(permit=permit, tool=tool, execution=execution)


def _is_put_off(permit: ActionPermit, error: GolemError, lease: Lease) -> bool:
    """Whether the commit is tried again in a moment: a node failed, nothing is signed and the permit is valid."""
    # RpcRefused is what a node says in words that nobody here knows; before a signature asking again does no harm.
    is_passing = isinstance(error, RpcRefused) or (error.next_step is Recovery.WAIT and error.http_status >= 500)
    if not is_passing or permit.transactions.exists():
        return False
    now = clock.now()
    # A nonce that is reserved holds up whatever is signed after it, so the permit does not keep one while it waits.
    if now + _RETRY_PAUSE >= permit.expires_at or permit.nonce_reservations.exists():
        end_commit(permit, say_not_signed(permit, error.code))
        return True
    logger.info("permit %s is tried again: %s", permit.pk, error.code)
    ActionPermit.objects.filter(pk=permit.pk, lease_owner=lease.owner).update(problem=error.as_problem())
    lease.put_off(until=now + _RETRY_PAUSE)
    return True


def _resume_revocation(permit: ActionPermit, lease: Lease) -> None:
    """The server's own permit, left by a worker: its stored bytes go on; without bytes nothing was sent."""
    if not permit.transactions.exists():
        end_commit(
            permit,
            LeaseLost("the worker stopped before signing; whoever wanted it makes another", permit_id=str(permit.pk)),
        )
        return
    _conclude(permit, None, executor.resume(permit=permit, lease=lease))


def _execute_first(permit: ActionPermit, tool: WriteTool, lease: Lease) -> executor.ExecutedCalls:
    check_in_time(permit)
    now = clock.now()
    call = recheck_permit(permit, tool, now)
    lease.renew()
    expires = now + timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
    capability = capabilities.mint(permit=permit, expires_at=expires, now=now)
    if call.chain is None:
        raise TypeError("calls are sent to a chain")
    worth = call.value.spend_micro_usd
    return executor.execute(permit=permit, capability=capability, worth_micro_usd=worth, chain=call.chain, lease=lease)


def _promise(permit: ActionPermit, tool: WriteTool, lease: Lease) -> None:
    """A permit that sends nothing: what it promises is judged again, signed, and ends it."""
    check_in_time(permit)
    now = clock.now()
    call = recheck_permit(permit, tool, now)
    lease.renew()
    expires = now + timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
    capability = capabilities.mint(permit=permit, expires_at=expires, now=now)
    if call.chain is None:
        raise TypeError("a promise is read by a contract of a chain")
    # Handed in after it is stored, and in no transaction: whoever fills it hears of what is followed already.
    hand_in_promise(
        sign_promise.sign_promise(
            permit=permit,
            capability=capability,
            worth_micro_usd=call.value.spend_micro_usd,
            chain=call.chain,
            lease=lease,
            now=now,
        ),
        now=now,
    )

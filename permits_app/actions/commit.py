"""commit_action: use a permit once.

`request_commit` takes the permit to COMMITTING in one short transaction and hands it to a worker;
`commit_permit` runs there and is safe to run twice, late, or by two workers: a lease lets one work, the
stored bytes decide what is sent, and every status change is a conditional UPDATE. It does not wait for blocks: what is
not mined at once stays COMMITTING, and the chain's follower hands it to a worker again when its receipts are there.
Before anything is signed a node that fails is asked again while the permit is valid. Emits permit:committed,
permit:blocked or permit:unknown; appends PermitConsumed and its siblings.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from archetypes_app.errors import GolemHalted, OwnerGone
from archetypes_app.models import Golem
from archetypes_app.toolset import has_tool, resolve_toolset, view_golem
from permits_app.actions.call_of_permit import find_local_write, make_permit_call
from permits_app.actions.expire import expire_permit
from permits_app.actions.find_equal_action import name_equal_action
from permits_app.actions.hand_in_promise import hand_in_promise
from permits_app.approvals.owner_states import follow_plan, release_plan
from permits_app.approvals.warden_announcements import check_announced, tell_wait
from permits_app.errors import (
    CommitNotSigned,
    LeaseLost,
    PermitAlreadyCommitted,
    PermitExpired,
    PermitNotCommittable,
    PermitNotFound,
    PlanTampered,
    PolicyChanged,
    SameActionPending,
)
from permits_app.execution import executor, sign_promise
from permits_app.execution.commit_lease import Lease, ask_for_lease, giving_back
from permits_app.execution.follower_threads import name_sending
from permits_app.execution.nonces import abandon_nonces
from permits_app.execution.settlement import finish
from permits_app.limits import ledger
from permits_app.limits.policy import check_policy_stands, load_golem, read_policy
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits import capabilities, lifecycle
from permits_app.permits.blocked_commits import check_clear
from permits_app.permits.permit_lifetime import is_from_the_future
from permits_app.permits.row_locks import lock_action, lock_settings, lock_start
from permits_app.permits.sealing import hash_plan, hash_simulation
from permits_app.permits.selectors import read_permit, view_permit
from permits_app.safety import hook_chain
from permits_app.safety.gas_budget import check_gas_fits
from permits_app.safety.hook import HookCall
from permits_app.safety.record_reader import RecordReader, records_of
from permits_app.safety.tiers import check_tier_holds
from tools_app import runner
from tools_app.chain.node_errors import RpcRefused
from tools_app.core import clock, wakeups
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.rows import change_rows
from tools_app.core.whole import whole
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool

logger = logging.getLogger(__name__)

_RETRY_PAUSE = timedelta(seconds=1)
S = PermitStatus


def start_commit(*, golem: Golem, permit_id: UUID, actor: str, now: datetime) -> None:
    """Take a permit from CREATED to COMMITTING, or say why not; one short transaction, no network.

    Valid iff now < expires_at, fewer than three heartbeat ticks have passed and no clock was set back since. Raises
    PermitNotFound, PermitExpired, PermitAlreadyCommitted, PermitNotCommittable, GolemHalted, OwnerGone,
    ActionAnnounced, SameActionPending, AccountBlocked and ChainStuck where what it sends would not be mined.
    """
    try:
        _start(golem, permit_id, actor, now)
    except SameActionPending:
        # Which one it is can be read once the transaction that met it is undone.
        raise name_equal_action(permit=golem.permits.get(pk=permit_id), now=now) from None


@whole
def _start(golem: Golem, permit_id: UUID, actor: str, now: datetime) -> None:
    with transaction.atomic():
        # The halt takes this row lock too: once it returned, no commit starts.
        locked, permit, begins_at, is_owned = lock_start(golem_id=golem.pk, permit_id=permit_id, now=now)
        if permit is None:
            raise PermitNotFound(f"this golem has no permit {str(permit_id)!r}", permit_id=str(permit_id))
        if locked.is_halted and permit.status == S.CREATED:
            raise GolemHalted("this golem is halted; only its owner can resume it", reason=locked.halt_reason)
        if not is_owned and permit.status == S.CREATED:
            raise OwnerGone("nobody with an active account owns this golem; it does nothing until somebody does")
        is_lapsed = permit.status == S.CREATED and (
            now >= permit.expires_at
            or locked.heartbeat_tick >= permit.expires_at_tick
            or is_from_the_future(created_at=permit.created_at, expires_at=permit.expires_at, now=now)
        )
        if not is_lapsed:
            _check_committable(permit)
            check_announced(permit)
            check_clear(permit, now=now)
            lifecycle.transition(
                permit_id=permit_id,
                leaving=S.CREATED,
                to=S.COMMITTING,
                actor=actor,
                now=now,
                known=permit,
                committing_at=begins_at,
            )
            if permit.owner_signatures:
                release_plan(permit=permit, actor=actor, now=now)
            return
    expire_permit(permit_id=permit_id, now=now)
    raise PermitExpired(
        f"the permit was valid until {permit.expires_at.isoformat()}",
        permit_id=str(permit_id),
        expired_at=permit.expires_at.isoformat(),
    )


def _check_committable(permit: ActionPermit) -> None:
    facts: dict[str, Any] = {"permit_id": str(permit.pk), "permit_status": permit.status}
    if permit.status == S.CREATED:
        return
    if permit.status == S.EXPIRED:
        raise PermitExpired("the permit has expired", **facts)
    if permit.status in (S.COMMITTING, S.UNKNOWN, S.COMMITTED, S.REVERTED):
        raise PermitAlreadyCommitted(
            f"the permit was committed before; it is {permit.status}",
            tx_hashes=list(permit.transactions.order_by("call_index").values_list("tx_hash", flat=True)),
            **facts,
        )
    if permit.status in (S.AWAITING_APPROVAL, S.ANNOUNCED):
        raise PermitNotCommittable(
            "the permit waits for its owners; it is carried out once they agreed"
            if permit.status == S.AWAITING_APPROVAL
            else "the permit is announced; it is carried out when its delay is over",
            recovery=Recovery.WAIT,
            **tell_wait(permit),
            **facts,
        )
    raise PermitNotCommittable(f"the permit is {permit.status}", reason=permit.status_reason, **facts)


def commit_permit(*, permit_id: UUID) -> dict[str, Any] | None:
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
        wakeups.tap(name_sending(permit.chain_id))
    if permit.owner_signatures:
        _follow_owners(permit)
    return view_permit(permit, sent)


@whole
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
        _commit_local(permit, lease)
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
            _block(permit, error)
        return
    _conclude(permit, tool, execution)


def _conclude(permit: ActionPermit, tool: WriteTool | None, execution: executor.Execution) -> None:
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
        _block(permit, _not_signed(permit, error.code))
        return True
    logger.info("permit %s is tried again: %s", permit.pk, error.code)
    ActionPermit.objects.filter(pk=permit.pk, lease_owner=lease.owner).update(problem=error.as_problem())
    lease.put_off(until=now + _RETRY_PAUSE)
    return True


def _check_in_time(permit: ActionPermit) -> None:
    """That the permit is still valid. Raises CommitNotSigned for one that waited too long for a worker or a node."""
    if clock.now() >= permit.expires_at:
        raise _not_signed(permit, str(permit.problem.get("code") or "WORKER_TIMEOUT"))
    if permit.problem:
        ActionPermit.objects.filter(pk=permit.pk).update(problem={})
        permit.problem = {}


def _not_signed(permit: ActionPermit, cause: str) -> CommitNotSigned:
    return CommitNotSigned(
        f"nothing was signed for this permit ({cause}); nothing was sent and nothing will be",
        permit_id=str(permit.pk),
        cause=cause,
        expired_at=permit.expires_at.isoformat(),
        cleared_by="a new preview",
    )


def _resume_revocation(permit: ActionPermit, lease: Lease) -> None:
    """The server's own permit, left by a worker: its stored bytes go on; without bytes nothing was sent."""
    if not permit.transactions.exists():
        _block(
            permit,
            LeaseLost("the worker stopped before signing; whoever wanted it makes another", permit_id=str(permit.pk)),
        )
        return
    _conclude(permit, None, executor.resume(permit=permit, lease=lease))


def _execute_first(permit: ActionPermit, tool: WriteTool, lease: Lease) -> executor.Execution:
    _check_in_time(permit)
    now = clock.now()
    call = _recheck(permit, tool, now)
    lease.renew()
    expires = now + timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
    capability = capabilities.mint(permit=permit, expires_at=expires, now=now)
    if call.chain is None:
        raise TypeError("calls are sent to a chain")
    worth = call.value.spend_micro_usd
    return executor.execute(permit=permit, capability=capability, worth_micro_usd=worth, chain=call.chain, lease=lease)


def _promise(permit: ActionPermit, tool: WriteTool, lease: Lease) -> None:
    """A permit that sends nothing: what it promises is judged again, signed, and ends it."""
    _check_in_time(permit)
    now = clock.now()
    call = _recheck(permit, tool, now)
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


def _recheck(permit: ActionPermit, tool: WriteTool | LocalWriteTool, now: datetime) -> HookCall:
    """Run the hooks again on the stored plan, valued at the prices of now; hook 5 too when the block moved.

    Raises what they raise.
    """
    if hash_plan(permit) != permit.plan_hash:
        raise PlanTampered("the stored plan does not match its hash", permit_id=str(permit.pk))
    golem = permit.golem
    toolset = resolve_toolset(golem)
    policy = read_policy(golem=golem, toolset=toolset)
    if policy.hash != permit.policy_hash or not has_tool(golem, toolset, tool.name):
        raise PolicyChanged("limits, cage, phase or tools changed since the preview", permit_id=str(permit.pk))
    if tool.schema_version != permit.schema_version:
        raise PolicyChanged("the tool's schema changed since the preview", permit_id=str(permit.pk))
    call = make_permit_call(permit=permit, golem=golem, toolset=toolset, policy=policy, now=now)
    check_tier_holds(call=call, permit=permit)
    if call.chain is None:
        hook_chain.recheck(call, simulate=True)
        return call
    chain = call.chain
    call = replace(call, records=RecordReader(call))
    # In the block of the preview too, where others started meanwhile: what is left after all of them is measured.
    has_moved = chain.block.hash != permit.block_hash
    report = hook_chain.recheck(call, simulate=has_moved or bool(records_of(call).beside))
    if report.simulation is not None and call.plan is not None:
        outcomes = call.sent_by.outcomes_of_sent(report.simulation.calls)
        check_gas_fits(
            permit=permit,
            chain=chain,
            calls=call.sent_calls,
            outcomes=outcomes,
            has_run_within=report.simulation.terms is not None,
        )
        change_rows(
            ActionPermit,
            where={"pk": permit.pk},
            simulation_hash=hash_simulation(plan_hash=permit.plan_hash, simulation=report.simulation),
            block_number=report.simulation.block.number,
            block_hash=report.simulation.block.hash,
        )
    return call


def _commit_local(permit: ActionPermit, lease: Lease) -> None:
    """A write without a transaction: the capability is consumed first, so it never happens twice.

    What is written in our database alone holds together with the permit's end; only a write that reaches outside can be
    left half told.
    """
    now = clock.now()
    grant = getattr(permit, "grant", None)
    if grant is not None and grant.consumed_at is not None:
        _close_local(permit, S.REVERTED, "the worker stopped during this write; look its effect up", {}, now)
        return
    try:
        _check_in_time(permit)
        tool = find_local_write(permit, resolve_toolset(permit.golem))
        _recheck(permit, tool, now)
        if tool.write_ms:
            lease.hold(seconds=tool.write_ms / 1000)
        capability = capabilities.mint(permit=permit, expires_at=now + timedelta(seconds=60), now=now)
        params = runner.check_params(tool=tool, params=permit.params)
        runner.run_local_write(
            tool=tool,
            params=params,
            golem=view_golem(permit.golem),
            capability=capability,
            plan_hash=hash_plan(permit),
            now=now,
            begin=lambda: _lock_for_local(permit),
            close=lambda result: _close_local(permit, S.COMMITTED, "", result.as_dict(), now),
        )
    except LeaseLost:
        raise
    except GolemError as error:
        # After the effect, as when its budget was overrun, the permit is closed already and this changes nothing.
        _block(permit, error)


def _lock_for_local(permit: ActionPermit) -> None:
    """Everything a local write may write of the golem, before its capability is consumed."""
    lock_settings(permit.golem_id)
    lock_action(golem_id=permit.golem_id, permit_id=permit.pk)
    check_policy_stands(permit)


@whole
def _close_local(permit: ActionPermit, to: PermitStatus, reason: str, result: Mapping[str, Any], now: datetime) -> None:
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=permit.pk,
            leaving=S.COMMITTING,
            to=to,
            actor="system:worker",
            now=now,
            reason=reason,
            finished_at=now,
            result=dict(result),
        )
        if done:
            ledger.release(permit_id=permit.pk)


@whole
def _block(permit: ActionPermit, error: GolemError) -> None:
    """Nothing was sent and nothing will be: block the permit, give back what it held."""
    now = clock.now()
    logger.info("permit %s blocked: %s", permit.pk, error.code)
    with transaction.atomic():
        # Bytes that a halt kept from being sent stay stored; whoever fills the nonce finds them here.
        done = lifecycle.transition(
            permit_id=permit.pk,
            leaving=S.COMMITTING,
            to=S.BLOCKED,
            actor="system:worker",
            now=now,
            reason=error.detail,
            finished_at=now,
            problem=error.as_problem(),
            data={"code": error.code, **{key: error.data[key] for key in ("hook", "rule") if key in error.data}},
        )
        if done:
            ledger.release(permit_id=permit.pk)
            abandon_nonces(permit_id=permit.pk)

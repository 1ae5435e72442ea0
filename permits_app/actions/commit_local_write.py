"""commit_local_write: carry out a write that sends no transaction, once, and close its permit with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction

from archetypes_app.toolset import resolve_toolset, view_golem
from permits_app.actions.end_commit import end_commit
from permits_app.actions.make_permit_call import find_local_write
from permits_app.actions.recheck_permit import check_in_time, recheck_permit
from permits_app.errors import (
    LeaseLost,
)
from permits_app.execution.commit_lease import Lease
from permits_app.limits import ledger
from permits_app.limits.policy import check_policy_stands
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits import capabilities, lifecycle
from permits_app.permits.permit_hashes import hash_plan
from permits_app.permits.row_locks import lock_action, lock_settings
from tools_app import runner
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted

S = PermitStatus


def commit_local_write(permit: ActionPermit, lease: Lease) -> None:
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
        check_in_time(permit)
        tool = find_local_write(permit, resolve_toolset(permit.golem))
        recheck_permit(permit, tool, now)
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
        end_commit(permit, error)


def _lock_for_local(permit: ActionPermit) -> None:
    """Everything a local write may write of the golem, before its capability is consumed."""
    lock_settings(permit.golem_id)
    lock_action(golem_id=permit.golem_id, permit_id=permit.pk)
    check_policy_stands(permit)


@retry_aborted
def _close_local(
    permit: ActionPermit, to: PermitStatus, reason: str, result: Mapping[str, object], now: datetime
) -> None:
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

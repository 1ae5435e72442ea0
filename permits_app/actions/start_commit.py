"""start_commit: take a permit from CREATED to COMMITTING in one short transaction, or say why not."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.errors import GolemHalted, OwnerGone
from archetypes_app.models import Golem
from permits_app.actions.expire import expire_permit
from permits_app.actions.find_equal_action import name_equal_action
from permits_app.approvals.owner_states import release_plan
from permits_app.approvals.warden_announcements import check_announced, tell_wait
from permits_app.errors import (
    PermitAlreadyCommitted,
    PermitExpired,
    PermitNotCommittable,
    PermitNotFound,
    SameActionPending,
)
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits import lifecycle
from permits_app.permits.agent_spending import check_keys_may_spend
from permits_app.permits.blocked_commits import check_clear
from permits_app.permits.permit_lifetime import is_from_the_future
from permits_app.permits.row_locks import lock_start
from tools_app.core.errors import Recovery
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted

S = PermitStatus


def start_commit(*, golem: Golem, permit_id: UUID, actor: str, now: datetime, is_by_key: bool = False) -> None:
    """Take a permit from CREATED to COMMITTING, or say why not; one short transaction, no network.

    `is_by_key` says that an agent asks with an API key and no owner decided it. Valid iff now < expires_at, fewer than
    three heartbeat ticks have passed and no clock was set back since. Raises PermitNotFound, PermitExpired,
    PermitAlreadyCommitted, PermitNotCommittable, GolemHalted, OwnerGone, KeysMayNotSpend, ActionAnnounced,
    SameActionPending, AccountBlocked and ChainStuck where what it sends would not be mined.
    """
    try:
        _start(golem, permit_id, actor, now, is_by_key=is_by_key)
    except SameActionPending:
        # Which one it is can be read once the transaction that met it is undone.
        raise name_equal_action(permit=golem.permits.get(pk=permit_id), now=now) from None


@retry_aborted
def _start(golem: Golem, permit_id: UUID, actor: str, now: datetime, *, is_by_key: bool) -> None:
    with transaction.atomic():
        # The halt takes this row lock too: once it returned, no commit starts.
        locked, permit, begins_at, is_owned = lock_start(golem_id=golem.pk, permit_id=permit_id, now=now)
        if permit is None:
            raise PermitNotFound(f"this golem has no permit {str(permit_id)!r}", permit_id=str(permit_id))
        if locked.is_halted and permit.status == S.CREATED:
            raise GolemHalted("this golem is halted; only its owner can resume it", reason=locked.halt_reason)
        if not is_owned and permit.status == S.CREATED:
            raise OwnerGone("nobody with an active account owns this golem; it does nothing until somebody does")
        if is_by_key and permit.status == S.CREATED:
            check_keys_may_spend(locked, permit)
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
    facts: JsonObject = {"permit_id": str(permit.pk), "permit_status": permit.status}
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

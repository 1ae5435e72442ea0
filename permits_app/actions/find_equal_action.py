"""An action equal to one that is asked for: one that waits for owners is answered, one under way is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from archetypes_app.models import Golem
from permits_app.actions.expire import expire_found, fill_lapsed
from permits_app.actions.request_change import find_waiting_permit
from permits_app.errors import SameActionPending
from permits_app.models import ActionPermit
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.permits.blocked_commits import list_silent_chains
from permits_app.permits.market_defaults import SeenRegime, fill_regime, read_regime
from permits_app.permits.next_action_time import foresee_permit
from tools_app.core.compiled_query import CompiledStatement
from tools_app.core.prepared_statements import fetch_together


def _select_equal_actions(golem_id: UUID, action_hash: str) -> QuerySet[Any, Any]:  # Any: rows of several models
    states = [str(state) for state in (*UNFINISHED, PermitStatus.AWAITING_APPROVAL)]
    equal = ActionPermit.objects.filter(golem_id=golem_id, action_hash=action_hash, status__in=states)
    return equal.order_by().values_list("status", "pk")


_EQUAL_ACTIONS = CompiledStatement(_select_equal_actions, UUID(int=0), "-")


def find_equal_action(
    *, golem: Golem, action_hash: str, now: datetime
) -> tuple[ActionPermit | None, SeenRegime | None]:
    """The permit of an equal action that waits for owners, and the market's regime as the heartbeat last saw it.

    Raises SameActionPending for one that is under way. Expires what has lapsed, before anything counts its
    reservation. Narrow statements in one round trip: nearly every preview finds nothing.
    """
    asked = _EQUAL_ACTIONS.fill(golem.pk, action_hash), fill_lapsed(golem_id=golem.pk, now=now), fill_regime(golem.pk)
    equal, lapsed, regime = fetch_together(*asked)
    expire_found(lapsed, now=now)
    found: dict[str, UUID] = dict(equal)
    for status in UNFINISHED:
        if status in found:
            raise _refuse(found[status], str(status), now)
    waiting = find_waiting_permit(golem=golem, action_hash=action_hash) if found else None
    return waiting, read_regime(regime)


def name_equal_action(*, permit: ActionPermit, now: datetime) -> SameActionPending:
    """The refusal of a commit beside which an equal action is under way: which one, and when it is looked at next."""
    under_way = _select_equal_actions(permit.golem_id, permit.action_hash).filter(status__in=map(str, UNFINISHED))
    for status, permit_id in under_way:
        return _refuse(permit_id, status, now)
    return SameActionPending("an equal action was being committed and has ended since", retry_after_seconds=1)


def _refuse(permit_id: UUID, status: str, now: datetime) -> SameActionPending:
    act = foresee_permit(permit_id, now=now, silent=list_silent_chains(now=now))
    return SameActionPending(
        "an equal action is being committed or its outcome is unknown; look its permit up",
        permit_id=str(permit_id),
        permit_status=status,
        **(act.tell(now) if act is not None else {"retry_after_seconds": 1}),
    )

"""settle_change: an open request with enough approvals that count is approved, and one that cannot have them is over.

A decision ends with it, and the sweep looks at what nobody's decision settles any more: people come, go, and come back.
Appends ChangeApproved, ChangeStale.

See docs/decisions/0375-approvals-end-with-the-approvers-role-or-account.md.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from archetypes_app.ownership import count_deciders_of, match_pairs
from archetypes_app.roles import Power
from permits_app.actions.close_stale_change import close_stale_change
from permits_app.approvals import request_states
from permits_app.approvals.votes import end_lost_approvals, read_standing
from permits_app.models import ChangeRequest, OwnerApproval
from permits_app.models.approval import LIVE_STATES, ChangeState, Verdict
from permits_app.permits.row_locks import lock_request
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted

_ACTOR = "system:approvals"
_BATCH = 100


def settle_change(*, request: ChangeRequest, actor: str, now: datetime) -> bool:
    """Approve `request`, which is locked and open, when it has enough approvals; whether it has. Joins the caller's
    transaction.
    """
    if not read_standing(request).is_met:
        return False
    executes_at = now + timedelta(seconds=request.cooling_seconds)
    return request_states.move_request(
        request=request,
        to=ChangeState.APPROVED,
        actor=actor,
        now=now,
        decided_at=now,
        executes_at=executes_at,
        facts={"executes_at": executes_at.isoformat()},
    )


def settle_open_changes(*, now: datetime) -> int:
    """End approvals of people who no longer decide, settle requests that have enough, and close those that never
    can. Answers how many were closed or settled.
    """
    lost = OwnerApproval.objects.filter(request__state__in=LIVE_STATES, verdict=Verdict.APPROVE, ended_at__isnull=True)
    lost = lost.exclude(match_pairs(Power.DECIDE, golem="request__golem", person="owner"))
    touched = set(lost.values_list("request_id", flat=True)[:_BATCH])
    counting = (
        OwnerApproval.objects.filter(request_id=OuterRef("pk"), verdict=Verdict.APPROVE, ended_at__isnull=True)
        .order_by()
        .values("request_id")
        .annotate(n=Count("pk"))
        .values("n")
    )
    open_rows = ChangeRequest.objects.filter(state=ChangeState.OPEN)
    met = open_rows.annotate(given=Coalesce(Subquery(counting), Value(0))).filter(given__gte=F("required_approvals"))
    # Who asked is counted with those who decide, so one more is looked at than is left; the look itself is exact.
    asker = Q(barred_owner__isnull=True) | Q(is_single_owner=True)
    few = open_rows.exclude(asker).annotate(deciders=count_deciders_of("golem"))
    few = few.filter(deciders__lt=F("required_approvals") + 1)
    none_barred = open_rows.filter(barred_owner__isnull=True).annotate(deciders=count_deciders_of("golem"))
    none_barred = none_barred.filter(deciders__lt=F("required_approvals"), deciders__gt=0)
    for rows in (met, few, none_barred):
        touched |= set(rows.values_list("pk", flat=True)[:_BATCH])
    return sum(one_by_one(sorted(touched), lambda pk: _look_at(pk, now), what="the change"))


def _look_at(request_id: UUID, now: datetime) -> bool:
    request = ChangeRequest.objects.select_related("golem", "permit").get(pk=request_id)
    why = _settle_or_say_why(request, now)
    if why:
        close_stale_change(request=request, why=why, now=now)
    request.refresh_from_db(fields=["state"])
    return request.state != ChangeState.OPEN


@retry_aborted
def _settle_or_say_why(request: ChangeRequest, now: datetime) -> str:
    """Why it is over, where too few are left to decide it; empty where it was settled or may be yet."""
    with transaction.atomic():
        lock_request(request)
        locked = ChangeRequest.objects.select_related("golem", "permit", "api_key").get(pk=request.pk)
        end_lost_approvals(OwnerApproval.objects.filter(request=locked), now=now)
        if locked.state != ChangeState.OPEN or settle_change(request=locked, actor=_ACTOR, now=now):
            return ""
        standing = read_standing(locked)
        if not standing.is_out_of_reach or not (standing.given or standing.may_approve or standing.barred_owner_id):
            return ""
    left = standing.given + len(standing.may_approve)
    return (
        f"it needs {standing.required} approvals, and of those who decide for this golem now only {left} may give one;"
        " ask for it anew, so that it is asked of who decides now"
    )

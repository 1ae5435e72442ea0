"""Counts approvals: which count, who may give one, and how many a request needs today.

When a role or an account ends, so do the approvals given with it: they are marked as ended, and whoever comes back
decides anew. A quorum never falls below what its owners were shown; it rises when more people decide.

See docs/decisions/0375-approvals-end-with-the-approvers-role-or-account.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet

from archetypes_app.ownership import list_deciders, match_pairs
from archetypes_app.roles import Power
from permits_app.approvals.approval_rules import find_quorum
from permits_app.models import ChangeRequest, OwnerApproval
from permits_app.models.approval import LIVE_STATES, Verdict
from tools_app.toolkit.enums import RiskTier


@dataclass(frozen=True, slots=True)
class VoteStanding:
    """A request as those who decide today make it: how many approve, how many are needed, who may not, who is left."""

    given: int
    required: int
    barred_owner_id: int | None
    may_approve: frozenset[int]
    """Those who may approve it and did not yet."""

    @property
    def is_met(self) -> bool:
        return self.given >= self.required

    @property
    def is_out_of_reach(self) -> bool:
        return self.given + len(self.may_approve) < self.required


def count_given(request: ChangeRequest) -> int:
    """How many approvals of `request` count."""
    return count_all([request.pk]).get(request.pk, 0)


def count_all(request_ids: Iterable[object]) -> dict[object, int]:
    """The same by request, in one reading; a request without any is left out."""
    rows = _list_counting(OwnerApproval.objects.filter(request_id__in=list(request_ids)))
    return dict(rows.values_list("request_id").annotate(n=Count("pk")))


def read_standing(request: ChangeRequest) -> VoteStanding:
    """How `request` stands now. Who asked for it, or whose agent did, approves it only while nobody else decides."""
    deciders = frozenset(list_deciders(request.golem).values_list("pk", flat=True))
    approved = frozenset(
        _list_counting(OwnerApproval.objects.filter(request=request)).values_list("owner_id", flat=True)
    )
    required, barred = request.required_approvals, None
    if request.needs_second_factor:
        maker = request.barred_owner_id if request.asked_by_id is None else None
        quorum = find_quorum(
            tier=RiskTier(request.risk_tier),
            owner_ids=deciders,
            asker_id=request.asked_by_id or maker,
            key_maker_id=request.api_key.created_by_id if request.api_key is not None else maker,
        )
        required = max(required, quorum.required)
        barred = None if quorum.is_single_owner else quorum.barred_owner_id
    return VoteStanding(
        given=len(approved),
        required=required,
        barred_owner_id=barred,
        may_approve=deciders - approved - {barred},
    )


def end_lost_approvals(rows: QuerySet[OwnerApproval], *, now: datetime) -> int:
    """Mark those of `rows` as ended that were given for a request which is not closed, by who decides no longer.

    How many. Joins the caller's transaction.
    """
    live = rows.filter(request__state__in=LIVE_STATES, verdict=Verdict.APPROVE, ended_at__isnull=True)
    lost = live.exclude(pk__in=_list_counting(live).values("pk"))
    return OwnerApproval.objects.filter(pk__in=list(lost.values_list("pk", flat=True))).update(ended_at=now)


def _list_counting(rows: QuerySet[OwnerApproval]) -> QuerySet[OwnerApproval]:
    counting = rows.filter(verdict=Verdict.APPROVE, ended_at__isnull=True)
    return counting.filter(match_pairs(Power.DECIDE, golem="request__golem", person="owner"))

"""Says in one word how far a request to owners is, the same for inbox, first page and agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from permits_app.approval_errors import SignaturesIncomplete
from permits_app.models import ActionPermit, Announcement, CageMirror, ChangeRequest
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.policy_cage.state import CageState
from tools_app.chain.node_errors import InsufficientFunds
from tools_app.core.stored_json import IntText, read_stored


class Stage(StrEnum):
    """The states as people are told them."""

    DECIDE = "waits for owners"
    COOLING = "approved, cooling off"
    SIGNATURES = "approved, waits for signatures"
    FUNDS = "approved, waits for gas"
    BLOCKED = "approved, cannot go on yet"
    EXECUTING = "approved, being executed"
    PROPOSED = "proposed on chain"
    ANNOUNCED = "announced"
    SENT = "approved, being sent"
    UNSEEN = "sent, outcome not seen yet"
    EXECUTED = "executed"
    NOT_CARRIED_OUT = "approved, not carried out"
    REVERTED = "approved, reverted on chain"
    REJECTED = "rejected"
    STALE = "out of date"
    EXPIRED = "timed out"
    CANCELLED = "cancelled"
    FAILED = "failed"


_ENDED = {
    ChangeState.EXECUTED: Stage.EXECUTED,
    ChangeState.REJECTED: Stage.REJECTED,
    ChangeState.STALE: Stage.STALE,
    ChangeState.EXPIRED: Stage.EXPIRED,
    ChangeState.CANCELLED: Stage.CANCELLED,
    ChangeState.FAILED: Stage.FAILED,
}
NOT_CARRIED_OUT: Final = (PermitStatus.BLOCKED, PermitStatus.REVERTED, PermitStatus.EXPIRED, PermitStatus.CANCELLED)
"""Where a permit ended without what was approved."""
_OF_PERMIT = {
    PermitStatus.AWAITING_APPROVAL: Stage.EXECUTING,
    PermitStatus.CREATED: Stage.EXECUTING,
    PermitStatus.ANNOUNCED: Stage.ANNOUNCED,
    PermitStatus.COMMITTING: Stage.SENT,
    PermitStatus.UNKNOWN: Stage.UNSEEN,
    PermitStatus.COMMITTED: Stage.EXECUTED,
    PermitStatus.BLOCKED: Stage.NOT_CARRIED_OUT,
    PermitStatus.EXPIRED: Stage.NOT_CARRIED_OUT,
    PermitStatus.CANCELLED: Stage.NOT_CARRIED_OUT,
    PermitStatus.REVERTED: Stage.REVERTED,
}
_WAITS = {SignaturesIncomplete.code: Stage.SIGNATURES, InsufficientFunds.code: Stage.FUNDS}


@dataclass(frozen=True, slots=True)
class RequestStage:
    """`until` is when this state ends by itself, None where no clock ends it; `request_id` the request of a permit that
    owners decide about.
    """

    stage: Stage
    until: datetime | None = None
    request_id: UUID | None = None

    @property
    def is_over(self) -> bool:
        """Nothing happens to it any more."""
        return self.stage in _OVER


_OVER = frozenset({*_ENDED.values(), Stage.NOT_CARRIED_OUT, Stage.REVERTED})


def read_stage(request: ChangeRequest, *, now: datetime, mirror: CageMirror | None = None) -> RequestStage:
    """The stage of `request` at `now`; `mirror` is its golem's contract, which may hold what was executed here."""
    state = ChangeState(request.state)
    if state == ChangeState.OPEN:
        return RequestStage(Stage.DECIDE, request.deadline_at)
    if state == ChangeState.APPROVED:
        if request.executes_at is not None and request.executes_at > now:
            return RequestStage(Stage.COOLING, request.executes_at)
        code = str(request.problem.get("code", "")) if request.problem else ""
        return RequestStage(_WAITS.get(code, Stage.BLOCKED if code else Stage.EXECUTING))
    if request.permit is not None and (
        state == ChangeState.EXECUTED or (state == ChangeState.FAILED and request.permit.status in NOT_CARRIED_OUT)
    ):
        # An action is what became of it on chain, whatever its approval began; a local wish goes on below.
        stage = _OF_PERMIT[PermitStatus(request.permit.status)]
        if stage is not Stage.EXECUTED:
            return RequestStage(stage)
    if state == ChangeState.EXECUTED and mirror is not None:
        ready_at = _find_waiting(request, mirror)
        if ready_at is not None:
            return RequestStage(Stage.PROPOSED, datetime.fromtimestamp(ready_at, tz=UTC))
    return RequestStage(_ENDED[state])


def read_permit_stage(permit: ActionPermit, *, now: datetime) -> RequestStage | None:
    """The stage of a permit that waits for its owners or its announcement; None of one that does not."""
    return read_permit_stages([permit], now=now).get(permit.pk)


def read_permit_stages(permits: Collection[ActionPermit], *, now: datetime) -> dict[UUID, RequestStage]:
    """The stages of those among `permits` that wait, by permit."""
    announced = [permit.pk for permit in permits if permit.status == PermitStatus.ANNOUNCED]
    awaiting = [permit.pk for permit in permits if permit.status == PermitStatus.AWAITING_APPROVAL]
    due = Announcement.objects.filter(permit_id__in=announced) if announced else Announcement.objects.none()
    at = dict(due.values_list("permit_id", "executes_at"))
    found = {pk: RequestStage(Stage.ANNOUNCED, at.get(pk)) for pk in announced}
    asked = ChangeRequest.objects.filter(permit_id__in=awaiting) if awaiting else ()
    requests = {request.permit_id: request for request in asked}
    for pk in awaiting:
        request = requests.get(pk)
        if request is None:
            found[pk] = RequestStage(Stage.DECIDE)
        else:
            found[pk] = replace(read_stage(request, now=now), request_id=request.pk)
    return found


def list_proposed(requests: QuerySet[ChangeRequest]) -> list[ChangeRequest]:
    """Of executed `requests` those whose loosening still waits in the contract, the one due first."""
    mirrors = find_mirrors(set(requests.values_list("golem_id", flat=True).distinct()))
    waiting = {golem_id: mirror for golem_id, mirror in mirrors.items() if mirror.state.get("pending")}
    rows = requests.filter(Q(kind="cage") | Q(change__operation="cage"), state=ChangeState.EXECUTED)
    found = [
        (ready_at, row.closed_at, row)
        for row in rows.filter(golem_id__in=list(waiting), change__act="propose").order_by("-closed_at")
        if (ready_at := _find_waiting(row, waiting[row.golem_id])) is not None
    ]
    return [row for _, _, row in sorted(found, key=lambda each: each[:2])]


def find_mirrors(golem_ids: Iterable[UUID]) -> dict[UUID, CageMirror]:
    """The enforced contracts of these golems, by golem."""
    rows = CageMirror.objects.filter(is_enforced=True, cage__golem__in=list(golem_ids)).select_related("cage")
    return {row.cage.golem_id: row for row in rows}


@dataclass(frozen=True, slots=True)
class _AskedOfCage:
    """What a request asks of which contract; other requests have neither."""

    act: object = None
    contract: object = None


@dataclass(frozen=True, slots=True)
class _ProposedRule:
    kind: IntText
    key: str
    value: IntText


@dataclass(frozen=True, slots=True)
class _ProposedRules:
    """The rules that a request proposes to its golem's contract."""

    rules: tuple[_ProposedRule, ...] = ()


def _find_waiting(request: ChangeRequest, mirror: CageMirror) -> int | None:
    """The latest unix second at which a rule that `request` proposed is ready, while one of them waits."""
    asked = read_stored(_AskedOfCage, request.change or {})
    if asked.act != "propose" or asked.contract != mirror.contract:
        return None
    pending = CageState.from_dict(mirror.state).pending
    waits = []
    for rule in read_stored(_ProposedRules, request.change).rules:
        found = pending.get((rule.kind, rule.key))
        if found is not None and found.value == rule.value:
            waits.append(found.ready_at)
    return max(waits, default=None)

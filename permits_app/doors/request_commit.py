"""Start a commit, hand it to a worker, and wait for the outcome as long as the caller wants to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from archetypes_app.audit_actor_names import name_key
from archetypes_app.models import ApiKey, Golem
from permits_app.actions.announce_warden_actions import announce_permit
from permits_app.actions.record_denial import record_commit_denial
from permits_app.actions.start_commit import start_commit
from permits_app.approvals.warden_announcements import expects_warden
from permits_app.doors.hand_to_worker import hand_to_worker
from permits_app.errors import PermitNotCommittable
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits.lifecycle import FINAL
from permits_app.permits.selectors import get_permit
from tools_app.core import clock, trace_spans
from tools_app.core.errors import BrokerUnavailable, GolemError, Recovery, RemoteProblem


@dataclass(frozen=True, slots=True)
class CommitAnswer:
    """The permit after the wait; `is_done` says whether it has ended, `result` is the ToolResult then."""

    is_done: bool
    permit: dict[str, Any]  # Any: a permit as agents see it
    result: dict[str, Any]  # Any: a ToolResult as agents see it

    @property
    def refusal(self) -> GolemError | None:
        """Why nothing was sent and nothing will be, where the commit ended so: an error like that of any refusal."""
        if self.permit["status"] != PermitStatus.BLOCKED:
            return None
        facts = {"permit_id": self.permit["permit_id"], "permit_status": self.permit["status"]}
        problem = self.permit["problem"]
        if not problem:
            return PermitNotCommittable(self.permit["status_reason"], **facts)
        return RemoteProblem({**problem, **facts})


def request_commit(
    *, golem: Golem, api_key: ApiKey | None, permit_id: UUID, wait_seconds: float, request_id: str
) -> CommitAnswer:
    """Commit a permit once, or announce it when the golem's Warden is on. Raises what start_commit raises, and
    BrokerUnavailable.

    When the queue fails after the commit started, nothing is lost: the sweep hands the permit to a worker.
    """
    with trace_spans.continued(str(permit_id), "commit request", permit_id=str(permit_id), request_id=request_id):
        return _request(golem, api_key, permit_id, wait_seconds, request_id)


def _request(
    golem: Golem, api_key: ApiKey | None, permit_id: UUID, wait_seconds: float, request_id: str
) -> CommitAnswer:
    actor = name_key(api_key.prefix) if api_key else "system:runtime"
    try:
        announced = _announce(golem, permit_id, actor)
        if announced is not None:
            return announced
        start_commit(golem=golem, permit_id=permit_id, actor=actor, now=clock.now(), is_by_key=api_key is not None)
    except GolemError as error:
        record_commit_denial(golem_id=golem.pk, actor=actor, permit_id=permit_id, error=error, now=clock.now())
        raise
    try:
        permit = hand_to_worker(permit_id=permit_id, wait_seconds=wait_seconds, request_id=request_id)
    except BrokerUnavailable:
        raise BrokerUnavailable(
            "the task queue does not answer; the commit was accepted and starts when it is back",
            recovery=Recovery.CHECK_STATE,
            permit_id=str(permit_id),
        ) from None
    if permit is None:
        permit = get_permit(golem=golem, permit_id=permit_id)
    return CommitAnswer(is_done=permit["status"] in FINAL, permit=permit, result=permit["result"])


def _announce(golem: Golem, permit_id: UUID, actor: str) -> CommitAnswer | None:
    """The answer for a permit that waits out its announcement; None when it is committed at once."""
    if not expects_warden(golem):
        return None
    status = ActionPermit.objects.filter(golem=golem, pk=permit_id).values_list("status", flat=True).first()
    if status == PermitStatus.CREATED:
        if announce_permit(permit_id=permit_id, golem=golem, actor=actor, now=clock.now()) is None:
            return None
    elif status != PermitStatus.ANNOUNCED:
        return None
    permit = get_permit(golem=golem, permit_id=permit_id)
    return CommitAnswer(is_done=False, permit=permit, result=permit["result"])

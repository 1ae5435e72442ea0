"""Has one golem send another what their owners approved: judged, limited and signed as any transfer of the giver."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.actions.commit import commit_permit
from permits_app.actions.preview import preview_action
from permits_app.actions.record_denial import record_commit_denial, record_preview_denial
from permits_app.actions.start_commit import start_commit
from permits_app.approvals.warden_announcements import is_warden_on
from permits_app.doors.request_commit import request_commit
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.golem_transfers import HandedOver, Handover

_TRANSFER: Final = {"action_type": "transfer", "venue": "wallet"}


class OwnersTransfers:
    """See GolemTransfers."""

    def send(self, handover: Handover, *, why: str, now: datetime) -> HandedOver:
        """A permit of the giver, carried out here unless it waits for owners or is announced first."""
        asked = {
            "token": handover.token,
            "amount": str(handover.amount),
            "recipient": handover.recipient,
            "chain_id": handover.chain_id,
            "why": why,
        }
        actor = f"golem:{handover.asker}"
        body = {**_TRANSFER, **asked}
        try:
            permit = preview_action(golem_id=handover.giver, api_key_id=None, body=body, now=now, actor=actor)
        except GolemError as error:
            record_preview_denial(golem_id=handover.giver, actor=actor, body=body, error=error, now=clock.now())
            raise
        permit_id = UUID(permit["permit_id"])
        if permit["status"] == PermitStatus.CREATED:
            _carry_out(handover.giver, permit_id, actor)
        row = ActionPermit.objects.get(pk=permit_id)
        sent = row.transactions.filter(is_live=True).order_by("call_index").values_list("tx_hash", flat=True)
        return HandedOver(str(permit_id), row.status, next(iter(sent), ""))


def _carry_out(giver: UUID, permit_id: UUID, actor: str) -> None:
    golem = Golem.objects.select_related("archetype", "owner").get(pk=giver)
    if is_warden_on(golem):
        request_commit(golem=golem, api_key=None, permit_id=permit_id, wait_seconds=0, request_id="")
        return
    try:
        start_commit(golem=golem, permit_id=permit_id, actor=actor, now=clock.now())
    except GolemError as error:
        record_commit_denial(golem_id=giver, actor=actor, permit_id=permit_id, error=error, now=clock.now())
        raise
    commit_permit(permit_id=permit_id)

"""Builds what a halted golem may send for its owners: one transfer to an address they registered.

Judged from the bytes of the permit and the rows of the owners' approval, under the golem's lock.
"""

from __future__ import annotations

from archetypes_app.models import Golem
from permits_app.custody.signing_route import carries_its_batch
from permits_app.execution.approved_withdrawal import read_asked_withdrawal
from permits_app.models import ActionPermit, Withdrawal
from permits_app.models.approval import ChangeState
from permits_app.models.withdrawal import WITHDRAW, find_standing
from permits_app.permits.plan_store import decode_calls
from permits_app.safety.withdrawal_plan import pays_exactly


def is_owners_withdrawal(permit: ActionPermit, golem: Golem) -> bool:
    """Whether `permit` is what the golem's owners approved, begun after whatever halted it last, byte for byte."""
    if permit.tool_name != WITHDRAW or permit.halt_epoch != golem.halt_epoch:
        return False
    row = Withdrawal.objects.filter(permit=permit, request__golem=golem.pk).select_related("request").first()
    if row is None or row.request.state != ChangeState.APPROVED:
        return False
    asked = read_asked_withdrawal(row.request)
    return (
        asked.chain_id == permit.chain_id
        and find_standing(golem.pk, chain_id=permit.chain_id, address=asked.to) is not None
        and carries_its_batch(permit)
        and pays_exactly(decode_calls(permit.plan_calls), token=asked.token, amount=asked.amount, to=asked.to)
    )

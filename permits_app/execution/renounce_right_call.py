"""Builds and recognises the call by which a golem gives up a right over somebody's money."""

from __future__ import annotations

from permits_app.limits.received_rights import view_right
from permits_app.models import ActionPermit, ReceivedRight
from permits_app.models.received_right import RightState
from permits_app.permits.stored_calls import PlannedCall
from tools_app.chain.abi import encode_call
from tools_app.toolkit.others_money import EndsByHolder
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF


def find_giving_up(right: ReceivedRight) -> Call | None:
    """The call by which the golem gives a right up; None where its contract knows none."""
    protocol = SHELF.get(right.protocol)
    if protocol is None or not isinstance(protocol.received, EndsByHolder):
        return None
    contract, signature, arguments = protocol.received.give_up(view_right(right))
    return Call(contract, encode_call(signature, *arguments), 0, "give up a right")


def gives_up_a_right(permit: ActionPermit, call: PlannedCall) -> bool:
    """Whether a call of a permit gives up a right in its golem's book, byte for byte, and does nothing else."""
    given = ReceivedRight.objects.filter(golem_id=permit.golem_id, chain_id=permit.chain_id, holder=permit.account)
    # One that was seen to be gone while this was under way is looked at for a while.
    rows = given.filter(state__in=[RightState.STANDING, RightState.WITHDRAWN], next_look_at__isnull=False)
    ends = (find_giving_up(row) for row in rows)
    return any(end is not None and (end.to, end.data) == (call.to, call.payload) for end in ends)

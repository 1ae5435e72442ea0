"""Whether a halt could sign a plan, asked before it is simulated: by the very rule that is asked when it is signed."""

from __future__ import annotations

from archetypes_app.models import Golem
from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.models import ActionPermit
from tools_app.toolkit.plan import TxPlan


def may_sign(golem: Golem, plan: TxPlan) -> bool:
    """Whether the bytes of `plan` are what a halt may send for the golem's account. The permit is made of nothing
    else, and is stored nowhere.
    """
    calls = [
        {"to": call.to, "data": "0x" + call.data.hex(), "value": str(call.value), "label": call.label}
        for call in plan.calls
    ]
    permit = ActionPermit(
        golem=golem, chain_id=plan.chain_id, signer=golem.address, calls=calls, halt_epoch=golem.halt_epoch
    )
    return is_halts_own(permit, golem)

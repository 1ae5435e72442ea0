"""The way out of everything a golem has, taken step by step as a halt takes it."""

from __future__ import annotations

from typing import Final

from permits_app.execution.halt_calls import is_halts_own
from permits_app.models import ActionPermit
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.simulator import Simulator
from tests.catalogue.stage import Stage
from tools_app.core.errors import GolemError
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Act, NeedsTrade, Stuck, Wait
from tools_app.toolkit.protocol import SHELF

MOST_EXITS: Final = 12


def leave_everything(stage: Stage, *, may_be_stuck: bool) -> list[str]:
    """What stands in the way; nothing where all that is left is waited for, traded for, or too little to count."""
    for _ in range(MOST_EXITS):
        held, acts = stage.wallet(), []
        for position in stage.positions():
            protocol = SHELF.get(position.ref.protocol)
            if protocol is None or protocol.exits is None:
                return [f"nobody knows the way out of {position.ref}"]
            step = protocol.exits.next_step(position, held, stage.world.timestamp())
            assert step is None or isinstance(step, Act | Wait | NeedsTrade | Stuck)
            if isinstance(step, Stuck) and not may_be_stuck:
                return [f"{position.ref} is stuck: {step.reason}"]
            if isinstance(step, Act):
                acts.append(step)
        if not acts:
            return []
        case = Case(acts[0].tool, acts[0].params, ActionClass.CLOSE_POSITION)
        try:
            call = stage.call(case)
            verdict = Simulator().check(call)
        except GolemError as error:
            return [f"{case.tool} {dict(case.params)} is refused with {error.code}: {error.detail}"]
        if not isinstance(verdict, Allow):
            return [f"hook 5 refuses {case.tool}: {verdict}"]
        plan = call.plan
        assert plan is not None
        if not _may_be_signed_halted(stage, plan):
            return [f"a halted golem may not sign {[call.label for call in plan.calls]}"]
        stage.carry_out(plan)
    return [f"something is left to do after {MOST_EXITS} steps"]


def _may_be_signed_halted(stage: Stage, plan: TxPlan) -> bool:
    golem = stage.live.golem
    calls = [
        {"to": call.to, "data": "0x" + call.data.hex(), "value": str(call.value), "label": call.label}
        for call in plan.calls
    ]
    permit = ActionPermit(
        golem=golem, chain_id=plan.chain_id, signer=stage.account, calls=calls, halt_epoch=golem.halt_epoch
    )
    return is_halts_own(permit, golem)

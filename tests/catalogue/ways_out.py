"""The way out of everything a golem has, taken step by step as a halt takes it."""

from __future__ import annotations

from typing import Any, Final

from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.models import ActionPermit
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.simulator import Simulator
from permits_app.safety.position_rules import pair_up
from tests.catalogue.stage import Stage
from tools_app.core.errors import GolemError
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Act, NeedsTrade, Position, Stuck, Wait
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
        if not _may_be_signed_halted(stage, plan, verdict):
            return [f"a halted golem may not sign {[call.label for call in plan.calls]}"]
        stage.carry_out(plan)
    return [f"something is left to do after {MOST_EXITS} steps"]


def _may_be_signed_halted(stage: Stage, plan: TxPlan, verdict: Allow) -> bool:
    golem = stage.live.golem
    calls = [
        {"to": call.to, "data": "0x" + call.data.hex(), "value": str(call.value), "label": call.label}
        for call in plan.calls
    ]
    permit = ActionPermit(
        golem=golem,
        chain_id=plan.chain_id,
        signer=stage.account,
        calls=calls,
        halt_epoch=golem.halt_epoch,
        simulation={"positions": _tell_measured(verdict)},
    )
    return is_halts_own(permit, golem)


def _tell_measured(verdict: Allow) -> list[dict[str, Any]]:
    """What was there before the calls and is after them, in the words of a permit."""
    simulation = verdict.simulation
    assert simulation is not None
    found = pair_up(simulation.positions_before or (), simulation.positions_after or ())
    return [{"ref": str(each.ref), "before": _legs_of(each.before), "after": _legs_of(each.after)} for each in found]


def _legs_of(position: Position | None) -> dict[str, Any] | None:
    if position is None:
        return None
    return {"legs": [{"token": leg.token, "raw": str(leg.raw)} for leg in position.legs]}

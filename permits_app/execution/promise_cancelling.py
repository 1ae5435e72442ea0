"""Under a halt: every promise that somebody could still carry out is cancelled on the chain, by its protocol's tool.

Whatever its owner chose for positions, as with allowances. What its contract takes no longer is done; the follower ends
the row and frees what it reserved. Safe to repeat: one that is being cancelled is looked at and not cancelled twice.
"""

from __future__ import annotations

from datetime import datetime

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from permits_app.execution.position_unwinding import check_halt_plan
from permits_app.limits.signed_promises import find_since, judge_fate, list_open, read_typed
from permits_app.models import ActionPermit, SignedPromise
from permits_app.models.permit import PermitStatus
from permits_app.models.signed_promise import PromiseState
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.standards.signed_order_tracking import read_fate
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

ACTION_TYPE = "cancel_promise"
_BUDGET_MS = 10_000


def describe_open_promises(golem: Golem) -> list[dict[str, object]]:
    """What the golem signed and somebody may still carry out."""
    return [_describe(row) for row in list_open(golem.pk)]


def cancel_promises(*, golem: Golem, epoch: int, actor: str, now: datetime) -> tuple[list[dict[str, object]], bool]:
    """Cancel what is open; what came of each, and whether nobody can carry any of them out any more."""
    told, over = [], True
    for row in list_open(golem.pk):
        try:
            line, is_over = _cancel(golem, epoch, row, actor, now)
        except GolemError as error:
            line, is_over = {"failed": error.code, "outcome": error.detail}, False
        told.append({**_describe(row), **line})
        over = over and is_over
    return told, over


def _cancel(golem: Golem, epoch: int, row: SignedPromise, actor: str, now: datetime) -> tuple[dict[str, object], bool]:
    protocol = SHELF.get(row.protocol)
    if protocol is None or protocol.promises is None:
        return {"outcome": "its owner is needed", "reason": "this product no longer knows its protocol"}, True
    # A reader of its own: the block moves with each cancellation.
    state = _look(row, protocol, now)
    if state != PromiseState.OPEN:
        return {"outcome": str(state)}, True
    step = protocol.promises.cancel(read_typed(row))
    tool = REGISTRY.get(step.tool)
    if not isinstance(tool, WriteTool):
        raise TypeError(f"{tool.name} is no write")
    chain = _open_chain(row, now)
    params = runner.check_params(tool=tool, params=dict(step.params))
    plan = runner.build_plan(tool=tool, params=params, golem=view_golem(golem), now=now, chain=chain)
    wanted = HaltPlan(
        plan=plan,
        action_type=ACTION_TYPE,
        params={"promise": row.digest, "tool": tool.name},
        event="HaltPromiseCancellation",
        facts={**_describe(row), "tool": tool.name, "reason": step.reason},
        check=lambda simulation, calls: check_halt_plan(plan, simulation, calls, chain),
    )
    permit: ActionPermit = execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)
    is_done = permit.status == PermitStatus.COMMITTED and _look(row, protocol, now) != PromiseState.OPEN
    return {"permit_id": str(permit.pk), "outcome": "CANCELLED" if is_done else str(permit.status)}, is_done


def _look(row: SignedPromise, protocol: ProtocolDef, now: datetime) -> PromiseState:
    if protocol.promises is None:
        raise TypeError(f"{protocol.name} reads no promises")
    chain = _open_chain(row, now)
    fate = read_fate(chain, read_typed(row), protocol.promises, since=find_since(row))
    return judge_fate(row, fate, block_time=chain.block.timestamp)


def _open_chain(row: SignedPromise, now: datetime) -> ChainReader:
    return runner.open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))


def _describe(row: SignedPromise) -> dict[str, object]:
    return {
        "promise_id": str(row.pk),
        "protocol": row.protocol,
        "gives": list(row.gives),
        "gets": list(row.gets),
        "ends_at": row.ends_at.isoformat(),
    }

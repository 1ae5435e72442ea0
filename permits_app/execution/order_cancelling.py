"""Under a halt: every standing order that somebody else could still carry out is cancelled on the chain.

Whatever its owner chose for positions, as with signed promises. What is gone needs nothing: the follower finds out what
became of it. Safe to repeat. Decision 0438.
"""

from __future__ import annotations

from datetime import datetime

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from permits_app.execution.position_unwinding import check_halt_plan
from permits_app.models import PendingRequest
from permits_app.models.pending_request import FOLLOWED
from permits_app.models.permit import PermitStatus
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.portfolio.read_all_positions import HeldAt
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import Act, Position, PositionRef, Stuck, Wait, drive
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

ACTION_TYPE = "cancel_order"
_BUDGET_MS = 10_000


def describe_standing_orders(golem: Golem) -> list[dict[str, object]]:
    """What the golem asked for and somebody else may still carry out."""
    return [_describe(row) for row in _list_standing(golem)]


def cancel_orders(*, golem: Golem, epoch: int, actor: str, now: datetime) -> tuple[list[dict[str, object]], bool]:
    """Cancel what stands; what came of each, and whether nobody can carry any of them out any more."""
    told, over = [], True
    for row in _list_standing(golem):
        try:
            line, is_over = _cancel(golem, epoch, row, actor, now)
        except GolemError as error:
            line, is_over = {"failed": error.code, "outcome": error.detail}, False
        told.append({**_describe(row), **line})
        over = over and is_over
    return told, over


def _list_standing(golem: Golem) -> list[PendingRequest]:
    rows = PendingRequest.objects.filter(golem=golem, is_order=True, state__in=[str(state) for state in FOLLOWED])
    return list(rows.order_by("created_at", "pk"))


def _cancel(golem: Golem, epoch: int, row: PendingRequest, actor: str, now: datetime) -> tuple[dict[str, object], bool]:
    protocol = SHELF.get(row.protocol)
    if protocol is None or protocol.orders is None:
        return {"outcome": "its owner is needed", "reason": "this product no longer knows its protocol"}, True
    # A reader of its own: the block moves with each cancellation.
    chain = runner.open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    position = _find(row, chain)
    if position is None:
        return {"outcome": "it is gone; what became of it is being looked at"}, True
    step = protocol.orders.cancel(position, chain.block.timestamp)
    if isinstance(step, Wait):
        return {"outcome": "waits", "reason": step.reason, "until": step.until}, False
    if not isinstance(step, Act):
        return {"outcome": "its owner is needed", "reason": step.reason if isinstance(step, Stuck) else ""}, True
    tool = REGISTRY.get(step.tool)
    if not isinstance(tool, WriteTool):
        raise TypeError(f"{tool.name} is no write")
    params = runner.check_params(tool=tool, params=dict(step.params))
    plan = runner.build_plan(tool=tool, params=params, golem=view_golem(golem), now=now, chain=chain)
    wanted = HaltPlan(
        plan=plan,
        action_type=ACTION_TYPE,
        params={"position": row.ref, "tool": tool.name},
        event="HaltOrderCancellation",
        facts={**_describe(row), "tool": tool.name, "reason": step.reason},
        check=lambda simulation, calls: check_halt_plan(plan, simulation, calls, chain),
    )
    permit = execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)
    after = runner.open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    is_done = permit.status == PermitStatus.COMMITTED and _find(row, after) is None
    return {"permit_id": str(permit.pk), "outcome": "CANCELLED" if is_done else str(permit.status)}, is_done


def _find(row: PendingRequest, chain: ChainReader) -> Position | None:
    protocol, ref = SHELF.get(row.protocol), PositionRef.parse(row.ref)
    held = drive(HeldAt(chain.chain_id, row.account, (protocol,) if protocol else (), (ref,)).ask(), chain.call_many)
    return next((each for each in held if each.ref == ref), None)


def _describe(row: PendingRequest) -> dict[str, object]:
    return {
        "request_id": str(row.pk),
        "position": row.ref,
        "protocol": row.protocol,
        "amounts": list(row.amounts),
        "ends_at": row.ends_at.isoformat() if row.ends_at else None,
    }

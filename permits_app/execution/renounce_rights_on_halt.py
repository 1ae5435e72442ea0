"""Under a halt: rights over others' money that the golem received are given up where their holder can, and named where
only their principal can take them back.

One plan each, as for the rights that the golem gave (`right_revocation.py`). What is given up leaves the book; what
only a principal ends stays in it, and is used by nobody while the golem is halted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.errors import SimulationFailed
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from permits_app.execution.renounce_right_call import find_giving_up
from permits_app.limits.received_rights import end_right, list_standing, view_right
from permits_app.models import ReceivedRight
from permits_app.models.permit import PermitStatus
from permits_app.models.received_right import RightState
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.others_money import EndsByPrincipal
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.protocol import SHELF

MUST: Final = "ITS_GIVER_MUST"
_BUDGET_MS: Final = 10_000
_ACTION: Final = "give_up_right"
_HOW: Final = "At the contract where it was given."


def describe_received(golem: Golem) -> list[dict[str, object]]:
    """Every right that stands as far as was seen, JSON-ready; reads no chain."""
    return [_describe(row) for row in list_standing(golem.pk)]


def drop_received(*, golem: Golem, epoch: int, actor: str, now: datetime) -> tuple[list[dict[str, object]], bool]:
    """Give up what the golem can; says for each what came of it, or who must. The second is whether all was tried.

    Raises SameActionPending while another worker does it, SignerUnavailable, GolemHalted when another halt came
    meanwhile, and the node's errors.
    """
    done = [_drop(golem, epoch, row, actor, now) for row in list_standing(golem.pk)]
    return done, all(each["outcome"] in (MUST, str(PermitStatus.COMMITTED)) for each in done)


def _describe(row: ReceivedRight) -> dict[str, object]:
    return {
        "chain_id": row.chain_id,
        "protocol": row.protocol,
        "right": row.reference,
        "principal": row.principal,
        "token": row.token,
        "ends_at": row.ends_at.isoformat(),
    }


def _drop(golem: Golem, epoch: int, row: ReceivedRight, actor: str, now: datetime) -> dict[str, object]:
    told, call = _describe(row), find_giving_up(row)
    if call is None or row.holder != golem.address:
        return {**told, "outcome": MUST, "who": row.principal, "how": _say_how(row)}
    chain = runner.open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    wanted = HaltPlan(
        plan=TxPlan(chain_id=row.chain_id, calls=(call,), action_class=ActionClass.CLOSE_POSITION),
        action_type=_ACTION,
        params=told,
        event="HaltRevocationStarted",
        facts={"rights": [told]},
        check=_check,
    )
    try:
        permit = execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)
    except SimulationFailed as error:
        return {**told, "outcome": MUST, "who": row.principal, "how": _say_how(row), "detail": error.detail}
    if permit.status == PermitStatus.COMMITTED:
        end_right(row, to=RightState.DROPPED, reason="given up by a halt", actor=actor, now=now)
    hashes: Sequence[str] = list(permit.transactions.values_list("tx_hash", flat=True))
    return {**told, "permit_id": str(permit.pk), "tx_hash": next(iter(hashes), ""), "outcome": permit.status}


def _say_how(row: ReceivedRight) -> str:
    protocol = SHELF.get(row.protocol)
    ends = protocol.received if protocol is not None else None
    return ends.say_end(view_right(row)) if isinstance(ends, EndsByPrincipal) else _HOW


def _check(simulation: SimulationResult, calls: Sequence[Call]) -> None:
    if not simulation.succeeded:
        raise SimulationFailed("giving the right up reverts in simulation; it may have ended by itself")

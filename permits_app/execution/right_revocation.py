"""Under a halt: rights that protocols' own contracts give somebody over the golem's account are taken back.

One plan each, so that a right which ended by itself, and whose end reverts, keeps no other one standing. Like the
halt's other plans it is simulated, gets a permit bound to the halt's epoch, and is judged from its bytes
(`halt_signing_rule.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.errors import SafeNeedsOwners, SimulationFailed
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from permits_app.models import ActionPermit
from permits_app.permits.stored_calls import read_planned_calls
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.portfolio.rights_without_logs import find_asked_rights, list_asked_contracts
from tools_app.portfolio.standing_rights import RightsFound, StandingRight, find_standing_rights
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, TxPlan

_BUDGET_MS = 10_000
_SEARCH_BUDGET_MS = 30_000  # fifty ranges of logs, a round trip each


def list_rights(*, golem: Golem, chain_id: int, now: datetime) -> RightsFound:
    """What stands on a chain, told by logs or asked for. Raises the node's errors and PositionsUnreadable."""
    chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_SEARCH_BUDGET_MS))
    told = find_standing_rights(chain=chain, account=golem.address)
    asked = find_asked_rights(chain=chain, account=golem.address, calls=_list_calls(golem, chain_id))
    return RightsFound((*told.rights, *asked), told.since_block)


def _list_calls(golem: Golem, chain_id: int) -> list[tuple[str, bytes]]:
    """What the golem's permits called of the contracts that know rights which no log tells."""
    contracts = list_asked_contracts(chain_id)
    named = Q()
    for contract in contracts:
        named |= Q(calls__contains=[{"to": contract}]) | Q(batch__contains=[{"to": contract}])
    if not named:
        return []
    permits = ActionPermit.objects.filter(named, golem=golem, chain_id=chain_id).only("calls", "batch")
    return [
        (call.to, call.payload)
        for permit in permits.order_by("created_at")
        for call in read_planned_calls(permit.plan_calls)
        if call.to in contracts
    ]


def revoke_rights(*, golem: Golem, epoch: int, chain_id: int, actor: str, now: datetime) -> list[dict[str, object]]:
    """Take back every right that stands on a chain; says for each what came of it. What cannot be taken back is told.

    Raises the node's errors, PositionsUnreadable, SameActionPending while another worker does it, SignerUnavailable,
    SafeNeedsOwners with every right that they have to take back, GolemHalted when another halt came meanwhile.
    """
    found = list_rights(golem=golem, chain_id=chain_id, now=now)
    try:
        done = [_revoke(golem, epoch, chain_id, right, actor, now) for right in found.rights]
    except SafeNeedsOwners as error:
        names = ", ".join(f"{each.taker} {each.label} at {each.contract}" for each in found.rights)
        raise SafeNeedsOwners(f"{error.detail}: {names}", **error.data) from error
    return [*done, *_tell_gap(chain_id, found)]


def _tell_gap(chain_id: int, found: RightsFound) -> list[dict[str, object]]:
    """What nobody looked at, for the owner to look at."""
    if not found.since_block:
        return []
    detail = f"rights that were given on chain {chain_id} before block {found.since_block} were not searched for"
    return [{"outcome": "NOT_SEARCHED", "detail": detail}]


def describe_right(right: StandingRight, *, chain_id: int) -> dict[str, object]:
    """JSON-ready, for the steps of a halt."""
    told = {
        "chain_id": chain_id,
        "protocol": right.protocol,
        "contract": right.contract,
        "taker": right.taker,
        "right": right.label,
    }
    return {**told, **({"token": right.token} if right.token is not None else {})}


def _revoke(
    golem: Golem, epoch: int, chain_id: int, right: StandingRight, actor: str, now: datetime
) -> dict[str, object]:
    told = describe_right(right, chain_id=chain_id)
    chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    wanted = HaltPlan(
        plan=TxPlan(
            chain_id=chain_id,
            calls=(Call(right.contract, right.data, 0, "take back a right"),),
            action_class=ActionClass.CLOSE_POSITION,
        ),
        action_type="revoke_right",
        params=told,
        event="HaltRevocationStarted",
        facts={"rights": [told]},
        check=_check,
    )
    try:
        permit = execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)
    except SimulationFailed as error:
        return {**told, "outcome": "CANNOT_BE_TAKEN_BACK", "detail": error.detail}
    hashes: Sequence[str] = list(permit.transactions.values_list("tx_hash", flat=True))
    return {**told, "permit_id": str(permit.pk), "tx_hash": next(iter(hashes), ""), "outcome": permit.status}


def _check(simulation: SimulationResult, calls: Sequence[Call]) -> None:
    if not simulation.succeeded:
        raise SimulationFailed("taking the right back reverts in simulation; it may have ended by itself")

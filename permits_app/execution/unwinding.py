"""Under a halt, when its owner chose that: the golem's own Uniswap V3 positions are taken back into its wallet.

Each position is a plan of its own, made by the tool that an agent would use, so one that fails keeps no other from
being unwound. Seed: decisions, "Halt"; 002, "Emergency halt".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.execution.halt_permits import TOOL_NAME, HaltPlan, execute_halt_plan
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.safety.hooks.simulator import judge_allowances, judge_flows, judge_reverts, judge_surprises
from tools_app import runner
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.v3.positions import Position, list_position_ids, read_positions
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

ACTION_TYPE = "unwind_position"
MOST_ATTEMPTS = 3
"""A position whose unwinding was mined and reverted this often is left to its owner."""
_MOST_POSITIONS = 200
_BUDGET_MS = 10_000
_REMOVE, _COLLECT = "uniswap_lp_remove_liquidity", "uniswap_lp_collect_fees"


def list_open_positions(*, golem: Golem, now: datetime) -> list[dict[str, Any]]:
    """The golem's positions on its home chain that still hold something: id, tokens, liquidity. Raises node errors."""
    chain = _open_chain(golem, now)
    return [_describe(position, chain) for position in _find_open(golem, chain)]


def unwind_positions(*, golem: Golem, epoch: int, actor: str, now: datetime) -> tuple[list[dict[str, Any]], bool]:
    """Take every open position back; what came of each, and whether nothing is left to do under this halt.

    Raises the node's errors of finding them; what goes wrong with one position is in its line.
    """
    chain = _open_chain(golem, now)
    told, is_done = [], True
    for position in _find_open(golem, chain):
        facts = _describe(position, chain)
        tried = _count_attempts(golem, epoch, position.position_id)
        if tried >= MOST_ATTEMPTS:
            told.append({**facts, "outcome": f"left as it is: {tried} attempts reverted"})
            continue
        try:
            permit = _unwind(golem, epoch, position, facts, actor, now)
        except GolemError as error:
            told.append({**facts, "failed": error.code, "outcome": error.detail})
            is_done = False
            continue
        hashes = list(permit.transactions.order_by("call_index").values_list("tx_hash", flat=True))
        told.append({**facts, "permit_id": str(permit.pk), "tx_hashes": hashes, "outcome": permit.status})
        is_done = is_done and permit.status == PermitStatus.COMMITTED
    return told, is_done


def _unwind(
    golem: Golem, epoch: int, position: Position, facts: Mapping[str, Any], actor: str, now: datetime
) -> ActionPermit:
    # A reader of its own: the block moved with the position before.
    chain = _open_chain(golem, now)
    tool = REGISTRY.get(_REMOVE if position.liquidity else _COLLECT)
    if not isinstance(tool, WriteTool):
        raise TypeError(f"{tool.name} is no write")
    params = runner.check_params(tool=tool, params={"position_id": str(position.position_id)})
    plan = runner.build_plan(tool=tool, params=params, golem=view_golem(golem), now=now, chain=chain)
    wanted = HaltPlan(
        plan=plan,
        action_type=ACTION_TYPE,
        params={"position_id": str(position.position_id)},
        event="HaltUnwindingStarted",
        facts=facts,
        check=lambda simulation, calls: _check(plan, simulation, calls, chain),
    )
    return execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)


def _check(plan: TxPlan, simulation: SimulationResult, calls: Sequence[Call], chain: ChainReader) -> None:
    """The promises of the plan, as hook 5 judges them. Raises SimulationFailed."""
    refusal = (
        judge_reverts(calls=calls, simulation=simulation)
        or judge_flows(plan=plan, simulation=simulation, native=chain.native())
        or judge_allowances(plan=plan, simulation=simulation)
        or judge_surprises(plan=plan, simulation=simulation)
    )
    if refusal is not None:
        raise refusal.as_error("simulator")


def _find_open(golem: Golem, chain: ChainReader) -> list[Position]:
    if not golem.address:
        return []
    try:
        deployment = deployment_on(chain.chain_id)
    except ChainNotSupported:
        return []
    ids, _ = list_position_ids(chain, deployment, golem.address, limit=_MOST_POSITIONS)
    found = read_positions(chain, deployment, ids) if ids else []
    return [each for each in found if each.owner == golem.address and (each.liquidity or each.fees0 or each.fees1)]


def _describe(position: Position, chain: ChainReader) -> dict[str, Any]:
    tokens = (chain.token(position.pool.token0), chain.token(position.pool.token1))
    return {
        "position_id": str(position.position_id),
        "venue": "uniswap",
        "pair": "/".join(token.symbol for token in tokens),
        "liquidity": str(position.liquidity),
    }


def _count_attempts(golem: Golem, epoch: int, position_id: int) -> int:
    return ActionPermit.objects.filter(
        golem=golem, halt_epoch=epoch, tool_name=TOOL_NAME, action_type=ACTION_TYPE,
        params__position_id=str(position_id), status=PermitStatus.REVERTED,
    ).count()  # fmt: skip


def _open_chain(golem: Golem, now: datetime) -> ChainReader:
    return runner.open_reader(golem.home_chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))

"""`uniswap_lp_batch_operations`: several steps at V3 positions of the golem under one permit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.errors import PositionEmpty
from tools_app.protocols.uniswap.tools.batch_fields import (
    Add,
    AddParams,
    Collect,
    Compound,
    Operation,
    OperationsText,
    Rebalance,
    Remove,
    parse_operations,
)
from tools_app.protocols.uniswap.tools.family import uniswap
from tools_app.protocols.uniswap.tools.joint_steps import JointSteps
from tools_app.protocols.uniswap.tools.liquidity import GROWN, choose_range
from tools_app.protocols.uniswap.tools.own_positions import read_own
from tools_app.protocols.uniswap.tools.position_details import describe_amounts, describe_range
from tools_app.protocols.uniswap.tools.rebalancing import plan_compound, plan_rebalance
from tools_app.protocols.uniswap.v3.positions import V3Position
from tools_app.protocols.uniswap.v4.liquidity_plans import NOBODY
from tools_app.protocols.uniswap.v4.positions import PREFIX
from tools_app.standards.erc721 import MOVED
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.params import SlippageBps
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.views import LogEntry


class OperationResult(Told):
    """One step: what it was, and the position it worked on or opened."""

    op_type: str
    position_id: str
    status: str
    gas_used: str | None


class BatchReport(Told):
    """What a batch did. `gas_saved_vs_separate` is null: nobody ran them one by one; so is the gas of a step that
    shares its call with others.
    """

    results: tuple[OperationResult, ...]
    total_gas_used: str
    gas_saved_vs_separate: str | None


@dataclass(frozen=True, slots=True)
class _BatchStep:
    op_type: str
    position_id: str = ""


@dataclass(frozen=True, slots=True)
class _BatchDetails:
    managers: list[str]
    operations: tuple[_BatchStep, ...]


def report_batch(outcome: PlanOutcome) -> BatchReport:
    """Positions that were opened from the manager's events, in the order in which they were asked for."""
    details = read_details(_BatchDetails, outcome)
    managers = details.managers
    logs = [log for receipt in outcome.receipts for log in receipt.logs if log.address in managers]
    added = [found for log in logs if (found := _added(log, managers)) is not None]
    known = {each.position_id for each in details.operations if each.position_id}
    born = iter(each for each in added if each not in known)
    results = []
    for each in details.operations:
        position_id = next(born, "") if each.op_type in ("add", "rebalance") else each.position_id
        results.append(OperationResult(each.op_type, position_id, "done", None))
    return BatchReport(tuple(results), str(sum(receipt.gas_used for receipt in outcome.receipts)), None)


@uniswap.write(
    action_type="batch_liquidity",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_batch,
    steps=("Reading the position", "Reading the pool", "Building calls"),
    snippet=(
        "batch_liquidity: collect, compound, remove, add and rebalance at up to ten Uniswap positions under one"
        " permit; at V3 without a swap all of it is one call."
    ),
    guidelines=(
        "Name each position once, in the order in which things happen: what one step brings a later add may take.",
        "Compounding stands with other compounding only; bring tokens into the wallet in a batch of their own.",
    ),
)
def uniswap_lp_batch_operations(
    ctx: WriteContext,
    operations: OperationsText,
    slippage_bps: SlippageBps = 50,
) -> TxPlan:
    """Several operations at V3 and V4 positions of the golem as one plan, bounded as a whole.

    Use to tend to many positions at once. At V3 all of them happen in one call, or, where something is swapped in
    between, in a few in a row; at V4 each is a call. The permit says what is over or missing of each token at worst.
    Does not touch one position twice, and opens in V3.
    """
    wanted = parse_operations(operations)
    _check_together(wanted)
    ctx.step("Reading the position")
    joint = JointSteps.begin(ctx, slippage_bps=slippage_bps)
    named = [each.position_id for each in wanted if not isinstance(each, Add)]
    held = read_own(joint.reader, named, ctx.account)
    told = []
    for operation in wanted:
        position = None if isinstance(operation, Add) else held[operation.position_id]
        told.append({"op_type": operation.op_type, **_plan_one(joint, operation, position)})
    ctx.step("Building calls")
    return joint.finish(
        action_class=_class_of(wanted),
        details={"managers": [joint.deployment.v3_position_manager, joint.v4.positions], "operations": told},
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _check_together(wanted: list[Operation]) -> None:
    counted = Counter(each.position_id for each in wanted if not isinstance(each, Add))
    twice = sorted(position_id for position_id, count in counted.items() if count > 1)
    if twice:
        raise InvalidParams(
            f"positions {', '.join(twice)} are named twice; one batch does one thing to a position",
            fields={"operations": "a position is named twice"},
        )
    kinds = {each.op_type for each in wanted}
    if "compound" in kinds and kinds & {"collect", "remove", "rebalance"}:
        raise InvalidParams(
            "no calldata says how much fees bring, so compounding stands beside nothing that brings tokens; make it a"
            " batch of its own",
            fields={"operations": "compound beside collect, remove or rebalance"},
        )


def _plan_one(joint: JointSteps, operation: Operation, position: V3Position | None) -> Mapping[str, object]:
    if isinstance(operation, Add):
        return _plan_add(joint, operation.params)
    assert position is not None
    if isinstance(operation, Rebalance):
        asked = operation.params
        return plan_rebalance(joint, position, asked.new_price_lower, asked.new_price_upper, asked.fee)
    if isinstance(operation, Compound):
        return plan_compound(joint, position, swaps=operation.params.swap_to_optimal_ratio)
    tokens, fees = joint.tokens_of(position.pool), (position.fees0, position.fees1)
    told = {"position_id": position.position_id, **describe_amounts("fees", tokens, fees)}
    if isinstance(operation, Remove):
        liquidity = position.liquidity * operation.params.percent_to_remove // 100
        if liquidity == 0:
            raise PositionEmpty(
                f"position {position.position_id} has no liquidity to take out", position_id=position.position_id
            )
        joint.take_out(position, liquidity, with_fees=operation.params.collect_fees)
        return {**told, **describe_amounts("amount", tokens, position.amounts(liquidity))}
    assert isinstance(operation, Collect)
    if fees == (0, 0):
        raise PositionEmpty(f"position {position.position_id} has no fees to collect", position_id=position.position_id)
    joint.collect(position)
    return told


def _plan_add(joint: JointSteps, asked: AddParams) -> dict[str, object]:
    joint.ctx.step("Reading the pool")
    chosen = choose_range(
        joint.reader,
        joint.deployment,
        named=(joint.reader.token(asked.token0), joint.reader.token(asked.token1)),
        prices=(asked.price_lower, asked.price_upper),
        amounts=(asked.amount0, asked.amount1),
        fee=asked.fee,
    )
    offer = joint.open(chosen.pool, chosen.ticks, chosen.amounts)
    return {
        "liquidity": str(offer.liquidity),
        **describe_range(chosen.pool, chosen.tokens, *chosen.ticks),
        **describe_amounts("amount", chosen.tokens, offer.used),
        **describe_amounts("minimum_amount", chosen.tokens, offer.least),
    }


def _class_of(wanted: list[Operation]) -> ActionClass:
    """The strictest of its parts; what was measured may be stricter still."""
    kinds = {each.op_type for each in wanted}
    if "add" in kinds:
        return ActionClass.NEW_POSITION
    if kinds & {"rebalance", "compound"}:
        return ActionClass.REBALANCE
    return ActionClass.DECREASE_POSITION


def _added(log: LogEntry, managers: list[str]) -> str | None:
    """The position that a log of V3's manager says has grown, or one of V4's that it was made."""
    if log.address == managers[0]:
        grown = GROWN.read(log)
        return None if grown is None else str(grown.token_id)
    sent = MOVED.read(log)
    return None if sent is None or sent.from_ != NOBODY else f"{PREFIX}{sent.token_id}"

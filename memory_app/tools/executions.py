"""Tools over executions: predicted before, settled after, compared and searched for what failed alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from django.db import transaction
from pydantic import AfterValidator, BeforeValidator, Field

from memory_app.actions.record_execution import (
    Prediction,
    Realized,
    read_usd,
    record_execution,
    record_execution_outcome,
)
from memory_app.errors import ExecutionNotFound
from memory_app.execution_statistics import compare_predictions, find_failure_patterns, show_ratio
from memory_app.json_text import parse_object
from memory_app.models import Execution
from memory_app.models.strategy import ExecutionKind
from memory_app.tools.families import JsonObject, LongNote, Note, SignedUsd, StrategyName, from_agent, memory
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, PiTool, TickBudget
from tools_app.toolkit.params import SlippageBps, check_whole
from tools_app.toolkit.plan import LocalEffect

ExecutionId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9._:-]{1,96}$", description="Your own id of the execution, such as a permit_id.")
]
# The specification says `action_type`, a word the Pi tool keeps for itself.
ExecutionKindName = Annotated[ExecutionKind, Field(description="What the execution does.")]
TxHash = Annotated[
    str, Field(pattern=r"^0x[0-9a-fA-F]{64}$", description="Hash of its transaction."), AfterValidator(str.lower)
]
Period = Annotated[Literal["7d", "30d", "90d"], Field(description="How far to look back.")]
LeastExecutions = Annotated[
    int, Field(ge=2, le=1_000, description="Least executions of a cluster."), BeforeValidator(check_whole)
]
_DAYS = {"7d": 7, "30d": 30, "90d": 90}


@dataclass(frozen=True, slots=True)
class RecordedExecution:
    """When the prediction was written down."""

    execution_id: str
    recorded_at: str
    is_quarantined: bool


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """`prediction_error` is decimal text, 1 for the whole of the prediction; empty when no pnl_usd was predicted."""

    execution_id: str
    prediction_error: str | None
    recorded_at: str


@dataclass(frozen=True, slots=True)
class PredictionAccuracy:
    """Ratios as decimal text; `drift_score` is the newer errors as a part of the older ones, 1 when equal."""

    prediction_error: dict[str, str | None]
    calibration_accuracy: str | None
    drift_score: str | None
    drift_trend: str
    overconfidence_detected: bool
    sample_count: int


@dataclass(frozen=True, slots=True)
class FailurePatterns:
    """Clusters of losing executions, worst first."""

    clusters: list[dict[str, object]]


def preview_execution(
    ctx: WriteContext,
    execution_id: str,
    strategy_name: str,
    execution_type: ExecutionKind,
    portfolio_snapshot: str,
    market_conditions: str,
    decision_params: str,
    predicted_outcome: str,
    reasoning_chain: str | None,
    tx_hash: str | None,
    reflection: str | None,
) -> LocalEffect:
    """What would be recorded. Raises InvalidParams."""
    prediction = _read_prediction(
        strategy_name,
        execution_type,
        portfolio_snapshot,
        market_conditions,
        decision_params,
        predicted_outcome,
        reasoning_chain,
        tx_hash,
        reflection,
    )
    return LocalEffect(
        f"Record {execution_id} before it settles",
        {"strategy_name": strategy_name, "predicted_outcome": dict(prediction.predicted_outcome)},
    )


@memory.local_write(
    budget=TickBudget.FAST,
    in_database=True,
    preview=preview_execution,
    action_class=ActionClass.READ_ONLY,
    snippet=(
        "record_execution: write down the situation, your decision and your prediction of an execution "
        "before it settles."
    ),
    guidelines=("Name pnl_usd and confidence in predicted_outcome, so that the outcome can be held against them.",),
    aliases=("record_execution",),
)
def memory_record_execution(
    ctx: WriteContext,
    capability: Capability,
    execution_id: ExecutionId,
    strategy_name: StrategyName,
    execution_type: ExecutionKindName,
    portfolio_snapshot: JsonObject,
    market_conditions: JsonObject,
    decision_params: JsonObject,
    predicted_outcome: JsonObject,
    reasoning_chain: LongNote | None = None,
    tx_hash: TxHash | None = None,
    reflection: Note | None = None,
) -> RecordedExecution:
    """Record an execution and its prediction, once, before the outcome is known.

    Use right before a commit that belongs to a strategy. Does not execute anything, and does not change what was
    recorded under the same id.
    """
    prediction = _read_prediction(
        strategy_name,
        execution_type,
        portfolio_snapshot,
        market_conditions,
        decision_params,
        predicted_outcome,
        reasoning_chain,
        tx_hash,
        reflection,
    )
    with transaction.atomic():
        row = record_execution(
            golem_id=ctx.golem.id,
            execution_id=execution_id,
            prediction=prediction,
            provenance=from_agent(ctx, capability),
            now=ctx.now,
        )
    return RecordedExecution(row.execution_id, row.recorded_at.isoformat(), row.is_quarantined)


def preview_outcome(
    ctx: WriteContext,
    execution_id: str,
    realized_pnl: str,
    gas_used_usd: str,
    fees_earned: str | None,
    impermanent_loss: str | None,
    unrealized_pnl: str | None,
    slippage_actual: int | None,
    reflection: str | None,
) -> LocalEffect:
    """Which execution would be settled. Raises ExecutionNotFound."""
    if not Execution.objects.filter(golem_id=ctx.golem.id, execution_id=execution_id).exists():
        raise ExecutionNotFound(f"this golem recorded no execution {execution_id!r}")
    return LocalEffect(f"Record the outcome of {execution_id}", {"realized_pnl_usd": realized_pnl})


@memory.local_write(
    budget=TickBudget.FAST,
    in_database=True,
    preview=preview_outcome,
    action_class=ActionClass.READ_ONLY,
    snippet=(
        "record_outcome: write down what a recorded execution really brought; it answers how far the "
        "prediction was off."
    ),
    guidelines=(
        "Record it once and only when the result is final; outcomes of permits are recorded without you, so leave "
        "those alone.",
    ),
    aliases=("record_outcome",),
)
def memory_record_outcome(
    ctx: WriteContext,
    capability: Capability,
    execution_id: ExecutionId,
    realized_pnl: SignedUsd,
    gas_used_usd: SignedUsd,
    fees_earned: SignedUsd | None = None,
    impermanent_loss: SignedUsd | None = None,
    unrealized_pnl: SignedUsd | None = None,
    slippage_actual: SlippageBps | None = None,
    reflection: Note | None = None,
) -> RecordedOutcome:
    """Record the realised outcome of an execution, once, and how far the prediction was off.

    Use when the result of a recorded execution is known. Call memory_record_execution before. Does not tune anything:
    only verified outcomes of permits do.
    """
    realized = Realized(
        pnl_micro_usd=read_usd(realized_pnl, field="realized_pnl") or 0,
        gas_used_micro_usd=read_usd(gas_used_usd, field="gas_used_usd") or 0,
        fees_earned_micro_usd=read_usd(fees_earned, field="fees_earned"),
        impermanent_loss_micro_usd=read_usd(impermanent_loss, field="impermanent_loss"),
        unrealized_pnl_micro_usd=read_usd(unrealized_pnl, field="unrealized_pnl"),
        slippage_actual_bps=slippage_actual,
        reflection=reflection or "",
    )
    with transaction.atomic():
        row = record_execution_outcome(
            golem_id=ctx.golem.id,
            execution_id=execution_id,
            realized=realized,
            actor=f"golem:{ctx.golem.id}",
            now=ctx.now,
        )
    settled = row.settled_at or ctx.now
    return RecordedOutcome(row.execution_id, show_ratio(row.prediction_error_bps), settled.isoformat())


@memory.read(
    query="prediction_accuracy",
    snippet="prediction_accuracy: how far off recorded predictions were, whether they were too sure, and the drift.",
    guidelines=(
        "A few settled executions prove nothing; where you were too sure, put less confidence into the next "
        "prediction.",
    ),
    pi=PiTool.QUERY_GRIMOIRE,
)
def memory_compare_prediction(
    ctx: ReadContext, strategy_name: StrategyName | None = None, period: Period = "30d"
) -> PredictionAccuracy:
    """Prediction error, calibration and drift of the settled executions of a period.

    Use to see whether predictions can be relied on. Does not judge executions whose outcome was not recorded.
    """
    found = compare_predictions(
        golem_id=ctx.golem.id, strategy_name=strategy_name or "", days=_DAYS[period], now=ctx.now
    )
    return PredictionAccuracy(
        prediction_error={
            "mean": show_ratio(found.mean_bps),
            "stddev": show_ratio(found.stddev_bps),
            "median": show_ratio(found.median_bps),
            "p95": show_ratio(found.p95_bps),
        },
        calibration_accuracy=show_ratio(None if found.calibration_bps is None else 10_000 - abs(found.calibration_bps)),
        drift_score=show_ratio(found.drift_bps),
        drift_trend=found.drift_trend.value,
        overconfidence_detected=found.is_overconfident,
        sample_count=found.sample_count,
    )


@memory.read(
    snippet="failure_patterns: executions that lost alike, what they share, and what might be changed about them.",
    guidelines=("A hypothesis is a question for the next execution, not a finding.",),
    pi=PiTool.QUERY_GRIMOIRE,
)
def memory_get_failure_patterns(
    ctx: ReadContext,
    strategy_name: StrategyName | None = None,
    min_executions: LeastExecutions = 5,
    failure_threshold: SignedUsd = "0",
) -> FailurePatterns:
    """Clusters of executions whose realised result lies under the threshold, with a hypothesis for each.

    Use before repeating a strategy that lost. Does not look at executions without an outcome, and changes nothing.
    """
    found = find_failure_patterns(
        golem_id=ctx.golem.id,
        strategy_name=strategy_name or "",
        min_executions=min_executions,
        threshold_micro_usd=read_usd(failure_threshold, field="failure_threshold") or 0,
    )
    return FailurePatterns(
        clusters=[
            {
                "features": pattern.features,
                "execution_count": pattern.execution_count,
                "avg_pnl": format_micro_usd(pattern.average_pnl_micro_usd),
                "hypothesis": pattern.hypothesis,
                "suggested_adjustments": list(pattern.suggested_adjustments),
            }
            for pattern in found
        ]
    )


def _read_prediction(
    strategy_name: str,
    execution_type: ExecutionKind,
    portfolio_snapshot: str,
    market_conditions: str,
    decision_params: str,
    predicted_outcome: str,
    reasoning_chain: str | None,
    tx_hash: str | None,
    reflection: str | None,
) -> Prediction:
    return Prediction(
        strategy_name=strategy_name,
        kind=execution_type,
        portfolio_snapshot=parse_object(portfolio_snapshot, field="portfolio_snapshot"),
        market_conditions=parse_object(market_conditions, field="market_conditions"),
        decision_params=parse_object(decision_params, field="decision_params"),
        predicted_outcome=parse_object(predicted_outcome, field="predicted_outcome"),
        reasoning_chain=reasoning_chain or "",
        tx_hash=tx_hash or "",
        reflection=reflection or "",
    )

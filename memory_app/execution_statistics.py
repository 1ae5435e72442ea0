"""Computes from executions how far predictions were off, whether they drift, and what failed alike.

Figures are integers in basis points and micro-USD; deterministic, no language model. Every question names its golem.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db.models import QuerySet

from memory_app.models import Execution
from tools_app.core.units import BPS, format_micro_usd

LEAST_TO_JUDGE = 4
STABLE_WITHIN_BPS = 1_000
OVERCONFIDENT_BY_BPS = 1_000
_MOST_EXECUTIONS = 2_000
_MOST_CLUSTERS = 20
_HIT_WITHIN_BPS = 1_000


class Trend(StrEnum):
    """Whether predictions get better."""

    IMPROVING = "improving"
    STABLE = "stable"
    DEGRADING = "degrading"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Prediction errors in basis points; `calibration_bps` is how often a prediction came true, less how sure it was.

    `drift_bps` is the mean error of the newer half as a part of the older half's, 10,000 when equal.
    """

    sample_count: int
    mean_bps: int | None
    stddev_bps: int | None
    median_bps: int | None
    p95_bps: int | None
    hit_rate_bps: int | None
    calibration_bps: int | None
    drift_bps: int | None
    drift_trend: Trend
    is_overconfident: bool


@dataclass(frozen=True, slots=True)
class FailurePattern:
    """Executions that lost alike, by what they share, with the mean result in micro-USD."""

    features: dict[str, str]
    execution_count: int
    average_pnl_micro_usd: int
    hypothesis: str
    suggested_adjustments: tuple[str, ...]


def select_settled(*, golem_id: UUID, strategy_name: str = "") -> QuerySet[Execution]:
    """The golem's settled executions (of one strategy), without quarantined ones, unordered."""
    rows = Execution.objects.filter(golem_id=golem_id, settled_at__isnull=False, is_quarantined=False)
    return rows.filter(strategy_name=strategy_name) if strategy_name else rows


def compare_predictions(*, golem_id: UUID, strategy_name: str, days: int, now: datetime) -> Accuracy:
    """How far off the predictions of the last `days` were."""
    rows = select_settled(golem_id=golem_id, strategy_name=strategy_name).filter(
        settled_at__gt=now - timedelta(days=days), prediction_error_bps__isnull=False
    )
    newest = rows.order_by("-settled_at", "pk").values_list("prediction_error_bps", "predicted_confidence_bps")
    found = list(newest[:_MOST_EXECUTIONS])
    return judge_accuracy([(error or 0, confidence) for error, confidence in reversed(found)])


def judge_accuracy(rows: Sequence[tuple[int, int | None]]) -> Accuracy:
    """Figures of (error, stated confidence) in basis points, oldest first; pure."""
    errors = [error for error, _ in rows]
    if not errors:
        return Accuracy(0, None, None, None, None, None, None, None, Trend.STABLE, False)
    mean = sum(errors) // len(errors)
    ordered = sorted(errors)
    hit_rate = sum(error <= _HIT_WITHIN_BPS for error in errors) * BPS // len(errors)
    stated = [(error, sure) for error, sure in rows if sure is not None]
    gap = None
    if stated:
        hits = sum(error <= _HIT_WITHIN_BPS for error, _ in stated) * BPS // len(stated)
        gap = hits - sum(sure for _, sure in stated) // len(stated)
    drift = _measure_drift(errors)
    return Accuracy(
        sample_count=len(errors),
        mean_bps=mean,
        stddev_bps=math.isqrt(sum((error - mean) ** 2 for error in errors) // len(errors)),
        median_bps=ordered[len(ordered) // 2],
        p95_bps=ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)],
        hit_rate_bps=hit_rate,
        calibration_bps=gap,
        drift_bps=drift,
        drift_trend=_name_trend(drift),
        is_overconfident=gap is not None and len(stated) >= LEAST_TO_JUDGE and gap < -OVERCONFIDENT_BY_BPS,
    )


def find_failure_patterns(
    *, golem_id: UUID, strategy_name: str, min_executions: int, threshold_micro_usd: int
) -> list[FailurePattern]:
    """Clusters of at least `min_executions` executions whose realised result lies under the threshold, worst first."""
    rows = select_settled(golem_id=golem_id, strategy_name=strategy_name)
    losing = rows.filter(realized_pnl_micro_usd__lt=threshold_micro_usd).order_by("-settled_at", "pk")
    clusters: dict[tuple[str, str], list[Execution]] = defaultdict(list)
    for row in losing[:_MOST_EXECUTIONS]:
        clusters[row.strategy_name, row.kind].append(row)
    patterns = [
        _describe_cluster(strategy, kind, members)
        for (strategy, kind), members in clusters.items()
        if len(members) >= min_executions
    ]
    return sorted(patterns, key=lambda pattern: pattern.average_pnl_micro_usd)[:_MOST_CLUSTERS]


def measure_performance(rows: Iterable[Execution]) -> dict[str, object] | None:
    """Executions, mean result, win rate and Sharpe ratio of settled rows; None for none. Decimal text."""
    results = [row.realized_pnl_micro_usd or 0 for row in rows]
    if not results:
        return None
    mean = sum(results) // len(results)
    deviation = math.isqrt(sum((result - mean) ** 2 for result in results) // len(results))
    wins = sum(result > 0 for result in results) * BPS // len(results)
    return {
        "total_executions": len(results),
        "avg_pnl_usd": format_micro_usd(mean),
        "win_rate": show_ratio(wins),
        "sharpe_ratio": show_ratio(mean * BPS // deviation) if deviation and len(results) >= LEAST_TO_JUDGE else None,
    }


def show_ratio(bps: int | None) -> str | None:
    """Basis points as decimal text: 7_500 is 0.7500."""
    if bps is None:
        return None
    sign = "-" if bps < 0 else ""
    return f"{sign}{abs(bps) // BPS}.{abs(bps) % BPS:04d}"


def _measure_drift(errors: Sequence[int]) -> int | None:
    if len(errors) < LEAST_TO_JUDGE:
        return None
    half = len(errors) // 2
    older, newer = errors[:half], errors[half:]
    before, after = sum(older) // len(older), sum(newer) // len(newer)
    return after * BPS // before if before else (BPS if after == 0 else 10 * BPS)


def _name_trend(drift_bps: int | None) -> Trend:
    if drift_bps is None or abs(drift_bps - BPS) <= STABLE_WITHIN_BPS:
        return Trend.STABLE
    return Trend.IMPROVING if drift_bps < BPS else Trend.DEGRADING


def _describe_cluster(strategy: str, kind: str, members: Sequence[Execution]) -> FailurePattern:
    results = [row.realized_pnl_micro_usd or 0 for row in members]
    gas = sum(int(row.gas_used_micro_usd or 0) for row in members)
    loss = -sum(min(0, result) for result in results)
    slipped = [row.slippage_actual_bps for row in members if row.slippage_actual_bps is not None]
    impermanent = sum(max(0, int(row.impermanent_loss_micro_usd or 0)) for row in members)
    hypotheses, advice = ["these executions lost alike; nothing recorded tells why"], ["record market_conditions"]
    if impermanent * 2 > loss > 0:
        hypotheses, advice = ["impermanent loss took most of it"], ["use a wider range, or shorter positions"]
    elif gas * 2 > loss > 0:
        hypotheses, advice = ["gas took most of it"], ["trade larger and less often, or when fees are low"]
    elif slipped and sum(slipped) // len(slipped) > 50:
        hypotheses, advice = ["slippage was high"], ["use a deeper route, or split the order"]
    features = {"strategy_name": strategy, "action_type": kind, **_shared(members)}
    return FailurePattern(
        features=features,
        execution_count=len(members),
        average_pnl_micro_usd=sum(results) // len(results),
        hypothesis=f"{strategy}, {kind.lower()}: {hypotheses[0]}",
        suggested_adjustments=tuple(advice),
    )


def _shared(members: Sequence[Execution]) -> dict[str, str]:
    # What at least four in five have in common of the market they met.
    seen: Counter[tuple[str, str]] = Counter()
    for row in members:
        seen.update((name, str(value)) for name, value in row.market_conditions.items() if isinstance(value, str | int))
    return {name: value for (name, value), count in seen.most_common(6) if count * 5 >= len(members) * 4}

"""Record an execution before it settles, and its outcome after: each once. Money is integer micro-USD."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.errors import ExecutionAlreadyRecorded, ExecutionNotFound, MemoryOwnerUnknown
from memory_app.models import Execution
from memory_app.models.strategy import ExecutionKind
from memory_app.poison import describe_poison, find_poison
from memory_app.provenance import Provenance
from memory_app.text_cleaning import clean_text
from tools_app.core import audit_log
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import BPS, usd_to_micro

PREDICTED_PNL = "pnl_usd"
PREDICTED_CONFIDENCE = "confidence"
_LARGEST_ERROR_BPS = 2**31 - 1
_SMALLEST_SCALE_MICRO_USD = 1_000_000
_LARGEST_MICRO_USD = 2**62
_LONGEST_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is recorded before: the situation, the decision and what it should bring, JSON-ready without floats."""

    strategy_name: str
    kind: ExecutionKind
    portfolio_snapshot: Mapping[str, object]
    market_conditions: Mapping[str, object]
    decision_params: Mapping[str, object]
    predicted_outcome: Mapping[str, object]
    reasoning_chain: str = ""
    tx_hash: str = ""
    reflection: str = ""


@dataclass(frozen=True, slots=True)
class Realized:
    """What an execution brought, in micro-USD; slippage in basis points."""

    pnl_micro_usd: int
    gas_used_micro_usd: int
    fees_earned_micro_usd: int | None = None
    impermanent_loss_micro_usd: int | None = None
    unrealized_pnl_micro_usd: int | None = None
    slippage_actual_bps: int | None = None
    reflection: str = field(default="")


@retry_aborted
def record_execution(
    *, golem_id: UUID, execution_id: str, prediction: Prediction, provenance: Provenance, now: datetime
) -> Execution:
    """The record; the one that is there when it says the same. One short transaction with its audit entry.

    `predicted_outcome` may name pnl_usd and confidence (decimal text, 0 to 1), which the outcome is held against.
    Raises ExecutionAlreadyRecorded, InvalidParams, MemoryOwnerUnknown.
    """
    columns = _describe(prediction)
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        known = Execution.objects.filter(golem_id=golem_id, execution_id=execution_id).first()
        if known is not None:
            if any(getattr(known, name) != value for name, value in columns.items()):
                raise ExecutionAlreadyRecorded(f"{execution_id!r} was recorded before with another prediction")
            return known
        signs = find_poison(f"{prediction.reasoning_chain}\n{prediction.reflection}\n{prediction.predicted_outcome}")
        row = Execution.objects.create(
            golem_id=golem_id,
            execution_id=execution_id,
            recorded_at=now,
            **columns,
            is_quarantined=bool(signs),
            quarantine_reason=describe_poison(signs) if signs else "",
            **provenance.as_columns(),
        )
        _audit(row, "ExecutionRecorded", provenance.recorded_by, now)
    return row


@retry_aborted
def record_execution_outcome(
    *, golem_id: UUID, execution_id: str, realized: Realized, actor: str, now: datetime
) -> Execution:
    """Settle a recorded execution, once; the same outcome again answers the record unchanged.

    Raises ExecutionNotFound, ExecutionAlreadyRecorded.
    """
    with transaction.atomic():
        row = (
            Execution.objects.select_for_update(no_key=True, of=("self",))
            .filter(golem_id=golem_id, execution_id=execution_id)
            .first()
        )
        if row is None:
            raise ExecutionNotFound(f"this golem recorded no execution {execution_id!r}")
        columns = {
            "realized_pnl_micro_usd": realized.pnl_micro_usd,
            "gas_used_micro_usd": realized.gas_used_micro_usd,
            "fees_earned_micro_usd": realized.fees_earned_micro_usd,
            "impermanent_loss_micro_usd": realized.impermanent_loss_micro_usd,
            "unrealized_pnl_micro_usd": realized.unrealized_pnl_micro_usd,
            "slippage_actual_bps": realized.slippage_actual_bps,
        }
        if row.settled_at is not None:
            if any(getattr(row, name) != value for name, value in columns.items()):
                raise ExecutionAlreadyRecorded(
                    f"the outcome of {execution_id!r} was recorded before with other figures"
                )
            return row
        for name, value in columns.items():
            setattr(row, name, value)
        row.prediction_error_bps = measure_error_bps(
            predicted_micro_usd=row.predicted_pnl_micro_usd, realized_micro_usd=realized.pnl_micro_usd
        )
        note = clean_text(realized.reflection, longest=_LONGEST_TEXT)
        if note:
            row.reflection = f"{row.reflection}\n{note}".strip()
            signs = find_poison(realized.reflection)
            if signs:
                row.is_quarantined, row.quarantine_reason = True, describe_poison(signs)
        row.settled_at = now
        row.save()
        _audit(row, "ExecutionSettled", actor, now)
    return row


def measure_error_bps(*, predicted_micro_usd: int | None, realized_micro_usd: int) -> int | None:
    """The difference in basis points of the prediction (of $1 at least); None when nothing was predicted."""
    if predicted_micro_usd is None:
        return None
    scale = max(abs(predicted_micro_usd), _SMALLEST_SCALE_MICRO_USD)
    return min(_LARGEST_ERROR_BPS, abs(realized_micro_usd - predicted_micro_usd) * BPS // scale)


def read_usd(text: str | None, *, field: str) -> int | None:
    """Micro-USD of signed decimal text such as -12.50; None for none. Raises InvalidParams naming `field`."""
    if text is None:
        return None
    try:
        micro = usd_to_micro(Decimal(text.strip()))
    except (ValueError, InvalidOperation, OverflowError):
        micro = _LARGEST_MICRO_USD
    if abs(micro) >= _LARGEST_MICRO_USD:
        problem = "US dollars as decimal text with at most six places, such as -12.50"
        raise InvalidParams(f"{field}: {problem}", fields={field: problem})
    return micro


def _describe(prediction: Prediction) -> JsonObject:
    expected = prediction.predicted_outcome
    pnl = expected.get(PREDICTED_PNL)
    confidence = expected.get(PREDICTED_CONFIDENCE)
    return {
        "strategy_name": prediction.strategy_name,
        "kind": prediction.kind.value,
        "portfolio_snapshot": dict(prediction.portfolio_snapshot),
        "market_conditions": dict(prediction.market_conditions),
        "decision_params": dict(prediction.decision_params),
        "predicted_outcome": dict(expected),
        "reasoning_chain": clean_text(prediction.reasoning_chain, longest=_LONGEST_TEXT),
        "tx_hash": prediction.tx_hash,
        "reflection": clean_text(prediction.reflection, longest=_LONGEST_TEXT),
        "predicted_pnl_micro_usd": read_usd(None if pnl is None else str(pnl), field="predicted_outcome.pnl_usd"),
        "predicted_confidence_bps": None if confidence is None else _read_confidence(str(confidence)),
    }


def _read_confidence(text: str) -> int:
    try:
        bps = Decimal(text) * BPS
    except InvalidOperation:
        bps = Decimal(-1)
    if not bps.is_finite() or not 0 <= bps <= BPS:
        problem = "decimal text between 0 and 1"
        raise InvalidParams(
            f"predicted_outcome.confidence: {problem}", fields={"predicted_outcome.confidence": problem}
        )
    return int(bps)


def _audit(row: Execution, event: str, actor: str, now: datetime) -> None:
    data = {
        "execution_id": row.execution_id,
        "strategy_name": row.strategy_name,
        "kind": row.kind,
        "prediction_error_bps": "" if row.prediction_error_bps is None else str(row.prediction_error_bps),
    }
    audit_log.append(golem_id=row.golem_id, event=event, actor=actor, data=data, now=now)

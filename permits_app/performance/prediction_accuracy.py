"""Compares what reviewers predicted of permits with what became of them, from rows alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from permits_app.models import OutcomeRecord
from permits_app.models.permit import PermitStatus
from permits_app.permits.balance_deltas import read_deltas
from tools_app.core.units import BPS
from tools_app.subsystems.intel.trade_sizes import SIZES, name_trade_size
from tools_app.toolkit.predictions import PredictedClass, PredictionKind

NEWEST: Final = 500
"""So many outcomes are counted at most, however long a golem lives."""
SHORT_BPS: Final = 10
"""What brings less than its simulation by more than this came out worse, whoever took the rest."""
_CHANCES: Final = ((0, "0%"), (10_000, "up to 1%"), (50_000, "up to 5%"))
_REVERT, _SIZE = "revert_chance_millionths", "trade_of_pool_bps"


class KeptPredictions:
    """The recorded outcomes of every golem, each asked for by itself."""

    def count(self, *, golem_id: UUID, kind: PredictionKind) -> tuple[PredictedClass, ...]:
        """Classes in the order of what they say, the least first."""
        rows = (
            OutcomeRecord.live.filter(
                permit__golem_id=golem_id,
                permit__status__in=[PermitStatus.COMMITTED, PermitStatus.REVERTED],
                is_cancelled=False,
            )
            .order_by("-permit__finished_at")
            .values_list("permit__status", "permit__review__figures", "expected", "actual")[:NEWEST]
        )
        names, name_of, happened = _REVERTS if kind is PredictionKind.REVERT else _TRADES
        counts = {name: _Counted() for name in names}
        for status, figures, expected, actual in rows:
            name = name_of(figures or {})
            if name is not None:
                counts[name].actions += 1
                counts[name].happened += happened(status, expected, actual)
                counts[name].chances += int((figures or {}).get(_REVERT, 0))
        return tuple(
            PredictedClass(name, found.actions, found.happened, found.mean if kind is PredictionKind.REVERT else None)
            for name, found in counts.items()
        )


@dataclass(slots=True)
class _Counted:
    """One class so far; `chances` is the sum of what was predicted, in millionths."""

    actions: int = 0
    happened: int = 0
    chances: int = 0

    @property
    def mean(self) -> int | None:
        return self.chances // self.actions if self.actions else None


def _name_chance(figures: Mapping[str, object]) -> str | None:
    told = figures.get(_REVERT)
    # What is more than the last class was vetoed and has no outcome.
    return None if told is None else next((name for most, name in _CHANCES if int(str(told)) <= most), None)


def _name_size(figures: Mapping[str, object]) -> str | None:
    told = figures.get(_SIZE)
    return None if told is None else name_trade_size(int(str(told)), BPS)


def _reverted(status: str, expected: Mapping[str, object], actual: Mapping[str, object]) -> bool:
    return status == PermitStatus.REVERTED


def _came_short(status: str, expected: Mapping[str, object], actual: Mapping[str, object]) -> bool:
    """Whether something came that was less than was simulated; what did not come at all is a revert and none of it."""
    if status == PermitStatus.REVERTED:
        return False
    came = {row.token: row.raw for row in read_deltas(actual)}
    return any(
        came.get(row.token, 0) * BPS < row.raw * (BPS - SHORT_BPS) for row in read_deltas(expected) if row.raw > 0
    )


_Happened = Callable[[str, Mapping[str, object], Mapping[str, object]], bool]
_Kind = tuple[tuple[str, ...], Callable[[Mapping[str, object]], str | None], _Happened]
_REVERTS: Final[_Kind] = (tuple(name for _, name in _CHANCES), _name_chance, _reverted)
_TRADES: Final[_Kind] = (SIZES, _name_size, _came_short)

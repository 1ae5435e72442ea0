"""Compares predictions of a risk with what became of a golem's own actions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, cast

from tools_app.core.ratio import decimal_text
from tools_app.subsystems.intel.figure_basis import show, wilson
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.predictions import PredictedClass, PredictionBook, PredictionKind

LEAST_ACTIONS: Final = 20
"""Below so many actions a class tells no observed share and is not judged."""
MEANS: Final = {
    PredictionKind.REVERT: (
        "actions of this golem by the chance of a price that runs away which its reviewer measured; it happened where"
        " the action reverted, for whatever reason"
    ),
    PredictionKind.TRADE_SIZE: (
        "trades of this golem by their size beside their pool; it happened where a tenth of a percent less came than"
        " was simulated, whoever took it: no more than so many were sandwiched"
    ),
}
MODELS: Final = {
    PredictionKind.REVERT: "share of past stretches in which the pool's price ran away",
    PredictionKind.TRADE_SIZE: "size of the trade beside its pool, which names no chance",
}
_MILLION: Final = 1_000_000


class PredictionJudgement(StrEnum):
    """What is to be thought of a class."""

    TOO_FEW = "TOO_FEW"
    """Fewer actions than `LEAST_ACTIONS`: nothing can be said."""
    NO_CHANCE = "NO_CHANCE"
    """The model names no chance, so none can be wrong: what was observed stands alone."""
    AS_PREDICTED = "AS_PREDICTED"
    """The predicted share lies in the interval of what was observed."""
    MORE_OFTEN = "MORE_OFTEN"
    """It happened more often than was predicted."""
    LESS_OFTEN = "LESS_OFTEN"
    """It happened less often than was predicted."""


@dataclass(frozen=True, slots=True)
class CalibratedClass:
    """One class: its actions, in how many it happened, and the 95% interval of that share; null without any.

    `predicted_share` is the mean chance named before these actions, null where the model names none. `observed_share`
    is null with fewer than `least_actions`, and `judgement` is TOO_FEW then.
    """

    predicted: str
    actions: int
    happened: int
    predicted_share: str | None
    observed_share: str | None
    interval: tuple[str, str] | None
    judgement: PredictionJudgement


@dataclass(frozen=True, slots=True)
class Calibration:
    """The newest 500 recorded outcomes of this golem by what was predicted of them: a reliability table of one model.

    A class with fewer than `least_actions` is not judged.
    """

    model: str
    actions: int
    least_actions: int
    classes: tuple[CalibratedClass, ...]
    means: str


def read_calibration(ctx: ReadContext, kind: PredictionKind) -> Calibration | None:
    """Of the asking golem; None in a process without records."""
    book = cast("PredictionBook | None", ctx.services.get(PredictionBook))
    if book is None:
        return None
    found = book.count(golem_id=ctx.golem.id, kind=kind)
    return Calibration(
        model=MODELS[kind],
        actions=sum(each.actions for each in found),
        least_actions=LEAST_ACTIONS,
        classes=tuple(map(calibrate, found)),
        means=MEANS[kind],
    )


def calibrate(counted: PredictedClass) -> CalibratedClass:
    """A class with its shares and interval, judged where there are enough actions."""
    predicted = counted.predicted_millionths
    low, high = wilson(counted.happened, counted.actions)
    is_enough = counted.actions >= LEAST_ACTIONS
    return CalibratedClass(
        predicted=counted.name,
        actions=counted.actions,
        happened=counted.happened,
        predicted_share=None if predicted is None else decimal_text(predicted, _MILLION),
        observed_share=show(counted.happened / counted.actions) if is_enough else None,
        interval=(show(low), show(high)) if counted.actions else None,
        judgement=_judge(predicted, low, high) if is_enough else PredictionJudgement.TOO_FEW,
    )


def _judge(predicted: int | None, low: float, high: float) -> PredictionJudgement:
    if predicted is None:
        return PredictionJudgement.NO_CHANCE
    share = predicted / _MILLION
    if share < low:
        return PredictionJudgement.MORE_OFTEN
    return PredictionJudgement.LESS_OFTEN if share > high else PredictionJudgement.AS_PREDICTED

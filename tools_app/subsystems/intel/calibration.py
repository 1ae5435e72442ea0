"""How predictions of a risk came out for a golem's own actions, as the reads tell it: counted, never invented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from tools_app.subsystems.intel.basis import show, wilson
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.predictions import PredictedClass, PredictionBook, PredictionKind

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


@dataclass(frozen=True, slots=True)
class CalibratedClass:
    """One class: its actions, in how many it happened, and the 95% interval of that share; null without any."""

    predicted: str
    actions: int
    happened: int
    interval: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The newest 500 recorded outcomes of this golem by what was predicted of them."""

    classes: tuple[CalibratedClass, ...]
    means: str


def read_calibration(ctx: ReadContext, kind: PredictionKind) -> Calibration | None:
    """Of the asking golem; None in a process without records."""
    book = cast("PredictionBook | None", ctx.services.get(PredictionBook))
    if book is None:
        return None
    found = book.count(golem_id=ctx.golem.id, kind=kind)
    return Calibration(tuple(map(calibrate, found)), MEANS[kind])


def calibrate(counted: PredictedClass) -> CalibratedClass:
    """A class with its interval."""
    if not counted.actions:
        return CalibratedClass(counted.name, 0, 0, None)
    low, high = wilson(counted.happened, counted.actions)
    return CalibratedClass(counted.name, counted.actions, counted.happened, (show(low), show(high)))

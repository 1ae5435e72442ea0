"""Keeps what was predicted of a golem's actions and what became of them, for reads that tell a risk.

A class of a prediction is told with how many actions were in it and in how many it happened; nobody's guess is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID


class PredictionKind(StrEnum):
    """What was predicted: that the price runs away before a plan lands, or how large a trade is for its pool."""

    REVERT = "REVERT"
    TRADE_SIZE = "TRADE_SIZE"


@dataclass(frozen=True, slots=True)
class PredictedClass:
    """Actions of one class, and in how many of them it happened.

    `predicted_millionths` is the mean chance that was named before them; None where the model names none.
    """

    name: str
    actions: int
    happened: int
    predicted_millionths: int | None = None


class PredictionBook(Protocol):
    """The recorded outcomes of one golem. Made by wiring."""

    def count(self, *, golem_id: UUID, kind: PredictionKind) -> tuple[PredictedClass, ...]:
        """Each class there is, also those without an action, over the newest outcomes."""
        ...

"""Figures of strangers as decimal text, and why there is none."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict

from tools_app.core.errors import GolemError
from tools_app.toolkit.outside_services import (
    ServiceAnswerRefused,
    ServiceFailed,
    ServiceKeyRefused,
    ServiceNotSwitchedOn,
    ServiceQuotaUsedUp,
    ServiceRefusedQuestion,
)

T = TypeVar("T")

WHY_NONE: Final = (
    ServiceAnswerRefused,
    ServiceFailed,
    ServiceKeyRefused,
    ServiceNotSwitchedOn,
    ServiceQuotaUsedUp,
    ServiceRefusedQuestion,
)
"""What may keep one source from answering while others do."""


class Shape(BaseModel):
    """Part of an answer: what is not named is let go, and no number is taken for a text."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


def as_text(value: float | int | None, *, digits: int = 2) -> str | None:
    """A stranger's number as decimal text, rounded; None where there is none."""
    if value is None:
        return None
    return f"{Decimal(str(value)):.{digits}f}"


def change_in_percent(before: float | int, after: float | int) -> str | None:
    """By how much a figure changed, in percent; None of nothing."""
    if not before:
        return None
    return as_text(float((Decimal(str(after)) / Decimal(str(before)) - 1) * 100))


def read_or_reason(read: Callable[[], T]) -> tuple[T | None, str]:
    """What `read` gives, or None and why there is nothing, beginning with the error's code."""
    try:
        return read(), ""
    except WHY_NONE as error:
        reason: GolemError = error
        return None, f"{reason.code}: {reason.detail}"

"""What a model thought in a tick and what that cost, as the tick's record keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call a model asked for; `code` and `reason` say why it was refused, where it was."""

    name: str
    about: str | None = None
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedThought:
    """One deliberation: sections of the request with their tokens, versions of directives, calls, and how it ended."""

    model: str | None = None
    told: tuple[tuple[str, int], ...] | None = None
    directives: Mapping[str, int] | None = None
    left_out: Mapping[str, tuple[str, ...]] | None = None
    asked: tuple[RecordedCall, ...] | None = None
    stopped_by: str | None = None
    rules_stood_in: bool = False
    touched: tuple[Mapping[str, object], ...] = field(default=())
    doubted_bills: int | None = None
    dearer_bills: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedCosts:
    """What a tick cost in micro-USD and in tokens of models."""

    model_micro_usd: int | None = None
    delegates_micro_usd: int | None = None
    input_llm_tokens: int | None = None
    output_llm_tokens: int | None = None


def read_thought(stored: Mapping[str, object]) -> RecordedThought:
    """Read the deliberation of a record. Raises ValueError naming the member that is none of its type."""
    return read_stored(RecordedThought, stored)


def read_costs(stored: Mapping[str, object]) -> RecordedCosts:
    """Read the costs of a record. Raises ValueError naming the member that is none of its type."""
    return read_stored(RecordedCosts, stored)
